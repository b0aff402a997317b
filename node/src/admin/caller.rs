//! Who is calling: the one place that turns a connection into a name.

use tonic::Request;

/// Whoever made a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    author: String,
}

impl Caller {
    /// The caller of `request`. Calls come in plain text on loopback only, so whoever reaches the port is the operator.
    pub(super) fn of<T>(_request: &Request<T>) -> Self {
        Self { author: "operator".to_owned() }
    }

    /// The name that stands in commands and events.
    pub(super) fn into_author(self) -> String {
        self.author
    }
}
