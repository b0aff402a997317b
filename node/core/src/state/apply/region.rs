//! Regions: set and deleted (OBJ-9).

use std::sync::Arc;

use super::lookup::{check_revision, name_some};
use super::step::Step;
use super::{learned, lookup};
use crate::geo::CloudRegion;
use crate::model::{Caseless, Region, Revision, Violation, Violations, validate_region};
use crate::state::{ApplyLevel, Change, Rejection, State};

pub(super) fn set(step: &mut Step<'_>, wish: &Region) -> Result<(), Rejection> {
    let mut violations = Violations::new();
    validate_region(wish, &mut violations);
    if !violations.is_empty() {
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    let before = step.state.regions.get(&wish.name);
    let place = |region: &Region| (region.latitude_e6, region.longitude_e6);
    if before.is_some_and(|before| place(before) == place(wish)) {
        return Ok(());
    }
    let is_limited = step.state.apply_level >= ApplyLevel::LIMITED_NUMBERS;
    if before.is_none() && is_limited && step.state.regions.len() >= State::REGIONS_MAX {
        let rule = format!("there are {} regions already, and there may be no more", State::REGIONS_MAX);
        return Err(Rejection::Invalid(vec![Violation::new("name", rule)]));
    }
    // There is no rename: a region keeps the letters that it was first given, by us if it is a cloud's.
    let name = step.state.region(&wish.name).map_or_else(|| wish.name.clone(), |known| known.name);
    let region = Region { name: name.clone(), revision: step.revision, ..wish.clone() };
    step.state.regions.insert(name.clone(), Arc::new(region));
    learned::forget_region(step, &name);
    step.note(Change::Region(name));
    Ok(())
}

pub(super) fn delete(
    step: &mut Step<'_>,
    name: &str,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let region = lookup::own_region(&step.state, name)?;
    check_revision("region", &region.name, region.revision, if_revision)?;
    // A cloud's region is known without it, too, and only moves back.
    if CloudRegion::find(&region.name).is_none() {
        let by = name_some(inhabitants(&step.state, &region.name));
        if !by.is_empty() {
            return Err(Rejection::InUse { noun: "region", name: region.name.to_string(), by });
        }
    }
    step.state.regions.remove(&region.name);
    learned::forget_region(step, &region.name);
    step.note(Change::Region(region.name.clone()));
    Ok(())
}

/// Who lives or runs in the region. A lost agent does not: when it comes back it must say where it runs anew.
fn inhabitants<'a>(state: &'a State, region: &'a Caseless) -> impl Iterator<Item = String> + 'a {
    let agents = state
        .agents
        .values()
        .filter(move |agent| agent.region == *region && !agent.lost)
        .map(|agent| format!("agent '{}'", agent.name));
    let endpoints = state.profiles.values().flat_map(move |profile| {
        profile
            .endpoints
            .iter()
            .filter(move |endpoint| endpoint.location.as_ref() == Some(region))
            .map(move |endpoint| format!("endpoint '{}/{}'", profile.name, endpoint.name))
    });
    let services = state
        .services
        .values()
        .filter(move |service| service.location.as_ref() == Some(region))
        .map(|service| format!("service '{}'", service.name));
    agents.chain(services).chain(endpoints)
}
