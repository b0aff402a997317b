//! The same faults of our members and of etcd's, one after the other on the same hosts and links, and for how long nothing was written:
//! a measurement, not a test.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::chance::Chance;
use harness::etcd::Etcd;
use harness::eventually::{claim, let_pass};
use harness::process::Signal;
use harness::within;

use crate::account::longest_gap;
use crate::faults::HOLD;
use crate::scene::{Scene, host_of};
use crate::writers::{Door, Writers};
use harness::net::Conditions;
use harness::net::Router;
use harness::net::{Host, address};

/// How long members may take to be whole again.
const RECOVERY: Duration = Duration::from_secs(90);

/// What is measured: members at places from 0 on, of which those at all places are asked to do this.
trait System {
    fn leader(&self) -> Result<usize, String>;
    fn kill(&mut self, at: usize);
    fn signal(&mut self, at: usize, signal: Signal);
    /// Starts and continues all.
    fn restore(&mut self);
    fn is_whole(&mut self) -> Result<(), String>;
    fn doors(&self) -> Vec<Door>;
}

impl System for Scene {
    fn leader(&self) -> Result<usize, String> {
        Ok(Self::leader(self).at)
    }

    fn kill(&mut self, at: usize) {
        Self::kill(self, at);
    }

    fn signal(&mut self, at: usize, signal: Signal) {
        self.cluster.members[at].process().signal(signal);
    }

    fn restore(&mut self) {
        Self::restore(self);
    }

    fn is_whole(&mut self) -> Result<(), String> {
        Self::is_whole(self)
    }

    fn doors(&self) -> Vec<Door> {
        self.callers.iter().cloned().map(Box::new).map(Door::Ours).collect()
    }
}

/// etcd on the hosts of our members.
struct Theirs {
    etcd: Etcd,
    hosts: BTreeMap<u8, Arc<Host>>,
    members: usize,
}

impl System for Theirs {
    fn leader(&self) -> Result<usize, String> {
        self.etcd.leader()
    }

    fn kill(&mut self, at: usize) {
        self.etcd.kill(at);
    }

    fn signal(&mut self, at: usize, signal: Signal) {
        self.etcd.signal(at, signal);
    }

    fn restore(&mut self) {
        for at in 0..self.members {
            if self.etcd.is_running(at) {
                self.etcd.signal(at, Signal::CONT);
            } else {
                let (etcd, host) = (&mut self.etcd, &self.hosts[&host_of(at)]);
                host.within(|| etcd.start_member(at));
            }
        }
    }

    fn is_whole(&mut self) -> Result<(), String> {
        self.etcd.is_whole()
    }

    fn doors(&self) -> Vec<Door> {
        self.etcd.addresses().into_iter().map(Door::Theirs).collect()
    }
}

/// What one fault is about: the leader or a follower, and what becomes of it; or the links.
#[derive(Clone, Copy)]
enum Blow {
    /// Cut from the others: what it sends, and what it is sent.
    Cut {
        leader: bool,
        hears: bool,
    },
    /// The leader from one follower.
    PartialCut,
    Kill {
        leader: bool,
    },
    KillAll,
    Stop,
    Links(fn(&mut Conditions)),
}

const BLOWS: [(&str, Blow); 11] = [
    ("leader isolated", Blow::Cut { leader: true, hears: false }),
    ("follower isolated", Blow::Cut { leader: false, hears: false }),
    ("leader heard by nobody", Blow::Cut { leader: true, hears: true }),
    ("two members cut from each other", Blow::PartialCut),
    ("follower killed", Blow::Kill { leader: false }),
    ("leader killed", Blow::Kill { leader: true }),
    ("all killed", Blow::KillAll),
    ("leader stopped", Blow::Stop),
    ("packets lost", Blow::Links(|link| link.loss = 20)),
    ("packets doubled", Blow::Links(|link| link.duplication = 20)),
    (
        "packets reordered",
        Blow::Links(|link| (link.reordering, link.jitter) = (20, Duration::from_millis(5))),
    ),
];

/// The longest times without a write, by what befell.
type Gaps = BTreeMap<&'static str, Vec<Duration>>;

/// Measures first ours, then etcd, for half of the time each, and prints both.
pub(crate) fn measure(mut scene: Scene, seed: u64, time: Duration) -> Result<(), String> {
    let members = scene.callers.len();
    let (router, hosts) = (scene.router.clone(), scene.hosts.clone());
    let ours = befall(&mut scene, &router, members, seed, time / 2)?;
    scene.end(false);
    let at = |number, port| SocketAddr::from((address(number), port));
    let places = (0..members).map(|place| (at(host_of(place), 2_379), at(host_of(place), 2_380)));
    let mut theirs = Theirs { etcd: Etcd::of(places), hosts, members };
    theirs.restore();
    let theirs = befall(&mut theirs, &router, members, seed, time / 2)?;
    print(&ours, &theirs);
    Ok(())
}

fn befall(
    system: &mut impl System,
    router: &Router,
    members: usize,
    seed: u64,
    time: Duration,
) -> Result<Gaps, String> {
    within(RECOVERY, || system.is_whole())?;
    let mut chance = Chance::from_seed(seed);
    let (begun, writers) = (Instant::now(), Writers::start(system.doors()));
    let mut spans = Vec::new();
    while begun.elapsed() < time {
        for (name, blow) in chance.shuffled(&BLOWS) {
            let from = begun.elapsed();
            strike(system, router, members, blow, &mut chance)?;
            let_pass(HOLD, "a fault lasts a while");
            router.links().heal();
            system.restore();
            within(RECOVERY, || system.is_whole())?;
            let before = writers.acknowledged();
            within(RECOVERY, || {
                claim(writers.acknowledged() > before + Writers::NUMBER, "nothing is written")
            })?;
            spans.push((name, from, begun.elapsed()));
        }
    }
    let took = begun.elapsed();
    let writes = writers.end();
    println!("{} writes", writes.len());
    let mut gaps = Gaps::new();
    for (name, from, to) in spans {
        gaps.entry(name).or_default().push(longest_gap(&writes, from, to, took));
    }
    Ok(gaps)
}

fn strike(
    system: &mut impl System,
    router: &Router,
    members: usize,
    blow: Blow,
    chance: &mut Chance,
) -> Result<(), String> {
    let leader = within(RECOVERY, || system.leader())?;
    let followers: Vec<usize> = (0..members).filter(|at| *at != leader).collect();
    let follower = *chance.one_of(&followers).expect("there are several members");
    let cut = |from, to| router.links().change((host_of(from), host_of(to)), |link| link.cut = true);
    match blow {
        Blow::Cut { leader: is_leader, hears } => {
            let alone = if is_leader { leader } else { follower };
            for other in (0..members).filter(|at| *at != alone) {
                cut(alone, other);
                if !hears {
                    cut(other, alone);
                }
            }
        }
        Blow::PartialCut => {
            cut(leader, follower);
            cut(follower, leader);
        }
        Blow::Kill { leader: is_leader } => system.kill(if is_leader { leader } else { follower }),
        Blow::KillAll => (0..members).for_each(|at| system.kill(at)),
        Blow::Stop => system.signal(leader, Signal::STOP),
        Blow::Links(change) => {
            let pairs = (0..members).flat_map(|from| (0..members).map(move |to| (from, to)));
            for (from, to) in pairs.filter(|(from, to)| from != to) {
                router.links().change((host_of(from), host_of(to)), change);
            }
        }
    }
    Ok(())
}

fn print(ours: &Gaps, theirs: &Gaps) {
    println!("| longest write gap: median, p95, longest | Waymark | etcd |");
    println!("|---|---|---|");
    for (name, _) in BLOWS {
        println!("| {name} | {} | {} |", summary(&ours[name]), summary(&theirs[name]));
    }
    let all = |gaps: &Gaps| summary(&gaps.values().flatten().copied().collect::<Vec<_>>());
    println!("| all | {} | {} |", all(ours), all(theirs));
}

fn summary(gaps: &[Duration]) -> String {
    let mut sorted: Vec<f64> = gaps.iter().map(Duration::as_secs_f64).collect();
    sorted.sort_by(f64::total_cmp);
    // The smallest that so many of a hundred are not above.
    let at = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1];
    format!("{:.2}, {:.2}, {:.2} s of {}", at(50), at(95), at(100), sorted.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was_measured() {
        let seconds = |of: &[u64]| of.iter().copied().map(Duration::from_secs).collect::<Vec<_>>();
        assert_eq!(summary(&seconds(&[3])), "3.00, 3.00, 3.00 s of 1");
        assert_eq!(summary(&seconds(&[4, 1, 2, 3])), "2.00, 4.00, 4.00 s of 4");
        let many: Vec<u64> = (1..=100).collect();
        assert_eq!(summary(&seconds(&many)), "50.00, 95.00, 100.00 s of 100");
    }
}
