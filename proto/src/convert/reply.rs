//! What a command came to: kept for its retries, and sent back to a member that forwarded it.

use waymark_core::model::{Revision, Violation};
use waymark_core::state::{Rejection, Reply};

use super::{Malformed, required};
use crate::storage::v1 as stored;
use crate::storage::v1::command_reply::Kind;
use crate::storage::v1::rejected::Kind as Rejected;

/// Core's nouns are words that live for ever; on the wire they are text.
const NOUNS: [&str; 11] = [
    "record set",
    "zone",
    "profile",
    "endpoint",
    "service",
    "region",
    "agent",
    "cluster",
    "geo table",
    "geo override",
    "join token",
];

impl From<&Violation> for stored::Violation {
    fn from(violation: &Violation) -> Self {
        let Violation { field, description } = violation;
        Self { field: field.clone(), description: description.clone() }
    }
}

impl From<stored::Violation> for Violation {
    fn from(message: stored::Violation) -> Self {
        let stored::Violation { field, description } = message;
        Self { field, description }
    }
}

impl From<&Result<Reply, Rejection>> for stored::CommandReply {
    fn from(reply: &Result<Reply, Rejection>) -> Self {
        let kind = match reply {
            Ok(Reply { revision, warnings }) => Kind::Accepted(stored::Accepted {
                revision: revision.0,
                warnings: warnings.iter().map(Into::into).collect(),
            }),
            Err(rejection) => Kind::Rejected(stored::Rejected { kind: Some(rejection.into()) }),
        };
        Self { kind: Some(kind) }
    }
}

impl From<&Rejection> for Rejected {
    fn from(rejection: &Rejection) -> Self {
        match rejection {
            Rejection::Invalid(violations) => {
                Self::Invalid(stored::Invalid { violations: violations.iter().map(Into::into).collect() })
            }
            Rejection::NotFound { noun, name, hint } => Self::NotFound(stored::NotFound {
                noun: (*noun).to_owned(),
                name: name.clone(),
                hint: hint.clone(),
            }),
            Rejection::Exists { noun, name } => {
                Self::Exists(stored::NamedObject { noun: (*noun).to_owned(), name: name.clone() })
            }
            Rejection::RevisionMismatch { noun, name, expected, current } => {
                Self::RevisionMismatch(stored::RevisionMismatch {
                    noun: (*noun).to_owned(),
                    name: name.clone(),
                    expected: expected.0,
                    current: current.0,
                })
            }
            Rejection::LastEndpoint { profiles } => {
                Self::LastEndpoint(stored::LastEndpoint { profiles: profiles.clone() })
            }
            Rejection::InUse { noun, name, by } => {
                Self::InUse(stored::InUse { noun: (*noun).to_owned(), name: name.clone(), by: by.clone() })
            }
        }
    }
}

impl TryFrom<stored::CommandReply> for Result<Reply, Rejection> {
    type Error = Malformed;

    fn try_from(message: stored::CommandReply) -> Result<Self, Malformed> {
        match required("reply", message.kind)? {
            Kind::Accepted(stored::Accepted { revision, warnings }) => Ok(Ok(Reply {
                revision: Revision(revision),
                warnings: warnings.into_iter().map(Into::into).collect(),
            })),
            Kind::Rejected(stored::Rejected { kind }) => Ok(Err(required("reply.rejected", kind)?.into())),
        }
    }
}

impl From<Rejected> for Rejection {
    fn from(message: Rejected) -> Self {
        match message {
            Rejected::Invalid(stored::Invalid { violations }) => {
                Self::Invalid(violations.into_iter().map(Into::into).collect())
            }
            Rejected::NotFound(stored::NotFound { noun, name, hint }) => {
                Self::NotFound { noun: noun_of(&noun), name, hint }
            }
            Rejected::Exists(stored::NamedObject { noun, name }) => {
                Self::Exists { noun: noun_of(&noun), name }
            }
            Rejected::RevisionMismatch(stored::RevisionMismatch { noun, name, expected, current }) => {
                Self::RevisionMismatch {
                    noun: noun_of(&noun),
                    name,
                    expected: Revision(expected),
                    current: Revision(current),
                }
            }
            Rejected::LastEndpoint(stored::LastEndpoint { profiles }) => Self::LastEndpoint { profiles },
            Rejected::InUse(stored::InUse { noun, name, by }) => {
                Self::InUse { noun: noun_of(&noun), name, by }
            }
        }
    }
}

/// A noun of another version reads as `object`: it stands only in a sentence, and must not make a log unreadable.
fn noun_of(text: &str) -> &'static str {
    NOUNS.into_iter().find(|noun| *noun == text).unwrap_or("object")
}
