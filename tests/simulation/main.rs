//! The pure core under random schedules from a seed: a log, a leader and a member that lags behind, restarts and catches up,
//! agents in three regions whose reports get lost, doubled and late, operators who change everything, clocks that jump. What
//! must hold whatever happens stands in `invariants`, one function each.
//!
//! `WAYMARK_SEED=N` repeats a run, `WAYMARK_STEPS=N` and `WAYMARK_NONSENSE=N` make it longer; a failure names its seed. `make simulate` runs the
//! long form.

mod brake;
mod invariants;
mod naive;
mod operators;
mod probing;
mod world;

use std::time::Instant;

use harness::chance::Chance;
use world::World;

/// Log entries of a run unless `WAYMARK_STEPS` says otherwise: some seconds.
const STEPS: u64 = 40_000;
/// Commands that make no sense, unless `WAYMARK_NONSENSE` says otherwise.
const NONSENSE: u64 = 20_000;

fn setting(name: &str, otherwise: impl FnOnce() -> u64) -> u64 {
    std::env::var(name).ok().map_or_else(otherwise, |text| text.parse().expect(name))
}

fn seed() -> u64 {
    // Another one in each run, which the run tells.
    setting("WAYMARK_SEED", || u64::from(std::process::id()))
}

/// Says which seed it was if the run fails.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(seed) = self;
            // The test's own output is shown when it fails.
            #[expect(clippy::print_stderr, reason = "whoever runs the test must be able to repeat it")]
            {
                eprintln!("repeat it with WAYMARK_SEED={seed}");
            }
        }
    }
}

/// STA-1 … STA-13, FAIL-2, RTE-3, RTE-14, CLU-7, CLU-9: every invariant, after every entry that it may depend on.
#[test]
fn sta_7_rte_14_clu_9_what_must_hold_holds_under_every_schedule() {
    let (seed, steps) = (seed(), setting("WAYMARK_STEPS", || STEPS));
    let _told = Told(seed);
    let mut world = World::new(Chance::from_seed(seed));
    let started = Instant::now();
    for _ in 0..steps {
        world.step();
    }
    let tally = world.finish();
    println!("seed {seed}: {steps} steps in {:.1?}: {tally}", started.elapsed());
    tally.must_have_seen_everything(steps);
}

/// CLU-9: a command that panics would end every member at once, and again at each start.
#[test]
fn clu_9_no_command_however_senseless_makes_apply_panic() {
    let (seed, count) = (seed(), setting("WAYMARK_NONSENSE", || NONSENSE));
    let _told = Told(seed);
    let mut world = World::new(Chance::from_seed(seed));
    let started = Instant::now();
    for _ in 0..count {
        world.nonsense();
    }
    println!("seed {seed}: {count} senseless commands in {:.1?}, {}", started.elapsed(), world.finish());
}
