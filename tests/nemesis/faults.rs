//! What befalls the cluster. Each fault is brought about, seen to have had its effect and kept up for a while; what it began,
//! [`Scene::heal`] ends.

use std::time::{Duration, Instant};

use harness::eventually::{claim, let_pass};
use harness::within;

use crate::inside::{clocks_stepped, disk_full, disk_slow, snapshot_sent};
use crate::scene::{Lead, SPARE, Scene, host_of, member};
use harness::net::{Conditions, Counts};

/// How long a fault lasts at least.
pub(crate) const HOLD: Duration = Duration::from_millis(3_500);

/// How long its effect may take to be seen. Elections take two seconds; the rest is for a busy machine.
pub(crate) const EFFECT: Duration = Duration::from_secs(120);

/// How long a change of membership may take to be done: the command gives up after 40 s, and asking again completes it.
const CHANGE: Duration = Duration::from_secs(180);

/// Packets that must have met a fault of the links for it to count.
const PACKETS_MIN: u64 = 20;

/// Brings one about; what was seen instead of its effect, if that did not come.
pub(crate) type Fault = fn(&mut Scene) -> Result<(), String>;

/// What befalls every run.
pub(crate) const USUAL: [(&str, Fault); 16] = [
    ("leader isolated", leader_isolated),
    ("follower isolated", follower_isolated),
    ("leader heard by nobody", leader_unheard),
    ("two members cut from each other", partial_cut),
    ("follower killed", follower_killed),
    ("leader killed", leader_killed),
    ("all killed", all_killed),
    ("leader stopped", leader_stopped),
    ("packets lost", packets_lost),
    ("packets doubled", packets_doubled),
    ("packets reordered", packets_reordered),
    ("disk slow", disk_slow),
    ("disk full", disk_full),
    ("clocks stepped", clocks_stepped),
    ("member added and removed", member_comes_and_goes),
    ("snapshot sent, log cut", snapshot_sent),
];

/// What is the only thing to befall members with the timers `global`.
pub(crate) const APART: [(&str, Fault); 1] = [("members a world apart", a_world_apart)];

/// Keeps up what was `begun`.
pub(crate) fn hold(begun: Instant) {
    let_pass(HOLD.saturating_sub(begun.elapsed()), "a fault lasts a while");
}

/// Waits until somebody else than `before` is known to lead to all `asked`, by a later vote.
fn another_leads(scene: &Scene, before: Lead, asked: &[usize]) -> Result<(), String> {
    within(EFFECT, || {
        let now = scene.lead(asked)?;
        claim(now.term > before.term && now.at != before.at, format!("{now:?} after {before:?}"))
    })
}

/// Waits until the member at this place has stood for election, having heard of nobody who leads.
fn stands_for_election(scene: &Scene, at: usize, before: Lead) -> Result<(), String> {
    within(EFFECT, || {
        let status = scene.status(at)?;
        claim(status.term > before.term || status.leader_id == 0, format!("it is in term {}", status.term))
    })
}

/// A follower, drawn.
pub(crate) fn follower(scene: &mut Scene, leader: usize) -> usize {
    let others = scene.others(leader);
    *scene.chance.one_of(&others).expect("there are several members")
}

fn isolate(scene: &Scene, at: usize) {
    for other in scene.others(at) {
        scene.cut(at, other);
        scene.cut(other, at);
    }
}

/// CLU-7, CLU-8, FAIL-4: clients and agents still reach the one that is alone.
fn leader_isolated(scene: &mut Scene) -> Result<(), String> {
    let (begun, before) = (Instant::now(), scene.leader());
    isolate(scene, before.at);
    another_leads(scene, before, &scene.others(before.at))?;
    hold(begun);
    Ok(())
}

fn follower_isolated(scene: &mut Scene) -> Result<(), String> {
    let (begun, before) = (Instant::now(), scene.leader());
    let alone = follower(scene, before.at);
    isolate(scene, alone);
    stands_for_election(scene, alone, before)?;
    hold(begun);
    Ok(())
}

/// It hears the others, so it does not notice at once.
fn leader_unheard(scene: &mut Scene) -> Result<(), String> {
    let (begun, before) = (Instant::now(), scene.leader());
    for other in scene.others(before.at) {
        scene.cut(before.at, other);
    }
    another_leads(scene, before, &scene.others(before.at))?;
    hold(begun);
    Ok(())
}

/// The leader and one follower, both of whom reach everybody else.
fn partial_cut(scene: &mut Scene) -> Result<(), String> {
    let (begun, before) = (Instant::now(), scene.leader());
    let other = follower(scene, before.at);
    scene.cut(before.at, other);
    scene.cut(other, before.at);
    stands_for_election(scene, other, before)?;
    hold(begun);
    let cut = |from, to| scene.router.links().counts((host_of(from), host_of(to))).cut;
    let (there, back) = (cut(before.at, other), cut(other, before.at));
    claim(there > 0 && back > 0, format!("{there} and {back} packets were stopped"))
}

fn follower_killed(scene: &mut Scene) -> Result<(), String> {
    let (begun, before) = (Instant::now(), scene.leader());
    let dead = follower(scene, before.at);
    scene.kill(dead);
    hold(begun);
    claim(scene.status(dead).is_err(), "it still answers")
}

fn leader_killed(scene: &mut Scene) -> Result<(), String> {
    let (begun, before) = (Instant::now(), scene.leader());
    scene.kill(before.at);
    another_leads(scene, before, &scene.others(before.at))?;
    hold(begun);
    Ok(())
}

/// CLU-2: all at once; they come back when it is healed, which is at once.
fn all_killed(scene: &mut Scene) -> Result<(), String> {
    let asked: Vec<usize> = scene.places().collect();
    for &at in &asked {
        scene.kill(at);
    }
    claim(scene.lead(&asked).is_err(), "somebody still answers")
}

/// A stopped process (SIGSTOP) wakes up as the leader that it was, and must not act as one (CLU-7).
fn leader_stopped(scene: &mut Scene) -> Result<(), String> {
    let (begun, before) = (Instant::now(), scene.leader());
    scene.freeze(before.at);
    another_leads(scene, before, &scene.others(before.at))?;
    hold(begun);
    Ok(())
}

/// The links change for a while; so many packets must have met what they do now.
fn impaired(
    scene: &mut Scene,
    change: impl Fn(&mut Conditions),
    count: impl Fn(Counts) -> u64,
) -> Result<(), String> {
    let (begun, before) = (Instant::now(), count(scene.router.links().total()));
    scene.impair(change);
    hold(begun);
    within(EFFECT, || {
        let met = count(scene.router.links().total()) - before;
        claim(met >= PACKETS_MIN, format!("only {met} packets met it"))
    })
}

fn packets_lost(scene: &mut Scene) -> Result<(), String> {
    impaired(scene, |link| link.loss = 20, |counts| counts.lost)
}

fn packets_doubled(scene: &mut Scene) -> Result<(), String> {
    impaired(scene, |link| link.duplication = 20, |counts| counts.duplicated)
}

fn packets_reordered(scene: &mut Scene) -> Result<(), String> {
    impaired(
        scene,
        |link| (link.reordering, link.jitter) = (20, Duration::from_millis(5)),
        |counts| counts.reordered,
    )
}

/// CLU-9: a member is taken in, votes or learns, and is taken out again.
fn member_comes_and_goes(scene: &mut Scene) -> Result<(), String> {
    let begun = Instant::now();
    scene.strangers += 1;
    let mut stranger = member(&format!("s{}", scene.strangers), SPARE, scene.cluster.directory(), scene.plan);
    scene.hosts[&SPARE].within(|| stranger.start());
    stranger.listens();
    let cli = scene.cluster.cli();
    let learner = if scene.strangers.is_multiple_of(2) { " --learner" } else { "" };
    let is_in = |scene: &Scene| {
        let status = scene.status(scene.lead(&scene.places().collect::<Vec<_>>())?.at)?;
        Ok::<bool, String>(status.members.iter().any(|member| member.name == stranger.name))
    };
    within(CHANGE, || {
        let added = cli.run(&format!("cluster add {}{learner}", stranger.url()));
        claim(added.code == 0 && is_in(scene)?, added.stderr)
    })?;
    hold(begun);
    within(CHANGE, || {
        let removed = cli.run(&format!("cluster remove {} --yes", stranger.name));
        claim(!is_in(scene)?, removed.stderr)
    })?;
    stranger.kill();
    std::fs::remove_dir_all(stranger.data()).map_err(|error| error.to_string())
}

/// C-6: round trips of 250 ms that vary by 50 ms, and one packet of a hundred lost, for all of the run: the lead stays where it is.
fn a_world_apart(scene: &mut Scene) -> Result<(), String> {
    let (begun, before) = (Instant::now(), scene.leader());
    let lost = scene.router.links().total().lost;
    scene.impair(|link| {
        (link.delay, link.jitter, link.loss) = (Duration::from_millis(125), Duration::from_millis(25), 1);
    });
    while begun.elapsed() < scene.plan.limit.unwrap_or(HOLD) {
        let_pass(HOLD, "nothing else befalls them");
        let asked: Vec<usize> = scene.places().collect();
        let now = within(EFFECT, || scene.lead(&asked))?;
        claim(now == before, format!("{now:?} after {before:?}, {:.0?} on", begun.elapsed()))?;
    }
    let lost = scene.router.links().total().lost - lost;
    claim(lost >= PACKETS_MIN, format!("only {lost} packets were lost"))
}
