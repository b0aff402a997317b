//! Random wishes about zones.

use super::*;
use crate::model::ZoneTimers;

pub(super) fn zone_wish() -> BoxedStrategy<Action> {
    let servers = vec(
        (
            one_of(&["ns1.example.com", "ns.example.net", "ns.lb.example.com", "web.example.com"]),
            vec(one_of(&["192.0.2.53", "2001:db8::53", "::"]), 0..2),
        ),
        0..3,
    );
    let timers = (edit(0_u32..=100_000), edit(500_u32..=4_000), edit(0_u32..=90_000));
    let timers = timers.prop_map(|(name_server_ttl, retry, negative_ttl)| ZoneTimers {
        name_server_ttl,
        retry,
        negative_ttl,
        ..ZoneTimers::default()
    });
    let mailbox = one_of(&["hostmaster@example.com", "a b"]);
    let odd = (edit(servers), edit(mailbox), edit(any::<bool>()), timers)
        .prop_map(|(name_servers, mailbox, ecs, timers)| ZonePatch { name_servers, mailbox, ecs, timers });
    let fields = prop_oneof![2 => Just(zone_fields(&[("ns.example.net", &[])])), 1 => odd];
    prop_oneof![
        (zone_name(), fields.clone()).prop_map(|(name, fields)| Action::CreateZone { name, fields }),
        (zone_name(), fields).prop_map(|(name, fields)| Action::UpdateZone {
            name,
            fields,
            if_revision: None
        }),
        zone_name().prop_map(|name| Action::DeleteZone { name, if_revision: None }),
    ]
    .boxed()
}
