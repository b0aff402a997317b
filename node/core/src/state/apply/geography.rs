//! The choice of the geo table, and the operator's overrides (RTE-8, RTE-14).

use super::lookup::check_revision;
use super::step::Step;
use crate::geo::GeoDigest;
use crate::model::{Network, NetworkFault, Place, Revision, Violations};
use crate::state::{Change, Geography, PlaceOverride, Rejection, Replaced};

/// Has all members go by the table with that digest; none means the one that each carries along. Whether members have
/// it cannot be judged here: it is their disks' matter, not the state's.
pub(super) fn use_table(
    step: &mut Step<'_>,
    digest: Option<GeoDigest>,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    check_revision("geo table", "in use", step.state.geography.revision, if_revision)?;
    if step.state.geography.table != digest {
        let Geography { table, revision, .. } = step.state.geography;
        step.note_replaced(Replaced::GeoTable(table, revision));
        step.state.geography.table = digest;
        step.state.geography.revision = step.revision;
        step.note(Change::Geography);
    }
    Ok(())
}

/// Says where a network is.
pub(super) fn set_override(step: &mut Step<'_>, network: &str, place: &str) -> Result<(), Rejection> {
    let mut violations = Violations::new();
    let network = network.parse().map_err(|fault: NetworkFault| violations.add("network", fault.to_string()));
    let place = Place::parse(place).map_err(|fault| violations.add("place", fault.to_string()));
    let overrides = &step.state.geography.overrides;
    let is_new = network.is_ok_and(|network| !overrides.contains_key(&network));
    if is_new && overrides.len() >= Geography::OVERRIDES_MAX {
        let rule = format!("there are {} overrides already, and there may be no more", overrides.len());
        violations.add("network", rule);
    }
    let (Ok(network), Ok(place), true) = (network, place, violations.is_empty()) else {
        return Err(Rejection::Invalid(violations.into_vec()));
    };
    if overrides.get(&network).is_none_or(|known| known.place != place) {
        let wished = PlaceOverride { place, revision: step.revision };
        let before = step.state.geography.overrides.insert(network, wished);
        step.note_replaced(Replaced::GeoOverride(network, before));
        step.note(Change::Geography);
    }
    Ok(())
}

/// Leaves a network to the table again.
pub(super) fn delete_override(
    step: &mut Step<'_>,
    network: &str,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let noun = "geo override";
    let missing = || Rejection::NotFound { noun, name: network.to_owned(), hint: None };
    let key: Network = network.parse().map_err(|_| missing())?;
    let known = step.state.geography.overrides.get(&key).ok_or_else(missing)?;
    check_revision(noun, network, known.revision, if_revision)?;
    let before = step.state.geography.overrides.remove(&key);
    step.note_replaced(Replaced::GeoOverride(key, before));
    step.note(Change::Geography);
    Ok(())
}
