//! What a member asks of the leader, and how the leader's refusals travel.

use std::time::Duration;

use tonic::{Code, Request, Status};
use waymark_core::model::LogIndex;
use waymark_core::state::{Rejection, Reply};
use waymark_proto::peer::v1 as wire;
use waymark_proto::storage::v1 as stored;

use super::ProposeError;
use super::base::Base;
use super::caller::Introduction;
use super::connections::{BadAddress, Peer, never_sent};
use super::seat::Seat;
use super::types::Node;

/// What commands came to.
#[derive(Clone, Debug)]
pub(super) struct Committed {
    /// One for each command, in order.
    pub(super) replies: Vec<Result<Reply, Rejection>>,
    /// The entry that holds them.
    pub(super) index: LogIndex,
}

/// Why the leader did not do as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It was not reached, or it leads no longer: nothing has happened.
    Nothing,
    /// It may have happened.
    Perhaps,
    /// It will not happen.
    Final(ProposeError),
}

/// A client of the member `id`.
pub(super) fn peer(base: &Base, seat: &Seat, id: u64, node: &Node) -> Result<Peer, BadAddress> {
    base.connections.peer(node, Introduction::new(&seat.cluster, seat.member, id))
}

/// Asks the leader behind `peer` to propose `commands`.
pub(super) async fn propose(
    mut peer: Peer,
    commands: Vec<stored::Command>,
    within: Duration,
) -> Result<Committed, Refusal> {
    let request = timed(wire::ProposeRequest { commands }, within);
    let answer = peer.propose(request).await.map_err(|status| refusal(&status))?.into_inner();
    let replies = answer.replies.into_iter().map(TryInto::try_into).collect::<Result<Vec<_>, _>>();
    // It is committed, but what it came to is not readable here.
    let replies = replies.map_err(|_| Refusal::Final(ProposeError::OutcomeUnknown))?;
    Ok(Committed { replies, index: LogIndex(answer.log_index) })
}

/// Asks the leader behind `peer` how far a reader must have applied.
pub(super) async fn read_index(mut peer: Peer, within: Duration) -> Result<LogIndex, Refusal> {
    let answer = peer.read_index(timed(wire::ReadIndexRequest {}, within)).await;
    answer.map(|answer| LogIndex(answer.into_inner().log_index)).map_err(|status| refusal(&status))
}

/// `message`, to be answered within a time.
pub(super) fn timed<T>(message: T, within: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(within);
    request
}

/// `error` on its way to the member that asked.
pub(super) fn status(error: &ProposeError) -> Status {
    let code = match error {
        ProposeError::NotMember | ProposeError::NoLeader => Code::FailedPrecondition,
        ProposeError::OutcomeUnknown => Code::Aborted,
        ProposeError::Storage(_) | ProposeError::Failed(_) => Code::DataLoss,
        ProposeError::Busy => Code::ResourceExhausted,
        ProposeError::Refused(_) | ProposeError::Level { .. } => Code::InvalidArgument,
    };
    Status::new(code, error.to_string())
}

/// What `status` from the leader means. Only what certainly was not done counts as not done.
pub(super) fn refusal(status: &Status) -> Refusal {
    match status.code() {
        // A leader that has failed leads no longer: what it had passed on already it does not answer like this.
        Code::FailedPrecondition | Code::DataLoss => Refusal::Nothing,
        Code::ResourceExhausted => Refusal::Final(ProposeError::Busy),
        Code::InvalidArgument => Refusal::Final(ProposeError::Refused(status.message().to_owned())),
        _ if never_sent(status) => Refusal::Nothing,
        _ => Refusal::Perhaps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_certainly_was_not_done_counts_as_not_done() {
        assert_eq!(refusal(&status(&ProposeError::NoLeader)), Refusal::Nothing);
        assert_eq!(refusal(&status(&ProposeError::NotMember)), Refusal::Nothing);
        assert_eq!(refusal(&status(&ProposeError::Storage("full".into()))), Refusal::Nothing);
        assert_eq!(refusal(&status(&ProposeError::OutcomeUnknown)), Refusal::Perhaps);
        assert_eq!(refusal(&status(&ProposeError::Busy)), Refusal::Final(ProposeError::Busy));
        for code in [Code::Unavailable, Code::DeadlineExceeded, Code::Cancelled, Code::Unknown] {
            assert_eq!(refusal(&Status::new(code, "")), Refusal::Perhaps, "{code:?}");
        }
    }
}
