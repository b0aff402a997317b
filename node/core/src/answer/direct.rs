//! The short way for what is asked most: a profile's own name that is answered by its addresses, by one alias out of our
//! zones, or, where zones are few, with nothing of the type, as an AAAA question where all have IPv4 addresses. It decides
//! as [`super::decide()`] does, without an allocation, and leaves the encoding to the caller.

use std::net::IpAddr;
use std::sync::Arc;

use super::RecordType;
use super::zone_data::negative_ttl;
use crate::model::{Network, Target, Zone};
use crate::routing::{Asked, Choice, Chosen, Client, NoTrace, choose};
use crate::state::{Plan, View};

/// What a profile's name is answered with.
#[derive(Clone, Copy, Debug)]
pub struct Direct<'a> {
    /// The endpoints that answer, and where they stand: in the profile's plan, or in that of a nested one's child.
    chosen: Option<(&'a Plan, Chosen)>,
    record_type: RecordType,
    /// The zone whose start of authority says that there is nothing: NODATA. Else there are targets.
    pub authority: Option<&'a Zone>,
    /// Time to live of the records in seconds.
    pub ttl: u32,
    /// To a query with a client subnet: the prefix of the networks for which the answer holds (DNS-10); `None` if the
    /// option is not to be answered.
    pub scope: Option<u8>,
}

impl<'a> Direct<'a> {
    /// The answer's targets in their order: one name, or addresses of the type that was asked for.
    pub fn targets(&self) -> impl Iterator<Item = &'a Target> + '_ {
        let chosen = self.chosen.as_ref().into_iter();
        chosen.flat_map(|(leaf, chosen)| {
            chosen.positions().flat_map(|position| leaf.endpoints[position].answers(self.record_type))
        })
    }
}

/// Decides on the name with the lower-cased wire form `name`, whose plan in `view` is `plan`, asked for from `source` with that
/// client subnet and `draw`. `None` where the answer is not of this simple kind, which says nothing about what it is.
pub fn decide_directly<'a>(
    view: &'a View,
    plan: &'a Arc<Plan>,
    name: &[u8],
    record_type: RecordType,
    source: IpAddr,
    subnet: Option<Network>,
    draw: u64,
) -> Option<Direct<'a>> {
    if !is_simple(record_type) {
        return None;
    }
    // Only who tells of a client needs to know what the zone makes of it.
    let zone_takes_subnets = || view.zone(&plan.profile.zone).is_some_and(|zone| zone.ecs);
    let subnet = subnet.filter(|_| zone_takes_subnets());
    let client = Client::within(source, subnet);
    let asked = Asked { view, record_type, client, level: 0, draw };
    let Choice { chosen, reach } = choose(&asked, plan, &mut NoTrace);
    let Ok((leaf, chosen)) = chosen else {
        let (zone, ttl) = nothing(view, name, plan)?;
        let scope = subnet.map(|_| 0);
        return Some(Direct { chosen: None, record_type, authority: Some(zone), ttl, scope });
    };
    let scope =
        subnet.map(|subnet| if client.wants_reach { reach.prefix_around(subnet.address()) } else { 0 });
    let (chosen, ttl) = (Some((&**leaf, chosen)), plan.profile.effective_ttl());
    let direct = Direct { chosen, record_type, authority: None, ttl, scope };
    match direct.targets().next()? {
        // The chain goes on in our own zones.
        Target::Name(target) if view.is_ours(target) => None,
        _ => Some(direct),
    }
}

/// Is `record_type` answered by nothing but what a profile chooses? Zone data stands before it, ANY is chosen in two steps.
pub(super) fn is_simple(record_type: RecordType) -> bool {
    !matches!(record_type, RecordType::SOA | RecordType::NS | RecordType::ANY)
}

/// The zone and the time to live of NODATA at the name of a profile that makes it exist; not where only something below it
/// does, or a look at more than a few zones would be needed.
pub(super) fn nothing<'a>(view: &'a View, name: &[u8], plan: &Plan) -> Option<(&'a Zone, u32)> {
    if !plan.exists() {
        return None;
    }
    let zone = view.near_zone_around(name)?;
    Some((zone, negative_ttl(zone, Some(plan.profile.effective_ttl()))))
}
