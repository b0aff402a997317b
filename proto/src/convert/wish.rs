//! From the messages of a write to the action that is proposed: what the operators' API and the log have in common.

use prost_types::FieldMask;
use waymark_core::model::{EndpointPatch, Revision, Violation};
use waymark_core::state::Action;

use super::patch::{endpoint_patch, profile_patch, service_patch};
use super::zone::zone_patch;
use crate::admin::v1 as wire;

/// The wish for a new zone.
pub fn create_zone(zone: wire::Zone) -> Result<Action, Vec<Violation>> {
    let name = zone.name.clone();
    Ok(Action::CreateZone { name, fields: zone_patch(zone, None)? })
}

/// The wish for a changed zone. Without a mask the fields that are there count.
pub fn update_zone(
    zone: wire::Zone,
    mask: Option<&FieldMask>,
    if_revision: Option<u64>,
) -> Result<Action, Vec<Violation>> {
    let name = zone.name.clone();
    let fields = zone_patch(zone, mask)?;
    Ok(Action::UpdateZone { name, fields, if_revision: if_revision.map(Revision) })
}

/// The wish for a new profile with its endpoints; every fault of all of them is found at once (VAL-1).
pub fn create_profile(mut profile: wire::Profile) -> Result<Action, Vec<Violation>> {
    let messages = std::mem::take(&mut profile.endpoints);
    let (name, zone, relative_name) =
        (profile.name.clone(), profile.zone.clone(), profile.relative_name.clone());
    let fields = profile_patch(profile, None);
    let mut violations = Vec::new();
    let endpoints: Vec<(String, EndpointPatch)> = messages
        .into_iter()
        .enumerate()
        .map(|(place, endpoint)| {
            let name = endpoint.name.clone();
            let patch = endpoint_patch(endpoint, None).unwrap_or_else(|found| {
                let within = |Violation { field, description }| {
                    Violation::new(format!("endpoints[{place}].{field}"), description)
                };
                violations.extend(found.into_iter().map(within));
                EndpointPatch::default()
            });
            (name, patch)
        })
        .collect();
    match fields {
        Ok(fields) if violations.is_empty() => {
            Ok(Action::CreateProfile { name, zone, relative_name, fields, endpoints })
        }
        Ok(_) => Err(violations),
        Err(found) => Err(found.into_iter().chain(violations).collect()),
    }
}

/// The wish for a changed profile. Without a mask the fields that are there count.
pub fn update_profile(
    profile: wire::Profile,
    mask: Option<&FieldMask>,
    if_revision: Option<u64>,
) -> Result<Action, Vec<Violation>> {
    let name = profile.name.clone();
    let fields = profile_patch(profile, mask)?;
    Ok(Action::UpdateProfile { name, fields, if_revision: if_revision.map(Revision) })
}

/// The wish for a service that is new, or for some other fields of one that is not. Without a mask the fields that are
/// there count.
pub fn register_service(
    service: wire::Service,
    mask: Option<&FieldMask>,
    if_revision: Option<u64>,
) -> Result<Action, Vec<Violation>> {
    let name = service.name.clone();
    let fields = service_patch(service, mask)?;
    Ok(Action::RegisterService { name, fields, if_revision: if_revision.map(Revision) })
}

/// The wish for a new endpoint in `profile`.
pub fn add_endpoint(
    profile: String,
    endpoint: wire::Endpoint,
    if_revision: Option<u64>,
) -> Result<Action, Vec<Violation>> {
    let name = endpoint.name.clone();
    let fields = endpoint_patch(endpoint, None)?;
    Ok(Action::AddEndpoint { profile, name, fields, if_revision: if_revision.map(Revision) })
}

/// The wish for a changed endpoint of `profile`. Without a mask the fields that are there count.
pub fn update_endpoint(
    profile: String,
    endpoint: wire::Endpoint,
    mask: Option<&FieldMask>,
    if_revision: Option<u64>,
) -> Result<Action, Vec<Violation>> {
    let name = endpoint.name.clone();
    let fields = endpoint_patch(endpoint, mask)?;
    Ok(Action::UpdateEndpoint { profile, name, fields, if_revision: if_revision.map(Revision) })
}
