//! What befalls the cluster. Each fault is brought about, seen to have had its effect and kept up for a while; what it began,
//! [`Scene::heal`] ends.

use std::io::Write;
use std::time::{Duration, Instant};

use harness::eventually::{claim, let_pass};
use harness::within;

use crate::link::{Conditions, Counts};
use crate::register;
use crate::scene::{Lead, SPARE, Scene, host_of, member};

/// How long a fault lasts at least.
const HOLD: Duration = Duration::from_millis(3_500);

/// How long its effect may take to be seen. Elections take two seconds; the rest is for a busy machine.
const EFFECT: Duration = Duration::from_secs(30);

/// How long a change of membership may take to be done: the command gives up after 40 s, and asking again completes it.
const CHANGE: Duration = Duration::from_secs(180);

/// Packets that must have met a fault of the links for it to count.
const PACKETS_MIN: u64 = 20;

/// Brings one about; what was seen instead of its effect, if that did not come.
pub(crate) type Fault = fn(&mut Scene) -> Result<(), String>;

/// Every fault of a run of two minutes.
pub(crate) const SHORT: [(&str, Fault); 13] = [
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
    ("disk full", disk_full),
    ("member added and removed", member_comes_and_goes),
];

/// What takes longer than a run of two minutes has.
pub(crate) const LONG: [(&str, Fault); 1] = [("snapshot sent, log cut", snapshot_sent)];

/// What is the only thing to befall members with the timers `global`.
pub(crate) const APART: [(&str, Fault); 1] = [("members a world apart", a_world_apart)];

/// What this cannot bring about, and why.
pub(crate) const NOT_EXERCISED: [(&str, &str); 2] = [
    ("slow disk", "a disk is slowed down by a control group of root's, and this suite does not need root"),
    (
        "clock steps",
        "there is no clock for each namespace, and a library that lies about the time is not part of the tests",
    ),
];

/// Keeps up what was `begun`.
fn hold(begun: Instant) {
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
fn follower(scene: &mut Scene, leader: usize) -> usize {
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

/// CLU-5: the member says that its disk failed, goes on answering names, and comes back once there is room and it is restarted. Much is
/// written meanwhile: a store has room of its own for a while.
fn disk_full(scene: &mut Scene) -> Result<(), String> {
    const CHUNK: [u8; 4_096] = [1; 4_096];
    const PATIENCE: Duration = Duration::from_secs(1);
    let (begun, last) = (Instant::now(), scene.callers.len() - 1);
    let mut filler = std::fs::File::create(scene.filler()).map_err(|error| error.to_string())?;
    let mut number = 0;
    within(EFFECT, || {
        while filler.write_all(&CHUNK).is_ok() {}
        let status = scene.status(last)?;
        let own = status.members.iter().find(|member| member.name == status.answered_by);
        claim(own.is_some_and(|member| !member.trouble.is_empty()), "it complains of nothing").inspect_err(
            |_| {
                number += 1;
                let writing = async {
                    let channel = scene.callers[0].connect().await?;
                    Ok::<_, String>(register::fill(channel, number, PATIENCE).await)
                };
                // What becomes of it does not matter: it is the trying that takes room.
                let _ = scene.runtime.block_on(async { tokio::time::timeout(PATIENCE, writing).await });
            },
        )
    })?;
    hold(begun);
    Ok(())
}

/// CLU-9: a member is taken in, votes or learns, and is taken out again.
fn member_comes_and_goes(scene: &mut Scene) -> Result<(), String> {
    let begun = Instant::now();
    scene.strangers += 1;
    let mut stranger =
        member(&format!("s{}", scene.strangers), SPARE, scene.cluster.directory(), scene.plan.timers);
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

/// CLU-6: a member misses more than the others keep of the log, and gets all of the state at once. Nothing else befalls the links, and
/// they have no delay, so that there is an end to writing that much.
fn snapshot_sent(scene: &mut Scene) -> Result<(), String> {
    /// A snapshot is made after 10,000 entries, and 1,000 are kept beside it.
    const BEYOND_THE_LOG: u64 = 11_200;
    const ARRIVED: &str = "a snapshot has arrived from the leader";
    const WRITING: Duration = Duration::from_secs(600);
    let before = scene.leader();
    let behind = follower(scene, before.at);
    let said = |scene: &mut Scene| scene.cluster.members[behind].process().log().matches(ARRIVED).count();
    let arrived = said(scene);
    let entry = scene.status(before.at)?.last_log;
    scene.kill(behind);
    scene.impair(|link| (link.delay, link.jitter) = (Duration::ZERO, Duration::ZERO));
    let rest = scene.others(behind);
    within(WRITING, || {
        let_pass(HOLD / 10, "the clients write");
        let now = scene.status(scene.lead(&rest)?.at)?.last_log;
        claim(now > entry + BEYOND_THE_LOG, format!("{} entries were written", now.saturating_sub(entry)))
    })?;
    scene.router.links().heal();
    scene.start_member(behind);
    within(EFFECT, || {
        let now = said(scene);
        claim(now > arrived, format!("{now} snapshots have arrived"))
    })
}
