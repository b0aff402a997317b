//! What falls due with time and the leader proposes: old history is forgotten (RTE-15), the secret of DNS cookies is
//! renewed (DNS-11), what was measured and nobody confirms is forgotten (RTE-7), and join tokens end (SEC-1).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use waymark_core::model::Timestamp;
use waymark_core::state::{
    Action, Command, CookieSecret, EnrolmentWish, History, JoinToken, LearnedTable, State, TokenHash,
};
use waymark_process::chance;

use super::Proposer;
use super::base::Base;
use super::leader::Leader;
use crate::clock;

/// How often it is looked: a new cluster has cookies that soon, and the rest may wait.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Starts looking, whenever this member leads.
pub(super) fn start(base: &Arc<Base>, proposer: &Proposer) {
    base.tasks.spawn(look_always(base.clone(), proposer.clone()));
}

async fn look_always(base: Arc<Base>, proposer: Proposer) {
    let work = async {
        let seat = base.seated().await;
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if seat.leader() != Leader::Here {
                continue;
            }
            let actions = due(&base.reader.peek().state, clock::now());
            for action in actions {
                let command = Command::of_cluster(action);
                if let Err(error) = proposer.propose(vec![command]).await {
                    tracing::debug!(%error, "the cluster's upkeep could not be proposed yet");
                }
            }
        }
    };
    base.stop.run_until_cancelled(work).await;
}

/// What is to be proposed in `state` at `now`.
fn due(state: &State, now: Timestamp) -> Vec<Action> {
    let history = state
        .history
        .is_overdue(now)
        .then(|| Action::ForgetHistory { before: Timestamp(now.0.saturating_sub(History::SPAN_MS)) });
    // Before its founding a cluster agrees on nothing.
    let cookies = (!state.cluster.is_empty() && state.cookies.is_due(now))
        .then(|| Action::RotateCookies { fresh: CookieSecret(chance::bytes()) });
    let unconfirmed = Timestamp(now.0.saturating_sub(LearnedTable::SPAN_MS));
    let latencies =
        state.learned.is_overdue(unconfirmed).then_some(Action::ForgetLatencies { before: unconfirmed });
    let is_over = |(_, token): &(&TokenHash, &Arc<JoinToken>)| now >= token.ends;
    let ended: Vec<_> = state.enrolment.tokens.iter().filter(is_over).map(|(hash, _)| *hash).collect();
    let tokens = (!ended.is_empty()).then_some(Action::Enrolment(EnrolmentWish::EndTokens { ended }));
    history.into_iter().chain(cookies).chain(latencies).chain(tokens).collect()
}

#[cfg(test)]
mod tests {
    use waymark_core::model::{LogIndex, Region, Revision};
    use waymark_core::state::{Context, CookieSecrets, SealedKey, apply};

    use super::*;

    fn carry_out(state: &State, at: Timestamp, actions: Vec<Action>) -> State {
        actions.into_iter().fold(state.clone(), |state, action| {
            let command = Command::of_cluster(action);
            apply(&state, Context { index: LogIndex(1), at }, &command).state
        })
    }

    /// With an authority, and a token that lasts for a minute.
    fn tokens(state: &State, at: Timestamp) -> State {
        let part: Arc<[u8]> = Arc::from([1; 9]);
        let install =
            EnrolmentWish::Install { chain: vec![part.clone()], key: SealedKey(part), lifetime_s: 60 };
        let make = EnrolmentWish::MakeToken {
            hash: TokenHash::of(b"token"),
            agent: "a1".into(),
            region: "aws:eu-west-1".into(),
            span_ms: 60_000,
        };
        carry_out(state, at, vec![Action::Enrolment(install), Action::Enrolment(make)])
    }

    /// DNS-11, RTE-15, SEC-1: what is due is proposed once, and is not due again before its time.
    #[test]
    fn dns_11_what_is_due_is_proposed_and_then_not_due() {
        let start = Timestamp(1_700_000_000_000);
        assert_eq!(due(&State::default(), start), [], "nothing before the founding");
        let founding = |cookies| vec![Action::Found { cluster: "c".into(), cookies }];
        let complete = carry_out(&State::default(), start, founding(Some(CookieSecret([9; 16]))));
        assert_eq!(due(&complete, start), []);
        // Founded before there were cookies.
        let founded = carry_out(&State::default(), start, founding(None));
        let first = carry_out(&founded, start, due(&founded, start));
        assert!(first.cookies.current.is_some());
        assert_eq!(due(&first, start), []);
        let next_day = Timestamp(start.0 + CookieSecrets::LIFETIME_MS);
        let second = carry_out(&first, next_day, due(&first, next_day));
        assert_eq!(second.cookies.previous, first.cookies.current);
        assert_ne!(second.cookies.current, first.cookies.current, "drawn anew");

        let found = vec![(LearnedTable::network_of("192.0.2.1".parse().expect("an address")), 7)];
        let measured = Action::LearnLatencies { region: "aws:eu-west-1".into(), found };
        let known = carry_out(&second, next_day, vec![measured]);
        let forgets_latencies =
            |at| due(&known, at).iter().any(|action| matches!(action, Action::ForgetLatencies { .. }));
        let last_moment = next_day.0 + LearnedTable::SPAN_MS;
        assert!(!forgets_latencies(Timestamp(last_moment)) && forgets_latencies(Timestamp(last_moment + 1)));
        let later = Timestamp(last_moment + 1);
        assert!(carry_out(&known, later, due(&known, later)).learned.rows.is_empty());

        let tokens = tokens(&second, next_day);
        let ends = |at| due(&tokens, at).iter().any(|action| matches!(action, Action::Enrolment(_)));
        let last_moment = next_day.0 + 60_000;
        assert!(!ends(Timestamp(last_moment - 1)) && ends(Timestamp(last_moment)));
        let later = Timestamp(last_moment);
        assert!(carry_out(&tokens, later, due(&tokens, later)).enrolment.tokens.is_empty());

        let region = Region { name: "eu".into(), latitude_e6: 1, longitude_e6: 2, revision: Revision(0) };
        let changed = carry_out(&second, next_day, vec![Action::SetRegion(region)]);
        let last_moment = Timestamp(next_day.0 + History::SPAN_MS);
        let forgets =
            |at| due(&changed, at).iter().any(|action| matches!(action, Action::ForgetHistory { .. }));
        assert!(!forgets(last_moment) && forgets(Timestamp(last_moment.0 + 1)));
    }
}
