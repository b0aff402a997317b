//! Raft's messages from a member that this one does not know. It may have been taken in while this one lagged behind, and must
//! be heard then, or this one would never learn of it. Or it is nobody, with a certificate that should have been taken back
//! (SEC-2). Those whom this member knows are asked:
//!
//! | of the voters that are known here | the newcomer is |
//! |---|---|
//! | one knows it | heard |
//! | a majority, this member included, does not | refused |
//! | no majority answers | heard if its number is above all that are known, else refused |
//!
//! Each change of the voters is in the logs of a majority of those before it, so a majority that knows nothing of a newcomer
//! proves that there was none. Without a majority nothing can be proven, and newcomers may be needed for one: of five members
//! three may be alive, two of which were added while the third was away; it must vote for one of them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, timeout};
use tonic::Status;
use waymark_process::identity::Role;
use waymark_proto::peer::v1 as wire;

use super::base::Base;
use super::forward::{peer, timed};
use super::seat::Seat;
use super::types::Node;

/// How long one member may take to say whom it knows.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a judgement holds: a newcomer that is heard is known a moment later, and one that is taken out is soon forgotten.
const VALID: Duration = Duration::from_secs(10);
/// Newcomers that are judged at once: far more than are ever taken in together.
const NEWCOMERS_MAX: usize = 16;

/// A number, and who claims it.
type Claim = (u64, String);

/// What is thought of each newcomer, for a while.
#[derive(Debug, Default)]
pub(super) struct Newcomers(Mutex<HashMap<Claim, Judgement>>);

#[derive(Clone, Debug)]
enum Judgement {
    /// The others are being asked.
    Pending,
    /// It may speak until then.
    Heard(Instant),
    /// It may not until then, and why.
    Refused(Instant, String),
}

/// What the voters say of a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    Known,
    Nobody,
    Unproven,
}

impl Newcomers {
    /// May whoever has `role` in its certificate speak for the member `number`, which is not known here? Asks the others first, during
    /// which the answer is no.
    pub(super) fn judge(
        &self,
        base: &Arc<Base>,
        seat: &Arc<Seat>,
        number: u64,
        role: &Role,
    ) -> Result<(), Status> {
        let claim = (number, role.to_string());
        let now = Instant::now();
        let mut judged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        judged.retain(|_, judgement| match judgement {
            Judgement::Pending => true,
            Judgement::Heard(until) | Judgement::Refused(until, _) => *until > now,
        });
        match judged.get(&claim) {
            Some(Judgement::Heard(_)) => return Ok(()),
            Some(Judgement::Refused(_, reason)) => return Err(Status::permission_denied(reason.clone())),
            Some(Judgement::Pending) => {}
            None if judged.len() >= NEWCOMERS_MAX => {
                let text =
                    format!("{NEWCOMERS_MAX} members that are not known here are being judged already");
                return Err(Status::resource_exhausted(text));
            }
            None => {
                judged.insert(claim, Judgement::Pending);
                let (base, seat, role) = (base.clone(), seat.clone(), role.clone());
                base.tasks.clone().spawn(async move {
                    let stop = base.stop.clone();
                    stop.run_until_cancelled(settle(&base, &seat, number, &role)).await;
                });
            }
        }
        Err(Status::unavailable(format!("{role} is not known here yet: the other members are being asked")))
    }

    fn note(&self, claim: Claim, judgement: Judgement) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(claim, judgement);
    }
}

async fn settle(base: &Base, seat: &Seat, number: u64, role: &Role) {
    let known: Vec<(u64, Node)> = {
        let metrics = seat.metrics();
        metrics.membership_config.membership().nodes().map(|(id, node)| (*id, node.clone())).collect()
    };
    let is_newer = known.iter().all(|(id, _)| *id < number);
    let finding = ask(base, seat, &known, number, role).await;
    let until = Instant::now() + VALID;
    let refused = |text: String| {
        base.refusals.tell(&text);
        Judgement::Refused(until, text)
    };
    let judgement = match finding {
        Finding::Known => Judgement::Heard(until),
        Finding::Unproven if is_newer => {
            tracing::warn!(number, %role, "a member that is not known here is heard, as no majority of the known ones answers");
            Judgement::Heard(until)
        }
        Finding::Unproven => refused(format!(
            "{role} says that it is member {number}, which is not known here, and no majority of those who are answers"
        )),
        Finding::Nobody => {
            refused(format!("{role} says that it is member {number}, and is no member of this cluster"))
        }
    };
    base.newcomers.note((number, role.to_string()), judgement);
}

async fn ask(base: &Base, seat: &Seat, known: &[(u64, Node)], number: u64, role: &Role) -> Finding {
    let voters: BTreeSet<u64> = seat.metrics().membership_config.voter_ids().collect();
    let others = known.iter().filter(|(id, _)| *id != seat.member);
    let mut answers: FuturesUnordered<_> =
        others.map(|(id, node)| async { (*id, members_known_to(base, seat, *id, node).await) }).collect();
    let mut silent = voters.clone();
    silent.remove(&seat.member);
    while let Some((id, answer)) = answers.next().await {
        match answer {
            Some(members)
                if members.iter().any(|known| known.id == number && role.is_member(&known.name)) =>
            {
                return Finding::Known;
            }
            Some(_) => drop(silent.remove(&id)),
            None => {}
        }
    }
    if 2 * (voters.len() - silent.len()) > voters.len() { Finding::Nobody } else { Finding::Unproven }
}

/// The members that the member `id` knows; `None` if it does not answer as one that takes part.
async fn members_known_to(
    base: &Base,
    seat: &Seat,
    id: u64,
    node: &Node,
) -> Option<Vec<waymark_proto::storage::v1::Node>> {
    let mut peer = peer(base, seat, id, node).ok()?;
    let asked = peer.describe(timed(wire::DescribeRequest {}, ANSWER_TIMEOUT));
    let answer = timeout(ANSWER_TIMEOUT, asked).await.ok()?.ok()?.into_inner();
    let wire::DescribeResponse { cluster_id, trouble, members, .. } = answer;
    // One that was taken out knows nothing of what came behind; an older version does not say.
    (cluster_id == seat.cluster && trouble.is_empty() && !members.is_empty()).then_some(members)
}
