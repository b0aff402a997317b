//! Zones of every kind, for whoever holds answers to rules that all of them keep: fuzzers, and the test `differential`.

use std::sync::Arc;

use waymark_core::model::{
    Edit, EndpointPatch, LogIndex, Name, OverrideKind, ProfilePatch, RecordType, Region, Revision, Routing,
    Timestamp, ZonePatch,
};
use waymark_core::state::{Action, Command, Context, CookieSecret, FoundAddresses, State, View, apply};

use crate::record_text;

/// Every way in which endpoints are chosen, and the word that names begin with.
pub(in crate::dns) const METHODS: [(&str, Routing); 6] = [
    ("priority", Routing::Priority),
    ("weighted", Routing::Weighted),
    ("performance", Routing::Performance),
    ("geographic", Routing::Geographic),
    ("multivalue", Routing::Multivalue),
    ("subnet", Routing::Subnet),
];

/// What cookies are made with.
pub(in crate::dns) const SECRET: CookieSecret = CookieSecret([3; 16]);

/// `state` after `action`, which is a good one.
pub(in crate::dns) fn carry_out(state: &State, action: Action) -> State {
    let context = Context { index: LogIndex(1), at: Timestamp(0) };
    let applied =
        apply(state, context, &Command { id: None, author: "operator".to_owned(), note: None, action });
    applied.reply.expect("a good command");
    applied.state
}

/// Records of one type at a name.
fn records(state: &State, zone: &str, name: &str, kind: &str, texts: &[String]) -> State {
    let record_type: RecordType = kind.parse().expect("a record type");
    let read =
        |text: &String| -> Arc<[u8]> { record_text::read(record_type, text).expect("a record").into() };
    let (zone, relative_name) = (zone.to_owned(), name.to_owned());
    let data = texts.iter().map(read).collect();
    carry_out(
        state,
        Action::SetRecords { zone, relative_name, record_type, ttl: 60, data, if_revision: None },
    )
}

/// A zone; those with client subnets have the usual mailbox, the other one's has more in common with the primary than with
/// most questions, and that of `eu.example.com` stands in the primary.
fn zone(state: &State, name: &str, ecs: bool) -> State {
    let primary =
        if name.starts_with("eu.") { format!("a.hostmaster.{name}") } else { format!("ns1.{name}") };
    let fields = ZonePatch {
        mailbox: if ecs { Edit::Keep } else { Edit::Set(format!("admin@{primary}")) },
        name_servers: Edit::Set(vec![(primary, vec!["192.0.2.53".to_owned()])]),
        ecs: Edit::Set(ecs),
        ..ZonePatch::default()
    };
    carry_out(state, Action::CreateZone { name: name.to_owned(), fields })
}

/// A profile of that method with an endpoint for each target, all of them always served, in Europe or America and for one
/// half of the addresses or the other.
fn profile(state: &State, zone: &str, name: &str, routing: Routing, targets: &[&str]) -> State {
    named_profile(state, zone, &format!("{name}-{}", zone.replace('.', "-")), name, routing, targets)
}

/// The same with another name in the cluster than in the zone.
fn named_profile(
    state: &State,
    zone: &str,
    own_name: &str,
    name: &str,
    routing: Routing,
    targets: &[&str],
) -> State {
    let endpoint = |(nth, target): (usize, &&str)| {
        let patch = EndpointPatch {
            target: Edit::Set((*target).to_owned()),
            always_serve: Edit::Set(true),
            ..EndpointPatch::default()
        };
        let is_first = nth % 2 == 0;
        let patch = match routing {
            Routing::Geographic => EndpointPatch {
                geo: Edit::Set(vec![if nth == 0 { "WORLD" } else { ["DE", "US", "FR"][nth % 3] }.to_owned()]),
                ..patch
            },
            Routing::Subnet => EndpointPatch {
                subnets: Edit::Set(vec![format!("{}.0.0.0/8", 10 + nth), format!("2001:db8:{nth}::/48")]),
                ..patch
            },
            Routing::Weighted => EndpointPatch { weight: Edit::Set([7, 1_000, 1, 200][nth % 4]), ..patch },
            Routing::Performance => {
                EndpointPatch { location: Edit::Set(if is_first { "eu" } else { "us" }.to_owned()), ..patch }
            }
            _ => patch,
        };
        (format!("e{nth}"), patch)
    };
    carry_out(
        state,
        Action::CreateProfile {
            name: own_name.to_owned(),
            zone: zone.to_owned(),
            relative_name: name.to_owned(),
            fields: ProfilePatch {
                routing: Edit::Set(routing),
                max_return: if routing == Routing::Multivalue { Edit::Set(8) } else { Edit::Keep },
                ..ProfilePatch::default()
            },
            endpoints: targets.iter().enumerate().map(endpoint).collect(),
        },
    )
}

/// A flattened profile of that name, of whose names one was resolved to addresses of both families (DNS-16).
fn flattened(state: &State, zone: &str, name: &str) -> State {
    let state = profile(state, zone, name, Routing::Weighted, &["a.example.net", "b.example.net"]);
    let own_name = format!("{name}-{}", zone.replace('.', "-"));
    let fields = ProfilePatch { flatten: Edit::Set(true), ..ProfilePatch::default() };
    let state =
        carry_out(&state, Action::UpdateProfile { name: own_name.clone(), fields, if_revision: None });
    let endpoint = state.profile(&own_name.as_str().into()).expect("it was just made").endpoints[0].id;
    let addresses = ["192.0.2.9", "192.0.2.8", "2001:db8::9"].map(|text| text.parse().expect(text)).to_vec();
    let name = Name::parse("a.example.net").expect("a name");
    carry_out(&state, Action::FlattenTargets { found: vec![FoundAddresses { endpoint, name, addresses }] })
}

/// As many targets as replies are prepared of, by their number or by their records' length, and one more.
fn bounds(mut state: State, zone: &str, names: &mut Vec<String>) -> State {
    let v4 = |count: u16| (1..=count).map(|nth| format!("192.0.2.{nth}")).collect::<Vec<_>>();
    let v6 = |count: u16| (1..=count).map(|nth| format!("2001:db8::{nth}")).collect();
    for (name, targets) in [("eight", v4(8)), ("nine", v4(9)), ("four6", v6(4)), ("five6", v6(5))] {
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        state = profile(&state, zone, name, Routing::Weighted, &targets);
        names.push(format!("{name}.{zone}"));
    }
    state
}

/// Every method in zones with and without client subnets, with targets of both families, with endpoints that are drained
/// and forced (STA-13), and aliases that lead out of the zones and into them.
pub(in crate::dns) fn view() -> (View, Vec<String>) {
    let mut state = State::default();
    for (name, latitude_e6) in [("eu", 50_000_000), ("us", -100_000_000 / 2)] {
        let region =
            Region { name: name.into(), latitude_e6, longitude_e6: 9_000_000, revision: Revision(0) };
        state = carry_out(&state, Action::SetRegion(region));
    }
    state = carry_out(&state, Action::RotateCookies { fresh: SECRET });
    let zones = ["example.com", "eu.example.com", "plain.test"];
    for zone_name in zones {
        state = zone(&state, zone_name, zone_name != "plain.test");
    }
    let v4 = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
    let both = ["192.0.2.1", "2001:db8::1", "192.0.2.2", "2001:db8::2"];
    let mut names =
        vec!["nothing.example.com", "ns1.example.com", "example.com", "test", "sub.v4-priority.example.com"]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
    for zone_name in zones {
        for (word, routing) in METHODS {
            for (kind, targets) in [("v4", &v4[..]), ("both", &both), ("v6", &both[1..2])] {
                let name = format!("{kind}-{word}");
                state = profile(&state, zone_name, &name, routing, targets);
                names.push(format!("{name}.{zone_name}"));
            }
        }
        for (name, target) in [
            ("out", "edge.example.net"),
            ("near", "edge.other.com"),
            ("sibling", "app.out.example.com.example.net"),
            ("hostmaster", "192.0.2.1"),
            ("in", "v4-weighted.example.com"),
            ("deep.chain", "in.example.com"),
        ] {
            state = profile(&state, zone_name, name, Routing::Priority, &[target]);
            names.push(format!("{name}.{zone_name}"));
        }
        // Replies to long names come near to what an asker takes.
        let long = ["a".repeat(60), "b".repeat(60), "c".repeat(50)].join(".");
        let many: Vec<String> = (1..=9).map(|nth| format!("2001:db8::{nth}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).chain(["192.0.2.1"; 1]).collect();
        let own_name = format!("long-{}", zone_name.replace('.', "-"));
        state = named_profile(&state, zone_name, &own_name, &long, Routing::Multivalue, &many);
        names.push(format!("{long}.{zone_name}"));
        state = profile(&state, zone_name, "empty", Routing::Weighted, &[]);
        names.push(format!("empty.{zone_name}"));
        let addresses: Vec<String> = (1..=80).map(|nth| format!("192.0.2.{nth}")).collect();
        for (name, kind, texts) in [
            ("static", "A", &addresses[..]),
            ("static", "TXT", &["\"text\"".to_owned()]),
            ("www", "CNAME", &["v4-priority.example.com".to_owned()]),
        ] {
            state = records(&state, zone_name, name, kind, texts);
            names.push(format!("{name}.{zone_name}"));
        }
    }
    for zone_name in zones {
        for (word, routing) in METHODS {
            let name = format!("over-{word}");
            state = profile(&state, zone_name, &name, routing, &both);
            names.push(format!("{name}.{zone_name}"));
        }
        state = bounds(state, zone_name, &mut names);
        state = profile(&state, zone_name, "drained", Routing::Weighted, &v4);
        names.push(format!("drained.{zone_name}"));
    }
    for (pattern, kind) in [
        ("over-*/e0", OverrideKind::Drain),
        ("over-*/e1", OverrideKind::ForceDown),
        ("over-*/e2", OverrideKind::ForceUp),
        ("drained-*/*", OverrideKind::Drain),
    ] {
        let (pattern, reason) = (pattern.to_owned(), "a move".to_owned());
        let action = Action::OverrideEndpoints { pattern, kind, reason, span_ms: None, even_last: true };
        state = carry_out(&state, action);
    }
    for zone_name in zones {
        state = flattened(&state, zone_name, "flat");
        names.push(format!("flat.{zone_name}"));
    }
    (View::of(state, LogIndex(9)), names)
}
