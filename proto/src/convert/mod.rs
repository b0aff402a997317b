//! Into core is `TryFrom`, out of core is `From`; every field is destructured, so that a new one does not compile until
//! it is handled. What comes from a person goes through the patches and wishes, which name every fault at once; what
//! comes from a member of ours or from a disk is [`Malformed`] at its first fault.

mod audit;
mod brake;
mod cause;
mod check;
mod command;
mod cookies;
mod endpoint;
mod enrolment;
mod event;
mod flattened;
mod geography;
mod health;
mod history;
mod latency;
mod learned;
mod mask;
mod overrides;
mod patch;
mod profile;
mod records;
mod reply;
mod report;
mod resources;
mod sessions;
mod snapshot;
#[cfg(test)]
mod tests;
mod wish;
mod words;
mod zone;

pub use audit::{audit_entry, audit_message};
pub use cause::{cause_text, outcome_text};
pub use command::{entry_message, entry_parts, request_id};
pub use enrolment::{token_hash, token_message};
pub use event::{event_id, event_id_text, event_message};
pub use geography::override_message;
pub use health::{verdict_message, verdict_of};
pub use patch::{
    ENDPOINT_PATHS, PROFILE_PATHS, SERVICE_PATHS, endpoint_message, endpoint_patch, profile_message,
    profile_patch, service_message, service_patch,
};
pub use resources::region_wish;
pub use snapshot::{SNAPSHOT_FORMAT, StateBuilder, snapshot_header, snapshot_records};
pub use wish::{
    add_endpoint, create_profile, create_zone, register_service, update_endpoint, update_profile, update_zone,
};
pub use zone::{ZONE_PATHS, zone_message, zone_patch};

/// A message that no version of ours writes: a field is missing or holds what it cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {description}")]
pub struct Malformed {
    /// The field's path.
    pub field: &'static str,
    /// What is wrong with it.
    pub description: String,
}

impl Malformed {
    fn new(field: &'static str, description: impl Into<String>) -> Self {
        Self { field, description: description.into() }
    }

    fn missing(field: &'static str) -> Self {
        Self::new(field, "is missing")
    }
}

/// The value of a field that a message must have.
fn required<T>(field: &'static str, value: Option<T>) -> Result<T, Malformed> {
    value.ok_or_else(|| Malformed::missing(field))
}

/// The enum value behind a number on the wire.
fn number<W: TryFrom<i32>>(field: &'static str, number: i32) -> Result<W, Malformed> {
    W::try_from(number).map_err(|_| Malformed::new(field, format!("{number} is not known here")))
}

/// Reads a text field, and says which one it was if that fails.
fn parsed<T, E: ToString>(
    field: &'static str,
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, Malformed> {
    parse(text).map_err(|fault| Malformed::new(field, format!("'{text}' {}", fault.to_string())))
}

/// Converts every element.
fn each<M, C: TryFrom<M, Error = Malformed>>(
    messages: impl IntoIterator<Item = M>,
) -> Result<Vec<C>, Malformed> {
    messages.into_iter().map(C::try_from).collect()
}
