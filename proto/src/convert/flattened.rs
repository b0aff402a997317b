//! What names of flattened profiles stand for: as the leader found it, and as it is kept.

use std::net::IpAddr;
use std::sync::Arc;

use waymark_core::model::{EndpointId, Flattened, Name, Timestamp};
use waymark_core::state::{Action, FoundAddresses};

use super::{Malformed, each, parsed};
use crate::storage::v1 as stored;

pub(super) fn flatten_targets(found: &[FoundAddresses]) -> stored::FlattenTargets {
    stored::FlattenTargets { found: found.iter().map(Into::into).collect() }
}

pub(super) fn flattened_targets(message: stored::FlattenTargets) -> Result<Action, Malformed> {
    let stored::FlattenTargets { found } = message;
    Ok(Action::FlattenTargets { found: each(found)? })
}

impl From<&FoundAddresses> for stored::FoundAddresses {
    fn from(found: &FoundAddresses) -> Self {
        let FoundAddresses { endpoint, name, addresses } = found;
        Self {
            endpoint: endpoint.0,
            name: name.to_string(),
            addresses: addresses.iter().map(ToString::to_string).collect(),
        }
    }
}

impl TryFrom<stored::FoundAddresses> for FoundAddresses {
    type Error = Malformed;

    fn try_from(message: stored::FoundAddresses) -> Result<Self, Malformed> {
        let stored::FoundAddresses { endpoint, name, addresses } = message;
        Ok(Self {
            endpoint: EndpointId(endpoint),
            name: parsed("found.name", &name, Name::parse)?,
            addresses: read("found.addresses", &addresses)?,
        })
    }
}

/// As snapshots keep it.
pub(super) fn addresses_message(flattened: &Flattened) -> stored::StoredAddresses {
    stored::StoredAddresses {
        name: flattened.name().to_string(),
        addresses: flattened.addresses().iter().map(ToString::to_string).collect(),
        since_ms: flattened.since().0,
    }
}

pub(super) fn stored_addresses(message: stored::StoredAddresses) -> Result<Arc<Flattened>, Malformed> {
    const FIELD: &str = "flattened.addresses";
    let stored::StoredAddresses { name, addresses, since_ms } = message;
    let name = parsed("flattened.name", &name, Name::parse)?;
    let flattened = Flattened::new(name, &read(FIELD, &addresses)?, Timestamp(since_ms));
    flattened.map(Arc::new).ok_or_else(|| Malformed::new(FIELD, "there is none".to_owned()))
}

fn read(field: &'static str, addresses: &[String]) -> Result<Vec<IpAddr>, Malformed> {
    addresses.iter().map(|text| parsed(field, text, str::parse)).collect()
}
