//! The choice of the geo table, and the operator's overrides.

use bytes::Bytes;
use waymark_core::geo::GeoDigest;
use waymark_core::model::{Network, Place, Revision};
use waymark_core::state::{Action, Geography, PlaceOverride};

use super::Malformed;
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;

/// An override as operators see it.
pub fn override_message(network: Network, found: PlaceOverride) -> wire::GeoOverride {
    let PlaceOverride { place, revision } = found;
    wire::GeoOverride { network: network.to_string(), place: place.code().to_owned(), revision: revision.0 }
}

pub(super) fn stored_override(message: wire::GeoOverride) -> Result<(Network, PlaceOverride), Malformed> {
    let wire::GeoOverride { network, place, revision } = message;
    let network =
        network.parse().map_err(|fault| Malformed::new("geo_override.network", format!("{fault}")))?;
    let place =
        Place::parse(&place).map_err(|fault| Malformed::new("geo_override.place", fault.to_string()))?;
    Ok((network, PlaceOverride { place, revision: Revision(revision) }))
}

pub(super) fn set_override(network: &str, place: &str) -> wire::GeoOverride {
    wire::GeoOverride { network: network.to_owned(), place: place.to_owned(), revision: 0 }
}

pub(super) fn override_set(message: wire::GeoOverride) -> Action {
    let wire::GeoOverride { network, place, revision: _ } = message;
    Action::SetGeoOverride { network, place }
}

/// Nothing for a cluster that never chose, so that an old snapshot and a new one of the same state are alike.
pub(super) fn choice_message(geography: &Geography) -> Option<stored::GeoTableChoice> {
    let Geography { table, revision, overrides: _ } = geography;
    (*revision != Revision::default())
        .then(|| stored::GeoTableChoice { digest: digest_bytes(*table), revision: revision.0 })
}

pub(super) fn use_geo(digest: Option<GeoDigest>, if_revision: &Option<Revision>) -> stored::UseGeo {
    stored::UseGeo { digest: digest_bytes(digest), if_revision: if_revision.map(|revision| revision.0) }
}

pub(super) fn used_geo(message: stored::UseGeo) -> Result<Action, Malformed> {
    let stored::UseGeo { digest, if_revision } = message;
    let if_revision = if_revision.map(Revision);
    Ok(Action::UseGeo { digest: stored_digest("use_geo.digest", &digest)?, if_revision })
}

pub(super) fn digest_bytes(digest: Option<GeoDigest>) -> Bytes {
    digest.map(|digest| digest.0.to_be_bytes().to_vec()).unwrap_or_default().into()
}

pub(super) fn stored_digest(field: &'static str, bytes: &[u8]) -> Result<Option<GeoDigest>, Malformed> {
    match bytes {
        [] => Ok(None),
        bytes => <[u8; 16]>::try_from(bytes)
            .map(|bytes| Some(GeoDigest(u128::from_be_bytes(bytes))))
            .map_err(|_| Malformed::new(field, format!("has {} bytes, not 16", bytes.len()))),
    }
}
