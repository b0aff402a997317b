//! The names that everybody serves, and the queries for them.

use std::net::Ipv4Addr;

use clap::ValueEnum;
use harness::Cluster;
use waymark_proto::admin::v1::{Endpoint, Profile, Routing};

use crate::bulk;

/// The zone of all names.
pub(super) const ZONE: &str = "tm.example.test";

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// One address, the same for everybody.
    Static,
    /// One of three addresses by weight.
    Weighted,
    /// One of two addresses by the client's network, which the query names (RFC 7871).
    Geo,
    /// An alias out of the zone.
    Alias,
    /// No IPv6 address at a name of the first kind: what half of all questions come to where clients ask for both.
    Nodata,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Static, Self::Weighted, Self::Geo, Self::Alias, Self::Nodata];
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Weighted => "weighted",
            Self::Geo => "by client subnet",
            Self::Alias => "alias",
            Self::Nodata => "no IPv6 address",
        }
    }

    pub(super) fn letter(self) -> char {
        match self {
            Self::Static | Self::Nodata => 's',
            Self::Weighted => 'w',
            Self::Geo => 'g',
            Self::Alias => 'c',
        }
    }

    fn routing(self) -> Routing {
        match self {
            Self::Static | Self::Nodata | Self::Alias => Routing::Priority,
            Self::Weighted => Routing::Weighted,
            Self::Geo => Routing::Subnet,
        }
    }
}

/// The name of that number, below the zone.
pub(super) fn label(kind: Kind, nth: u32) -> String {
    format!("{}{nth:06}", kind.letter())
}

/// The addresses of a name, of which three are there for `weighted`, and two for `by client subnet`.
pub(super) fn address(nth: u32, which: u32) -> Ipv4Addr {
    Ipv4Addr::from(0x0a00_0000 | (nth << 2 & 0x00ff_fffc) | which)
}

/// Where the alias leads.
pub(super) const ALIAS: &str = "edge.example.net";

/// Weights of the three addresses.
pub(super) const WEIGHTS: [u32; 3] = [50, 30, 20];

/// The client networks of the two addresses.
pub(super) const NETWORKS: [&str; 2] = ["10.0.0.0/8", "172.16.0.0/12"];

/// Whose names are needed to ask for `kinds`: two share theirs.
pub(super) fn named(kinds: &[Kind]) -> Vec<Kind> {
    let has_static = kinds.contains(&Kind::Static);
    kinds.iter().copied().filter(|kind| *kind != Kind::Nodata || !has_static).collect()
}

/// Has the cluster's only member serve `names` names of each of `kinds`.
pub(super) fn create(cluster: &Cluster, names: u32, kinds: &[Kind]) {
    cluster.cli().ok(&format!("zone create {ZONE} --ns ns1.{ZONE}=127.0.0.1"));
    let named = named(kinds);
    let profiles = move |nth| named.iter().map(|kind| profile(*kind, nth)).collect();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(bulk::create(&cluster.members[0].caller(), names, profiles));
}

fn profile(kind: Kind, nth: u32) -> Profile {
    let served = |which: u32| Endpoint {
        name: format!("e{which}"),
        target: address(nth, which).to_string(),
        always_serve: Some(true),
        ..Endpoint::default()
    };
    let endpoints = match kind {
        Kind::Static | Kind::Nodata => vec![served(0)],
        Kind::Weighted => {
            (0..3).map(|which| Endpoint { weight: Some(WEIGHTS[which as usize]), ..served(which) }).collect()
        }
        Kind::Geo => (0..2)
            .map(|which| Endpoint { subnets: vec![NETWORKS[which as usize].to_owned()], ..served(which) })
            .collect(),
        Kind::Alias => vec![Endpoint { target: ALIAS.to_owned(), ..served(0) }],
    };
    Profile {
        name: label(kind, nth),
        zone: ZONE.to_owned(),
        relative_name: label(kind, nth),
        routing: kind.routing().into(),
        endpoints,
        ..Profile::default()
    }
}

/// Queries of that kind, each for a name at random, as a resolver sends them: with EDNS, and with a client's network where
/// that decides.
pub(super) fn packets(kind: Kind, names: u32) -> Vec<Vec<u8>> {
    const PACKETS: u32 = 16_384;
    let record_type = if kind == Kind::Nodata { "AAAA" } else { "A" };
    let mut draw = 1_u32;
    let packet = |_| {
        // A linear congruential generator: the same names in every run.
        draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let nth = ((u64::from(draw) * u64::from(names)) >> 32) as u32;
        let (_, mut packet) = harness::dns::packet(&format!("{}.{ZONE}", label(kind, nth)), record_type);
        packet[11] = 1;
        let subnet = [0, 8, 0, 7, 0, 1, 24, 0, if draw & 1 == 0 { 10 } else { 172 }, 16, (draw >> 8) as u8];
        let options: &[u8] = if kind == Kind::Geo { &subnet } else { &[] };
        packet.extend([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, options.len() as u8]);
        packet.extend(options);
        packet
    };
    (0..PACKETS).map(packet).collect()
}
