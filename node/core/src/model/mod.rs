//! The nouns: zones, profiles, endpoints, services, regions and agents, their limits and their validation (spec §1.1 and
//! §1.2).

mod address;
mod agent;
mod caseless;
mod distances;
mod edit;
mod endpoint;
mod endpoint_override;
mod endpoint_pattern;
mod family;
mod flattened;
mod mailbox;
mod member_url;
mod monitor;
mod name;
mod network;
mod place;
mod place_set;
mod point;
mod profile;
mod record_set;
mod record_type;
mod region;
mod service;
mod span;
mod time;
mod validate;
mod violation;
mod zone;
mod zone_timers;

pub use address::{AddressFault, parse_target};
pub use agent::{Agent, AgentRun, MemberId};
pub use caseless::Caseless;
pub use distances::Distances;
pub use edit::Edit;
pub use endpoint::{Child, Endpoint, EndpointId, EndpointKind, EndpointPatch, Resolved, Target};
pub use endpoint_override::{Override, OverrideKind, validate_override};
pub use endpoint_pattern::{EndpointPattern, Glob, PatternFault};
pub use family::Family;
pub use flattened::Flattened;
pub use mailbox::{MailboxFault, mailbox_text, parse_mailbox};
pub use member_url::{MemberUrl, MemberUrlFault};
pub use monitor::{
    Header, HeaderValue, Interval, Monitor, MonitorPatch, Protocol, StatusRange, limits as monitor_limits,
};
pub(crate) use name::parent_wire;
pub use name::{Name, NameFault};
pub use network::{Network, NetworkFault};
pub use place::{Place, PlaceFault};
pub use place_set::PlaceSet;
pub use point::Point;
pub use profile::{Profile, ProfileId, ProfilePatch, RelativeName, Routing, limits as profile_limits};
pub use record_set::{RecordKey, RecordSet};
pub use record_type::{RecordType, RecordTypeFault};
pub use region::Region;
pub use service::{Service, ServicePatch};
pub use span::{Span, SpanFault};
pub use time::{LogIndex, Revision, Timestamp};
pub use validate::{
    EndpointDraft, NameServerDraft, Surroundings, UnreadMappings, validate_agent, validate_endpoints,
    validate_header_value, validate_name_servers, validate_place_name, validate_profile, validate_record_set,
    validate_region, validate_settings, validate_zone, warn_headers, warn_profile,
};
pub use violation::{Violation, Violations, nearest, quote, shorten};
pub use zone::{NameServer, Zone, ZonePatch};
pub use zone_timers::ZoneTimers;
