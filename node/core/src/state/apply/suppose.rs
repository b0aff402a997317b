//! A state as it would be, for the question what would be answered then (`simulate`). Nothing of it reaches the log.

use std::collections::BTreeSet;

use super::propagate::Occasion;
use super::step::Step;
use crate::health::{Judgement, Tallies, Tally, Verdict};
use crate::model::EndpointId;
use crate::state::{Applied, Context, EventCause, State};

/// The state as it would be if all agents found `endpoints` down: statuses follow in them, in their profiles and in those
/// above. What is Disabled, Stopped or always served stays what it is, as it would.
pub fn suppose_down(state: &State, context: Context, endpoints: &[EndpointId]) -> Applied {
    let mut step = Step::new(state, context, "simulate");
    let mut touched = BTreeSet::new();
    for id in endpoints {
        let Some(health) = step.state.health.get(id) else { continue };
        let profile = step.profile_by_id(health.profile);
        let Some(endpoint) = profile.endpoint_by_id(*id) else { continue };
        if let Some(health) = step.health_mut(*id) {
            health.tallies = down(&health.tallies);
        }
        step.put_conclusion(*id, Some(Judgement::Degraded), None);
        if step.refresh_endpoint(&profile, endpoint, true, || EventCause::Endpoints) {
            touched.insert(profile.id);
        }
    }
    step.ascend(&touched, Occasion::Counts);
    step.close(Ok(()))
}

/// The same counts, but that each agent says down.
fn down(tallies: &Tallies) -> Tallies {
    let says_down = |tally: &Tally| Tally { verdict: Some(Verdict::Down), ..*tally };
    tallies.iter().map(|(agent, tally)| (agent.clone(), says_down(tally))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{RecordType, decide};
    use crate::fixture::{add_profile, example_state, query, view};
    use crate::health::EndpointStatus;
    use crate::model::{LogIndex, Timestamp};
    use crate::routing::NoTrace;

    #[test]
    fn rte_3_what_is_supposed_down_is_answered_no_more_and_the_state_is_untouched() {
        let mut state = example_state();
        let statuses = [("e1", EndpointStatus::Online), ("e2", EndpointStatus::Online)];
        let id = add_profile(&mut state, "example.com", "web", &statuses);
        let endpoint = |number: usize| state.profiles[&id].endpoints[number].id;
        let context = Context { index: LogIndex(7), at: Timestamp(7) };
        let answer = |state: &State| {
            let answer =
                decide(&view(state.clone()), &query("web.example.com", RecordType::A), 0, &mut NoTrace);
            answer.answers.iter().map(|record| record.data.to_string()).collect::<Vec<_>>()
        };
        let today = answer(&state);
        let first_down = suppose_down(&state, context, &[endpoint(0)]);
        assert_ne!(answer(&first_down.state), today);
        assert!(!first_down.changes.is_empty());
        let all_down = suppose_down(&state, context, &[endpoint(0), endpoint(1)]);
        assert_eq!(answer(&all_down.state), today, "best effort");
        assert_eq!(state.health[&endpoint(0)].status, EndpointStatus::Online);
        assert_eq!(suppose_down(&state, context, &[]).state, state);
    }
}
