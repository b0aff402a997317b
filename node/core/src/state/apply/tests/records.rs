//! DNS-17: what static records may stand where, whoever comes first.

use super::configuration::{named, refusal};
use super::*;
use crate::model::{Name, RecordType};

const MX: RecordType = RecordType(15);
const TXT: RecordType = RecordType(16);
const TEXT: &[u8] = b"\x04text";

fn set_in(zone: &str, relative_name: &str, record_type: RecordType, data: &[&[u8]]) -> Action {
    Action::SetRecords {
        zone: zone.into(),
        relative_name: relative_name.into(),
        record_type,
        ttl: 300,
        data: data.iter().map(|data| (*data).into()).collect(),
        if_revision: None,
    }
}

fn set(relative_name: &str, record_type: RecordType, data: &[u8]) -> Action {
    set_in("example.com", relative_name, record_type, &[data])
}

fn alias(target: &str) -> Vec<u8> {
    Name::parse(target).unwrap().as_wire().to_vec()
}

fn delete(relative_name: &str, record_type: RecordType) -> Action {
    let (zone, relative_name) = ("example.com".into(), relative_name.into());
    Action::DeleteRecords { zone, relative_name, record_type, if_revision: None }
}

fn zone_revision(cluster: &Cluster) -> u64 {
    cluster.state.zones[&Name::parse("example.com").unwrap()].revision.0
}

#[test]
fn dns_17_a_set_is_made_replaced_and_deleted_and_the_serial_rises() {
    let mut cluster = Cluster::new();
    let made = cluster.apply(set("www", TXT, TEXT)).unwrap().revision;
    assert_eq!(zone_revision(&cluster), made.0, "DNS-2");
    assert_eq!(cluster.apply(set("WWW", TXT, TEXT)).unwrap().revision, made, "no change, no revision");
    let changed = cluster.apply(set("www", TXT, b"\x05other")).unwrap().revision;
    assert!(changed > made && zone_revision(&cluster) == changed.0);
    cluster.apply(set("www", MX, b"\0\0\0")).unwrap();
    assert_eq!(cluster.state.records.len(), 2);
    let deleted = cluster.apply(delete("www", TXT)).unwrap().revision;
    assert_eq!(zone_revision(&cluster), deleted.0);
    assert_eq!(
        refusal(cluster.apply(delete("www", TXT))),
        "there is no record set 'www.example.com TXT'; did you mean 'www.example.com MX'?"
    );
}

#[test]
fn obj_8_a_set_is_bound_to_its_revision() {
    let mut cluster = Cluster::new();
    let at = |revision, mut action: Action| {
        let (Action::SetRecords { if_revision, .. } | Action::DeleteRecords { if_revision, .. }) =
            &mut action
        else {
            unreachable!("a wish for records")
        };
        *if_revision = Some(revision);
        action
    };
    assert_eq!(
        refusal(cluster.apply(at(Revision(1), set("www", TXT, TEXT)))),
        "there is no record set 'www.example.com TXT'"
    );
    let made = cluster.apply(set("www", TXT, TEXT)).unwrap().revision;
    let refused = refusal(cluster.apply(at(Revision(1), delete("www", TXT))));
    assert!(refused.starts_with("the record set 'www.example.com TXT' is at revision"), "{refused}");
    cluster.apply(at(made, set("www", TXT, b"\x05other"))).unwrap();
    assert!(cluster.apply(at(made, set("www", TXT, TEXT))).is_err());
}

/// VAL-1: each type that is refused, and why; each bound.
#[test]
fn dns_17_types_and_bounds() {
    let mut cluster = Cluster::new();
    for (number, why) in [
        (2, "NS cannot be kept: delegations are not supported"),
        (6, "SOA cannot be kept: the zone's own is made"),
        (39, "DNAME cannot be kept: names below it"),
        (46, "RRSIG cannot be kept: it is of signed zones (DNSSEC)"),
        (48, "DNSKEY cannot be kept: it is of signed zones (DNSSEC)"),
        (59, "TYPE59 cannot be kept: it is of signed zones (DNSSEC)"),
        (41, "TYPE41 cannot be kept: it stands in messages"),
        (255, "ANY cannot be kept: it stands in messages"),
        (0, "TYPE0 cannot be kept: it stands in messages"),
    ] {
        let faults = faults(cluster.apply(set("www", RecordType(number), TEXT)));
        assert!(faults.len() == 1 && faults[0].starts_with(&format!("type: {why}")), "{faults:?}");
    }
    let many: Vec<Vec<u8>> = (0..101_u8).map(|n| vec![1, n]).collect();
    let many: Vec<&[u8]> = many.iter().map(Vec::as_slice).collect();
    for (record_type, data, fault) in [
        (TXT, &[][..], "data: is empty; a set has one record at least, and 'delete' ends one"),
        (TXT, &many, "data: 101 records are too many; at most 100 are allowed"),
        (TXT, &[TEXT, b"\x05other", TEXT], "data[2]: is given twice"),
        (TXT, &[&[0; 16_385]], "data: 16385 bytes are too many; at most 16384 are allowed"),
        (RecordType::A, &[TEXT], "data[0]: 5 bytes are no IPv4 address"),
        (RecordType::AAAA, &[TEXT], "data[0]: 5 bytes are no IPv6 address"),
        (RecordType::CNAME, &[TEXT], "data[0]: 5 bytes are no name"),
        (
            RecordType::CNAME,
            &[b"\x01a\x00", b"\x01b\x00"],
            "data: 2 aliases of one name; a name has one at most",
        ),
        (
            RecordType::CNAME,
            &[&alias("www.example.com")],
            "data[0]: 'www.example.com' is the alias's own name",
        ),
    ] {
        assert_eq!(faults(cluster.apply(set_in("example.com", "www", record_type, data))), [fault]);
    }
    cluster.apply(set_in("example.com", "www", TXT, &many[..100])).unwrap();
    let Action::SetRecords { zone, relative_name, record_type, data, .. } = set("a..b", RecordType::NS, TEXT)
    else {
        unreachable!("a wish for records")
    };
    let all = Action::SetRecords { zone, relative_name, record_type, ttl: u32::MAX, data, if_revision: None };
    let all = faults(cluster.apply(all));
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(all[0], "relative_name: 'a..b' has an empty label");
    assert_eq!(all[2], "ttl: 4294967295 is outside 0–2147483647");
    let wildcard = faults(cluster.apply(set("*", TXT, TEXT)));
    assert_eq!(wildcard, ["relative_name: '*' is a wildcard; wildcards are not supported"]);
    let elsewhere = set_in("example.org", "www", TXT, &[TEXT]);
    assert_eq!(
        refusal(cluster.apply(elsewhere)),
        "there is no zone 'example.org'; did you mean 'example.com'?"
    );
}

#[test]
fn dns_17_a_name_is_a_profiles_or_has_static_records() {
    let mut cluster = Cluster::with_web(1);
    assert_eq!(
        faults(cluster.apply(set("web", TXT, TEXT))),
        ["relative_name: 'web.example.com' is the name of the profile 'web' already"]
    );
    cluster.apply(set("api", TXT, TEXT)).unwrap();
    cluster.apply(set("api", MX, TEXT)).unwrap();
    assert_eq!(
        faults(cluster.apply(create_profile("api", "api", vec![]))),
        ["relative_name: 'api.example.com' has static records (MX, TXT), so that no profile can stand there"]
    );
    cluster.apply(delete("api", TXT)).unwrap();
    cluster.apply(delete("api", MX)).unwrap();
    cluster.apply(create_profile("api", "api", vec![])).unwrap();
    cluster.apply(set("below.web", TXT, TEXT)).unwrap();
}

#[test]
fn dns_17_an_alias_stands_alone_and_not_at_the_apex() {
    let mut cluster = Cluster::new();
    let target = alias("www.example.net");
    cluster.apply(set("a", TXT, TEXT)).unwrap();
    cluster.apply(set("b", RecordType::CNAME, &target)).unwrap();
    assert_eq!(
        faults(cluster.apply(set("a", RecordType::CNAME, &target))),
        ["type: 'a.example.com' has TXT records, and an alias (CNAME) stands alone"]
    );
    assert_eq!(
        faults(cluster.apply(set("b", TXT, TEXT))),
        ["type: 'b.example.com' has CNAME records, and an alias (CNAME) stands alone"]
    );
    assert_eq!(
        faults(cluster.apply(set("@", RecordType::CNAME, &target))),
        ["type: 'example.com' is the zone's own name, where no alias can stand beside SOA and NS"]
    );
    cluster.apply(set("b", RecordType::CNAME, &alias("www.example.org"))).unwrap();
    cluster.apply(set("@", TXT, TEXT)).unwrap();
}

#[test]
fn dns_17_a_name_server_has_its_addresses_from_its_zone() {
    let mut cluster = Cluster::new();
    for (record_type, data) in [(RecordType::A, vec![192, 0, 2, 1]), (RecordType::CNAME, alias("a.example"))]
    {
        assert_eq!(
            faults(cluster.apply(set("ns1", record_type, &data))),
            [
                "relative_name: 'ns1.example.com' is a name server of the zone 'example.com', which gives its addresses"
            ]
        );
    }
    cluster.apply(set("ns1", TXT, TEXT)).unwrap();
    cluster.apply(set("ns2", TXT, TEXT)).unwrap();
    cluster.apply(set("ns2", RecordType::AAAA, &[1; 16])).unwrap();
    let fields = zone_fields(&[("ns2.example.com", &["192.0.2.54"])]);
    let update = Action::UpdateZone { name: "example.com".into(), fields, if_revision: None };
    assert_eq!(
        faults(cluster.apply(update.clone())),
        ["name_servers[0].name: 'ns2.example.com' has static records (AAAA), which say where it is"]
    );
    cluster.apply(delete("ns2", RecordType::AAAA)).unwrap();
    cluster.apply(update).unwrap();
}

#[test]
fn dns_17_zones_nest_without_taking_records_and_go_when_they_are_empty() {
    let mut cluster = Cluster::new();
    let zone = |name: &str| create_zone(name, &[("ns.example.net", &[])]);
    let delete_zone = |name: &str| Action::DeleteZone { name: name.into(), if_revision: None };
    cluster.apply(set("a.lb", TXT, TEXT)).unwrap();
    assert_eq!(
        faults(cluster.apply(zone("lb.example.com"))),
        [
            "name: 'lb.example.com' would take names from static records of the zone around it: 'a.lb.example.com TXT'"
        ]
    );
    assert_eq!(
        refusal(cluster.apply(delete_zone("example.com"))),
        "the zone 'example.com' is in use by record set 'a.lb.example.com TXT'"
    );
    cluster.apply(delete("a.lb", TXT)).unwrap();
    cluster.apply(zone("lb.example.com")).unwrap();
    assert_eq!(
        faults(cluster.apply(set("a.lb", TXT, TEXT))),
        [
            "relative_name: 'a.lb.example.com' lies in the zone 'lb.example.com', which is closer than 'example.com'"
        ]
    );
    cluster.apply(set_in("lb.example.com", "a", TXT, &[TEXT])).unwrap();
    cluster.apply(delete_zone("example.com")).unwrap();
    assert!(cluster.apply(delete_zone("lb.example.com")).is_err());
}

#[test]
fn dns_17_ds_stands_in_the_zone_around_the_one_it_is_of() {
    let mut cluster = Cluster::new();
    let zone = |name: &str| create_zone(name, &[("ns.example.net", &[])]);
    let delete_zone = |name: &str| Action::DeleteZone { name: name.into(), if_revision: None };
    let signer = |zone: &str, relative_name: &str| set_in(zone, relative_name, RecordType::DS, &[TEXT]);
    assert_eq!(
        faults(cluster.apply(signer("example.com", "a.lb"))),
        [
            "relative_name: 'a.lb.example.com' is no zone of this cluster; DS records stand at the name of one that is \
             nested in 'example.com'"
        ]
    );
    assert_eq!(
        faults(cluster.apply(signer("example.com", "@"))),
        [
            "relative_name: 'example.com' is the zone's own name; its DS records belong to the zone around it, which is \
             not kept here"
        ]
    );
    cluster.apply(zone("a.lb.example.com")).unwrap();
    assert_eq!(
        faults(cluster.apply(signer("a.lb.example.com", "@"))),
        ["relative_name: the DS records of 'a.lb.example.com' belong to the zone around it, 'example.com'"]
    );
    // A profile at the nested zone's own name is no more in the way than its own records are.
    let apex = create_in("a.lb.example.com", "apex", "@", priority_routing(), named(&[("e1", "192.0.2.1")]));
    cluster.apply(apex).unwrap();
    cluster.apply(signer("example.com", "a.lb")).unwrap();
    cluster.apply(Action::DeleteProfile { name: "apex".into(), if_revision: None }).unwrap();
    assert_eq!(
        faults(cluster.apply(zone("lb.example.com"))),
        [
            "name: 'lb.example.com' would take names from static records of the zone around it: 'a.lb.example.com DS'"
        ]
    );
    assert_eq!(
        refusal(cluster.apply(delete_zone("a.lb.example.com"))),
        "the zone 'a.lb.example.com' is in use by record set 'a.lb.example.com DS'"
    );
    let own = set_in("a.lb.example.com", "@", TXT, &[TEXT]);
    cluster.apply(own).unwrap();
    cluster.apply(create_in("a.lb.example.com", "apex", "x", priority_routing(), vec![])).unwrap();
    let ds = cluster.state.record_set(&Name::parse("a.lb.example.com").unwrap(), RecordType::DS);
    assert_eq!(ds.map(|set| set.zone.to_string()).as_deref(), Some("example.com"));
}
