//! The table of countries that every member carries along, so that clients are located before anything is set up.

use waymark_core::geo::{GeoDigest, GeoTable};

/// What it was made of; `node/data/NOTICE` has the whole of it. The licence asks for the name to be shown.
pub const SOURCE: &str = "IP Geolocation by DB-IP (Country Lite, 2026-06)";

/// When its source was made, in seconds since 1970.
pub(super) const BUILT: u64 = 1_780_345_978;

/// The digest of what it says (RTE-14), which would take longer to reckon than the table takes to unpack.
pub(super) const DIGEST: GeoDigest = GeoDigest(0x5503_2c61_28a9_9df3_d306_566b_6611_10e6);

/// The table, deflated; `cargo run --example compile_geo` makes it.
const COUNTRIES: &[u8] = include_bytes!("../../data/countries.geo.z");

/// More than its bytes are once inflated: a bound for the memory that is taken for them.
const INFLATED_MAX: usize = 16 << 20;

/// Unpacks the table. It takes some tens of milliseconds, and far more in a build for tests: ask once, when it is needed.
pub fn embedded() -> GeoTable {
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(COUNTRIES, INFLATED_MAX)
        .expect("the embedded table was deflated by us");
    GeoTable::decode(&bytes).expect("the embedded table was encoded by us")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rte_14_the_committed_table_is_whole() {
        let table = embedded();
        let notice = include_str!("../../data/NOTICE");
        assert!(
            notice.contains(&table.digest().to_string()),
            "the digest {} is not in NOTICE",
            table.digest()
        );
        assert!(COUNTRIES.len() < 1_000_000, "{} bytes are too many to carry", COUNTRIES.len());
    }

    #[test]
    fn rte_8_known_addresses_are_where_they_are() {
        let table = embedded();
        for (address, code) in [
            ("8.8.8.8", Some("US")),
            ("193.0.6.139", Some("NL")),
            ("202.12.27.33", Some("JP")),
            ("200.160.2.3", Some("BR")),
            ("2001:67c:2e8::1", Some("NL")),
            ("2001:200::1", Some("JP")),
            ("2a00:1450:4001::1", Some("DE")),
            ("127.0.0.1", None),
            ("10.0.0.1", None),
            ("192.0.2.1", None),
            ("::1", None),
            ("fd00::1", None),
        ] {
            let place = table.locate(address.parse().unwrap());
            assert_eq!(place.map(|place| place.code()), code, "{address}");
        }
    }
}
