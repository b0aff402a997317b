//! Any headers of probes, some of them secrets.

use proptest::collection::vec;
use proptest::prelude::*;
use waymark_core::model::{Header, HeaderValue};

use super::arbitrary::text;

pub(super) fn headers() -> impl Strategy<Value = Vec<Header>> {
    let value = prop_oneof![
        text().prop_map(HeaderValue::Plain),
        vec(any::<u8>(), 1..80).prop_map(|bytes| HeaderValue::Sealed(bytes.into())),
    ];
    vec((text(), value).prop_map(|(name, value)| Header { name, value }), 0..3)
}
