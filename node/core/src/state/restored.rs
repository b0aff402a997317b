//! A state that another cluster begins with (CLU-10).

use std::sync::Arc;

use imbl::OrdMap;

use super::{Enrolment, State};
use crate::model::{Revision, Zone};

/// How far counter and serials jump: beyond all that was changed after the backup and is lost (DNS-2).
const LEAP: u64 = 65_536;

impl State {
    /// The same in a new cluster: its serials go on behind those that resolvers and secondaries may have seen, and no join token
    /// is good that may have been redeemed since (SEC-1).
    pub fn restored(&self, cluster: String) -> Self {
        let leap = |zone: &Arc<Zone>| {
            let revision = Revision(zone.revision.0 + LEAP);
            Arc::new(Zone { revision, ..Zone::clone(zone) })
        };
        Self {
            cluster,
            enrolment: Enrolment { tokens: OrdMap::new(), ..self.enrolment.clone() },
            counter: Revision(self.counter.0 + LEAP),
            zones: self.zones.iter().map(|(name, zone)| (name.clone(), leap(zone))).collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{example_state, name};

    #[test]
    fn dns_2_a_restored_zone_has_a_later_serial_than_any_that_was_lost() {
        let state = example_state();
        let restored = state.restored("beef".into());
        let serial = |state: &crate::state::State| state.zones[&name("example.com")].serial();
        assert_eq!(serial(&restored), serial(&state) + 65_536);
        assert_eq!(restored.counter.0, state.counter.0 + 65_536, "what changes next is later still");
        assert_eq!(restored.cluster, "beef");
    }
}
