//! Random wishes for static records, few of them bad, at names where profiles, zones and name servers stand too.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{one_of, zone_name};
use crate::model::{RecordType, Revision};
use crate::state::Action;

/// A name server's address, a text, an alias that leads to a profile, and what is neither.
const DATA: [&[u8]; 4] = [&[192, 0, 2, 53], b"\x04text", b"\x03web\x07example\x03com\x00", b""];

pub(super) fn record_wish() -> BoxedStrategy<Action> {
    let place = || {
        (zone_name(), one_of(&["web", "api.eu", "eu", "@", "ns1", "lb", "a.lb", "ns.lb", "txt", "txt", "*"]))
    };
    let record_type = || prop::sample::select(&[1, 5, 16, 16, 16, 43, 2][..]).prop_map(RecordType);
    let data = prop_oneof![
        9 => prop::sample::select(&DATA[..3]).prop_map(|data| vec![data]),
        1 => vec(prop::sample::select(&DATA[..]), 0..3),
    ];
    let data = data.prop_map(|data| data.into_iter().map(Arc::from).collect::<Vec<Arc<[u8]>>>());
    let if_revision = || prop::option::weighted(0.2, (0_u64..60).prop_map(Revision));
    prop_oneof![
        3 => (place(), record_type(), 0_u32..400, data, if_revision()).prop_map(
            |((zone, relative_name), record_type, ttl, data, if_revision)| Action::SetRecords {
                zone, relative_name, record_type, ttl, data, if_revision
            }
        ),
        1 => (place(), record_type(), if_revision()).prop_map(
            |((zone, relative_name), record_type, if_revision)| Action::DeleteRecords {
                zone, relative_name, record_type, if_revision
            }
        ),
    ]
    .boxed()
}
