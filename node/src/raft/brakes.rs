//! Releases removal brakes when their windows are over, while this member leads (FAIL-2).
//!
//! The state says who has left a profile's pool and still counts, not when. Whoever leads measures the window by its monotonic clock
//! from when it first saw a departure. Each new leader begins anew, so that a release is late by a window for each election, and never early.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};
use waymark_core::model::{ProfileId, Revision};
use waymark_core::state::{Action, Brake, Command, State};

use super::Proposer;
use super::base::Base;
use super::leader::Leader;

/// How often it is looked: a departure is seen that much late at most, and so is the end of its window.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Starts looking, whenever this member leads.
pub(super) fn start(base: &Arc<Base>, proposer: &Proposer) {
    base.tasks.spawn(look_always(base.clone(), proposer.clone()));
}

async fn look_always(base: Arc<Base>, proposer: Proposer) {
    let work = async {
        let seat = base.seated().await;
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut windows = Windows::default();
        loop {
            ticks.tick().await;
            if seat.leader() != Leader::Here {
                windows = Windows::default();
                continue;
            }
            let due = windows.due(&base.reader.peek().state, Instant::now());
            if due.is_empty() {
                continue;
            }
            let command = Command::of_cluster(Action::ReleaseBrakes { due });
            if let Err(error) = proposer.propose(vec![command]).await {
                tracing::debug!(%error, "the release of brakes could not be proposed yet");
            }
        }
    };
    base.stop.run_until_cancelled(work).await;
}

/// When this leader first saw departures from a profile's pool, by their counter.
#[derive(Debug, Default)]
struct Windows(BTreeMap<(ProfileId, Revision), Instant>);

impl Windows {
    /// The profiles of `state` with departures whose window is over, as many as one command may have; for each the last of these
    /// departures: those before it were seen no later.
    fn due(&mut self, state: &State, now: Instant) -> Vec<(ProfileId, Revision)> {
        let counts = |(id, left): &(ProfileId, Revision)| {
            state.brakes.get(id).is_some_and(|brake| brake.left.values().any(|counted| counted == left))
        };
        self.0.retain(|departure, _| counts(departure));
        for (id, brake) in &state.brakes {
            for left in brake.left.values() {
                self.0.entry((*id, *left)).or_insert(now);
            }
        }
        let mut due: BTreeMap<ProfileId, Revision> = BTreeMap::new();
        for ((id, left), seen) in &self.0 {
            let Some(profile) = state.profiles.get(id) else { continue };
            let window = Duration::from_millis(profile.effective_removal_window_ms());
            if now.saturating_duration_since(*seen) >= window {
                due.insert(*id, *left);
            }
        }
        due.into_iter().take(Brake::BATCH_MAX).collect()
    }
}

#[cfg(test)]
mod tests {
    use waymark_core::model::{
        Caseless, Edit, EndpointId, LogIndex, ProfilePatch, Routing, Timestamp, ZonePatch,
    };
    use waymark_core::state::{ApplyLevel, Context, apply};

    use super::*;

    /// A state with two profiles, of windows of 30 s and of 5 s, from whose pools have left whom `left` says.
    fn state(left: &[(ProfileId, &[u64])]) -> State {
        let servers = vec![("ns1.example.com".to_owned(), vec!["192.0.2.53".to_owned()])];
        let fields = ZonePatch { name_servers: Edit::Set(servers), ..ZonePatch::default() };
        let zone = Action::CreateZone { name: "example.com".into(), fields };
        let profile = |name: &str, removal_window_ms| Action::CreateProfile {
            name: name.into(),
            zone: "example.com".into(),
            relative_name: name.into(),
            fields: ProfilePatch {
                routing: Edit::Set(Routing::Weighted),
                max_removal: Edit::Set(20),
                removal_window_ms,
                ..ProfilePatch::default()
            },
            endpoints: Vec::new(),
        };
        let actions = [zone, profile("slow", Edit::Keep), profile("fast", Edit::Set(5_000))];
        let beginning = State { apply_level: ApplyLevel::HIGHEST, ..State::default() };
        let mut state = actions.into_iter().fold(beginning, |state, action| {
            let context = Context { index: LogIndex(1), at: Timestamp(1) };
            let applied = apply(&state, context, &Command::of_cluster(action));
            applied.reply.expect("it is accepted");
            applied.state
        });
        for (id, revisions) in left {
            let left = revisions.iter().map(|revision| (EndpointId(100 + revision), Revision(*revision)));
            state.brakes.insert(*id, Arc::new(Brake { left: left.collect(), ..Brake::default() }));
        }
        state
    }

    fn profile(name: &str) -> ProfileId {
        *state(&[]).profile_ids.get(&Caseless::new(name)).expect("it is there")
    }

    #[test]
    fn fail_2_each_departure_is_over_when_its_window_is() {
        let slow = profile("slow");
        let fast = profile("fast");
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut windows = Windows::default();
        assert_eq!(windows.due(&state(&[(slow, &[7]), (fast, &[8])]), start), []);
        let later = state(&[(slow, &[7, 9]), (fast, &[8])]);
        assert_eq!(windows.due(&later, after(4)), []);
        assert_eq!(windows.due(&later, after(5)), [(fast, Revision(8))]);
        assert_eq!(windows.due(&later, after(6)), [(fast, Revision(8))], "until it is applied");
        let later = state(&[(slow, &[7, 9])]);
        assert_eq!(windows.due(&later, after(29)), []);
        assert_eq!(windows.due(&later, after(30)), [(slow, Revision(7))], "9 was seen 4 s later");
        assert_eq!(windows.due(&later, after(34)), [(slow, Revision(9))], "both");
        assert_eq!(windows.due(&state(&[]), after(35)), []);
        assert!(windows.0.is_empty(), "nothing is kept of what counts no more");
    }

    #[test]
    fn fail_2_a_new_leader_measures_anew_and_departures_of_no_profile_are_passed_over() {
        let slow = profile("slow");
        let start = Instant::now();
        let left = state(&[(slow, &[7]), (ProfileId(1_000), &[7])]);
        let mut next = Windows::default();
        assert_eq!(next.due(&left, start), []);
        assert_eq!(next.due(&left, start + Duration::from_secs(29)), []);
        assert_eq!(next.due(&left, start + Duration::from_secs(30)), [(slow, Revision(7))]);
    }
}
