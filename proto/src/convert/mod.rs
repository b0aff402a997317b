//! Into core is `TryFrom`, out of core is `From`; every field is destructured, so that a new one does not compile until
//! it is handled.

mod resources;
mod storage;

/// A message that no version of ours writes: a field is missing or holds what it cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {description}")]
pub struct Malformed {
    /// The field's path.
    pub field: &'static str,
    /// What is wrong with it.
    pub description: String,
}
