//! Ends overrides when their time is up, while this member leads (STA-13).
//!
//! The leader stamps when an override ends. Whoever leads sees it, works out once how long that is from now, and waits so
//! long by its monotonic clock: a clock that is set while a leader waits moves no end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};
use waymark_core::model::{EndpointId, Override, Revision, Timestamp};
use waymark_core::state::{Action, Command, State};

use super::Proposer;
use super::base::Base;
use super::leader::Leader;
use crate::clock;

/// How often it is looked: an override ends that much late at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Starts looking, whenever this member leads.
pub(super) fn start(base: &Arc<Base>, proposer: &Proposer) {
    base.tasks.spawn(look_always(base.clone(), proposer.clone()));
}

async fn look_always(base: Arc<Base>, proposer: Proposer) {
    let work = async {
        let seat = base.seated().await;
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut endings = Endings::default();
        loop {
            ticks.tick().await;
            if seat.leader() != Leader::Here {
                endings = Endings::default();
                continue;
            }
            let ended = endings.due(&base.reader.peek().state, clock::now(), Instant::now());
            if ended.is_empty() {
                continue;
            }
            let action = Action::EndOverrides { ended };
            let command = Command::of_cluster(action);
            if let Err(error) = proposer.propose(vec![command]).await {
                tracing::debug!(%error, "the end of overrides could not be proposed yet");
            }
        }
    };
    base.stop.run_until_cancelled(work).await;
}

/// When each override ends that this leader has seen.
#[derive(Debug, Default)]
struct Endings(BTreeMap<(EndpointId, Revision), Instant>);

impl Endings {
    /// The overrides of `state` whose time is up, as many as one command may have. `now` is read once for each override,
    /// when it is first seen.
    fn due(&mut self, state: &State, now: Timestamp, instant: Instant) -> Vec<(EndpointId, Revision)> {
        let name = |(id, over): (&EndpointId, &Arc<Override>)| (*id, over.revision);
        self.0.retain(|(id, revision), _| {
            state.overrides.get(id).is_some_and(|over| over.revision == *revision)
        });
        for (id, over) in &state.overrides {
            let Some(ends) = over.ends else { continue };
            // A clock that is behind must not make it longer than it was made.
            let left = ends.0.saturating_sub(now.0.max(over.at.0));
            self.0.entry(name((id, over))).or_insert_with(|| instant + Duration::from_millis(left));
        }
        let is_due = |(_, ends): &(&(EndpointId, Revision), &Instant)| **ends <= instant;
        self.0.iter().filter(is_due).map(|(name, _)| *name).take(Override::BATCH_MAX).collect()
    }
}

#[cfg(test)]
mod tests {
    use waymark_core::model::OverrideKind;

    use super::*;

    fn state(overrides: &[(u64, u64, Option<u64>)]) -> State {
        let made = |(id, revision, ends): &(u64, u64, Option<u64>)| {
            let (author, reason) = ("operator".to_owned(), "a move".to_owned());
            let (kind, at, revision) = (OverrideKind::Drain, Timestamp(1_000_000), Revision(*revision));
            let ends = ends.map(Timestamp);
            (EndpointId(*id), Arc::new(Override { kind, author, reason, at, ends, revision }))
        };
        State { overrides: overrides.iter().map(made).collect(), ..State::default() }
    }

    #[test]
    fn sta_13_each_ends_when_it_was_stamped_to_whoever_leads_by_then() {
        let state = state(&[(1, 5, Some(1_060_000)), (2, 6, Some(1_120_000)), (3, 7, None)]);
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut endings = Endings::default();
        assert_eq!(endings.due(&state, Timestamp(1_000_000), start), []);
        // The wall clock leaps; the leader waits on by its own.
        assert_eq!(endings.due(&state, Timestamp(9_000_000), after(59)), []);
        assert_eq!(endings.due(&state, Timestamp(0), after(60)), [(EndpointId(1), Revision(5))]);
        // A new leader takes over from the stamp.
        let mut next = Endings::default();
        let first = [(EndpointId(1), Revision(5))];
        assert_eq!(next.due(&state, Timestamp(1_070_000), after(70)), first, "overdue, so at once");
        assert_eq!(next.due(&state, Timestamp(1_070_000), after(119)), first, "until it is applied");
        assert_eq!(next.due(&state, Timestamp(1_070_000), after(120)).len(), 2);
        // One whose clock is behind does not make it longer.
        let mut behind = Endings::default();
        assert_eq!(behind.due(&state, Timestamp(0), start), []);
        assert_eq!(behind.due(&state, Timestamp(0), after(60)), first);
    }

    #[test]
    fn sta_13_what_was_replaced_or_lifted_is_not_waited_for() {
        let start = Instant::now();
        let mut endings = Endings::default();
        endings.due(&state(&[(1, 5, Some(1_060_000))]), Timestamp(1_000_000), start);
        let replaced = state(&[(1, 8, Some(1_200_000))]);
        let later = start + Duration::from_secs(60);
        assert_eq!(endings.due(&replaced, Timestamp(1_060_000), later), []);
        assert_eq!(endings.0.len(), 1);
        endings.due(&State::default(), Timestamp(1_060_000), later);
        assert!(endings.0.is_empty());
    }
}
