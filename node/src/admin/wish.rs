//! What a message wishes. One that has faults of its own (a word that does not exist, a misspelt path) is also tried
//! without them, so that its author learns of every other fault in the same breath (VAL-1).

use prost_types::FieldMask;
use waymark_core::model::Violation;
use waymark_core::state::Action;
use waymark_proto::admin::v1::{Endpoint, Profile, Protocol, Region, Routing, Service, Zone};
use waymark_proto::convert::{self, ENDPOINT_PATHS, PROFILE_PATHS, ZONE_PATHS};

/// A wish, or what is wrong with the message it stands in.
#[derive(Debug)]
pub(super) struct Wish {
    /// What is wished; with faults, what would be wished without them, where that can be told.
    pub(super) action: Option<Action>,
    /// What is wrong with the message.
    pub(super) faults: Vec<Violation>,
}

impl From<Action> for Wish {
    fn from(action: Action) -> Self {
        Self { action: Some(action), faults: Vec::new() }
    }
}

impl Wish {
    fn read<M: Clone>(
        message: M,
        read: impl Fn(M) -> Result<Action, Vec<Violation>>,
        mend: impl FnOnce(&mut M),
    ) -> Self {
        let mut mended = message.clone();
        match read(message) {
            Ok(action) => action.into(),
            Err(faults) => {
                mend(&mut mended);
                Self { action: read(mended).ok(), faults }
            }
        }
    }

    /// A new zone.
    pub(super) fn create_zone(zone: Zone) -> Self {
        Self::read(zone, convert::create_zone, |_| {})
    }

    /// A changed zone.
    pub(super) fn update_zone(zone: Zone, mask: Option<FieldMask>, if_revision: Option<u64>) -> Self {
        Self::read(
            (zone, mask),
            |(zone, mask)| convert::update_zone(zone, mask.as_ref(), if_revision),
            |(_, mask)| mend_mask(mask, &ZONE_PATHS),
        )
    }

    /// A new profile with its endpoints.
    pub(super) fn create_profile(profile: Profile) -> Self {
        Self::read(profile, convert::create_profile, mend_profile)
    }

    /// A changed profile.
    pub(super) fn update_profile(
        profile: Profile,
        mask: Option<FieldMask>,
        if_revision: Option<u64>,
    ) -> Self {
        Self::read(
            (profile, mask),
            |(profile, mask)| convert::update_profile(profile, mask.as_ref(), if_revision),
            |(profile, mask)| {
                mend_profile(profile);
                mend_mask(mask, &PROFILE_PATHS);
            },
        )
    }

    /// A service that is new, or some other fields of one.
    pub(super) fn register_service(
        service: Service,
        mask: Option<FieldMask>,
        if_revision: Option<u64>,
    ) -> Self {
        Self::read(
            (service, mask),
            |(service, mask)| convert::register_service(service, mask.as_ref(), if_revision),
            |(_, mask)| mend_mask(mask, &["target", "location"]),
        )
    }

    /// A new endpoint.
    pub(super) fn add_endpoint(profile: &str, endpoint: Endpoint, if_revision: Option<u64>) -> Self {
        let read = |endpoint| convert::add_endpoint(profile.to_owned(), endpoint, if_revision);
        Self::read(endpoint, read, |_| {})
    }

    /// A changed endpoint.
    pub(super) fn update_endpoint(
        profile: &str,
        endpoint: Endpoint,
        mask: Option<FieldMask>,
        if_revision: Option<u64>,
    ) -> Self {
        Self::read(
            (endpoint, mask),
            |(endpoint, mask)| {
                convert::update_endpoint(profile.to_owned(), endpoint, mask.as_ref(), if_revision)
            },
            |(_, mask)| mend_mask(mask, &ENDPOINT_PATHS),
        )
    }

    /// A region, new or moved.
    pub(super) fn set_region(region: Region) -> Self {
        let read = |region| convert::region_wish(region).map(Action::SetRegion);
        Self::read(region, read, |region| (region.latitude, region.longitude) = (0.0, 0.0))
    }
}

fn mend_mask(mask: &mut Option<FieldMask>, known: &[&str]) {
    if let Some(mask) = mask {
        mask.paths.retain(|path| known.contains(&path.as_str()));
    }
}

fn mend_profile(profile: &mut Profile) {
    if Routing::try_from(profile.routing).is_err() {
        profile.routing = Routing::Unspecified.into();
    }
    if let Some(monitor) = &mut profile.monitor
        && Protocol::try_from(monitor.protocol).is_err()
    {
        monitor.protocol = Protocol::Unspecified.into();
    }
}
