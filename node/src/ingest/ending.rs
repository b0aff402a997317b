//! Why a stream ends, and how its agent is told.

use std::time::Duration;

use tonic::{Code, Status};
use waymark_core::model::{Caseless, MemberId, Revision};
use waymark_core::state::Rejection;

use super::limits::MESSAGE_BYTES_MAX;
use crate::raft::ProposeError;

/// Why a member ends an agent's stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Ending {
    /// The agent has said that it sends no more.
    #[error("the agent has closed the stream")]
    Closed,
    /// The connection is gone.
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The stream did not begin as it must.
    #[error("the first message must be a Hello, within {} s of the stream's beginning", .0.as_secs_f32())]
    NoHello(Duration),
    /// A message that no agent sends.
    #[error("{0}")]
    Malformed(String),
    /// The agent is not who it says it is.
    #[error("{0}")]
    Forbidden(String),
    /// The cluster refuses the agent.
    #[error(transparent)]
    Refused(#[from] Rejection),
    /// The agent itself has opened another stream: this one is a remainder.
    #[error("agent '{agent}' has opened a newer stream, session {newer}; this one was session {own}")]
    Replaced {
        /// The agent's name.
        agent: Caseless,
        /// The session that this stream held.
        own: Revision,
        /// The one that took its place.
        newer: Revision,
    },
    /// Another agent of the same name has opened a newer session (STA-6).
    #[error(
        "another agent has taken over the name '{agent}', with session {newer} on member {}; this one was \
         session {own}: give each agent a name of its own",
        .member.0
    )]
    Superseded {
        /// The agent's name.
        agent: Caseless,
        /// The session that this stream held.
        own: Revision,
        /// The one that took its place.
        newer: Revision,
        /// The member that holds its stream.
        member: MemberId,
    },
    /// Nothing was heard for too long.
    #[error("nothing was heard for {} s; a heartbeat is due every 2 s", .0.as_secs_f32())]
    Silent(Duration),
    /// A limit was reached (SEC-6).
    #[error("{what} is limited to {most}{}", .advice)]
    Limit {
        /// What is limited.
        what: &'static str,
        /// To how much.
        most: u64,
        /// What to do, after a separator.
        advice: &'static str,
    },
    /// This member belongs to no cluster yet.
    #[error("this member belongs to no cluster yet")]
    NotMember,
    /// Nothing can be committed from here at present (FAIL-4).
    #[error("this member cannot reach a leader; go on with another member")]
    Leaderless,
    /// Nothing can be committed from here until somebody mends it.
    #[error("nothing can be committed from this member: {0}; go on with another member")]
    Failed(ProposeError),
    /// The member stops.
    #[error("this member is shutting down; go on with another member")]
    ShuttingDown,
}

impl Ending {
    /// Is there anybody left to be told, and anything to tell?
    pub(super) fn is_told(&self) -> bool {
        !matches!(self, Self::Closed | Self::Lost(_))
    }

    /// Why nothing more can be read of a stream that broke off with `status`: the connection is gone, or a message is too long to be
    /// taken in.
    pub(super) fn broken(status: &Status) -> Self {
        match status.code() {
            Code::OutOfRange => Self::Limit {
                what: "the number of bytes in one message",
                most: MESSAGE_BYTES_MAX as u64,
                advice: "",
            },
            _ => Self::Lost(status.message().to_owned()),
        }
    }

    /// What the agent is told.
    pub(super) fn status(&self) -> Status {
        let code = match self {
            Self::Closed => Code::Ok,
            Self::Lost(_) => Code::Cancelled,
            Self::Refused(Rejection::NotFound { .. }) => Code::NotFound,
            Self::NoHello(_) | Self::Malformed(_) | Self::Refused(_) => Code::InvalidArgument,
            Self::Forbidden(_) => Code::PermissionDenied,
            Self::Superseded { .. } => Code::Aborted,
            Self::Silent(_) => Code::DeadlineExceeded,
            Self::Limit { .. } => Code::ResourceExhausted,
            Self::Replaced { .. }
            | Self::NotMember
            | Self::Leaderless
            | Self::Failed(_)
            | Self::ShuttingDown => Code::Unavailable,
        };
        Status::new(code, self.to_string())
    }
}
