//! What befalls members from inside: their disks, their clocks, their logs.

use std::io::Write;
use std::time::{Duration, Instant};

use harness::eventually::{claim, let_pass};
use harness::within;

use crate::faults::{EFFECT, HOLD, follower, hold};
use crate::register;
use crate::scene::Scene;
use harness::net::Conditions;

/// How far clocks are off: forwards as far as nothing ends by time alone, backwards as far as certificates are made for (their
/// validity begins five minutes before they are made).
const CLOCKS_OFF_MS: [i64; 2] = [3_600_000, -240_000];

/// The longest that one is off, and thereby what it stamps.
pub(crate) const CLOCK_OFF_MAX: Duration = Duration::from_millis(CLOCKS_OFF_MS[0].unsigned_abs());

/// Flushes, and readings of a clock, that must have met a fault for it to count.
const MET_MIN: i64 = 5;

/// CLU-5: the member says that its disk failed, goes on answering names, and comes back once there is room and it is restarted. Much is
/// written meanwhile: a store has room of its own for a while.
pub(crate) fn disk_full(scene: &mut Scene) -> Result<(), String> {
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

/// CLU-7, CLU-8: each flush of one member, whichever it is, takes as long as the messages of consensus may or nearly so. A leader waits
/// for its own, a follower is waited for by nobody.
pub(crate) fn disk_slow(scene: &mut Scene) -> Result<(), String> {
    let begun = Instant::now();
    let places: Vec<usize> = scene.places().collect();
    let slow = *scene.chance.one_of(&places).expect("there are several members");
    let longer = Duration::from_millis(100 + scene.chance.below(300));
    let before = scene.orders[slow].flushes();
    scene.orders[slow].set_flush_takes(longer);
    hold(begun);
    within(EFFECT, || {
        let met = scene.orders[slow].flushes() - before;
        claim(met >= MET_MIN, format!("m{} had {met} flushes", slow + 1))
    })
}

/// CLU-7, STA-7: clocks on the wall, the leader's and everybody else's, are set apart, and then the other way round. What is stamped is
/// wrong then; nothing else is.
pub(crate) fn clocks_stepped(scene: &mut Scene) -> Result<(), String> {
    scene.clocks.begin();
    let leader = scene.leader().at;
    let [one, other] = CLOCKS_OFF_MS;
    for (leaders, others) in [(one, other), (other, one)] {
        let begun = Instant::now();
        let before = scene.orders[leader].clocks_read();
        for at in scene.places() {
            scene.orders[at].set_clock_off(if at == leader { leaders } else { others });
        }
        hold(begun);
        within(EFFECT, || {
            let met = scene.orders[leader].clocks_read() - before;
            claim(met >= MET_MIN, format!("the leader read its clock {met} times"))
        })?;
    }
    Ok(())
}

/// CLU-6: a member misses more than the others keep of the log, and gets all of the state at once. Links have no delay meanwhile, so
/// that there is an end to writing that much.
pub(crate) fn snapshot_sent(scene: &mut Scene) -> Result<(), String> {
    const ARRIVED: &str = "a snapshot has arrived from the leader";
    const WRITING: Duration = Duration::from_secs(600);
    let kept = scene.plan.snapshot_after / 10;
    let before = scene.leader();
    let behind = follower(scene, before.at);
    let said = |scene: &mut Scene| scene.cluster.members[behind].process().log().matches(ARRIVED).count();
    let arrived = said(scene);
    scene.kill(behind);
    let known = scene.status(before.at)?.last_log;
    scene.impair_all(|Conditions { delay, jitter, .. }| (*delay, *jitter) = (Duration::ZERO, Duration::ZERO));
    let rest = scene.others(behind);
    within(WRITING, || {
        let_pass(HOLD / 10, "the clients write");
        let lead = scene.lead(&rest)?;
        let (last, cut) = (scene.status(lead.at)?.last_log, scene.snapshot(lead.at).saturating_sub(kept));
        claim(cut > known, format!("it knows {known} entries of {last}, of which {cut} are gone"))
    })?;
    scene.router.links().heal();
    scene.start_member(behind);
    within(EFFECT, || {
        let now = said(scene);
        claim(now > arrived, format!("{now} snapshots have arrived"))
    })
}
