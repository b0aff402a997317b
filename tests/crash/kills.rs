//! kill -9 of all members at moments that chance chooses, under writes: what was acknowledged is there, every store opens, and no term goes
//! back (CLU-2, CLU-3).

use std::time::{Duration, Instant};

use harness::chance::Chance;
use harness::eventually::let_pass;
use harness::{Caller, Cluster, Member, eventually};

use crate::Outcome;
use crate::writers::Writers;

/// How long writers write at most before the next kill.
const WRITING_MAX: u64 = 1_000;

pub(crate) fn run(members: usize, rounds: u32, chance: &mut Chance) -> Outcome {
    let mut cluster = Cluster::start(members);
    let callers: Vec<Caller> = cluster.members.iter().map(Member::caller).collect();
    let mut writers = Writers::new(&cluster, Chance::from_seed(chance.draw()));
    let mut outcome = Outcome::new(format!("kill -9 of {members} of {members} members"));
    let mut term = 0;
    for round in 1..=rounds {
        writers.start(&callers);
        let moment = Duration::from_millis(20 + chance.below(WRITING_MAX));
        let_pass(moment, "the crash comes at a moment of its own");
        cluster.members.iter_mut().for_each(Member::kill);
        writers.stop();
        let killed = Instant::now();
        cluster.members.iter_mut().for_each(Member::start);
        cluster.members.iter_mut().for_each(Member::listens);
        let told = eventually("the cluster tells what it knows", || writers.check(&callers[0], false));
        outcome.recovered(killed.elapsed());
        outcome.note(round, told);
        let status = cluster.status();
        let now = status["term"].as_u64().unwrap_or_default();
        if now < term {
            outcome.note(round, Err(format!("the term went from {term} back to {now}")));
        }
        term = now;
    }
    outcome.ended(rounds, writers.acknowledged());
    outcome
}
