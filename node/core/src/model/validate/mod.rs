//! The rules of spec §1.1 and §1.2, each judged with all the others (VAL-1): one file a noun.

mod endpoint;
mod header;
mod mapping;
mod method;
mod monitor;
mod name;
mod profile;
mod record_set;
mod zone;

pub use endpoint::{EndpointDraft, Surroundings, UnreadMappings, validate_endpoints};
pub use header::{validate_header_value, warn_headers};
pub use name::{validate_agent, validate_place_name, validate_region};
pub use profile::{validate_profile, validate_settings, warn_profile};
pub use record_set::validate_record_set;
pub use zone::{NameServerDraft, validate_name_servers, validate_zone};
