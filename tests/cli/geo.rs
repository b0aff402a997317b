//! Where clients are: tables that come while members answer, and overrides, from the CLI to every member's answer.

use std::path::Path;

use harness::eventually::claim;
use harness::load::Load;
use harness::process::Signal;
use harness::{Cluster, Member, dns, eventually};

#[path = "../../node/src/geo/fixture.rs"]
#[allow(dead_code, reason = "the member's own tests write damaged databases, too")]
mod mmdb;

use mmdb::{Mmdb, country};

/// A database that says where 127.0.0.0/8 and 198.51.100.0/24 are.
fn write(path: &Path, place: &'static str) {
    let content =
        Mmdb::of("country").with("127.0.0.0/8", country(place)).with("198.51.100.0/24", country(place));
    // Put in its place by renaming, so that no member reads half of it.
    let draft = path.with_extension("draft");
    std::fs::write(&draft, content.bytes()).expect("the draft can be written");
    std::fs::rename(draft, path).expect("it can be renamed");
}

/// Every member locates an address of the database there.
#[track_caller]
fn located(cluster: &Cluster, place: &str) {
    for member in 0..cluster.members.len() {
        eventually("the member goes by the table", || {
            let found = cluster.cli_of(member).json("geo lookup 198.51.100.7 --stale");
            claim(found["place"] == place, found.to_string())
        });
    }
}

/// Asks the member for the digest of the newest table that it has read.
fn newest(cluster: &Cluster, member: usize) -> Option<String> {
    let listed = cluster.cli().json("geo tables");
    let tables = listed["members"][member]["tables"].as_array()?;
    tables.iter().find(|table| table["newest"] == true)?["digest"].as_str().map(str::to_owned)
}

fn reread(cluster: &mut Cluster, path: &Path, place: &'static str) {
    let before: Vec<_> = (0..3).map(|member| newest(cluster, member)).collect();
    write(path, place);
    cluster.members.iter_mut().for_each(|member| member.process().signal(Signal::HUP));
    for (member, before) in before.iter().enumerate() {
        eventually("the database is read", || claim(newest(cluster, member) != *before, "the same table"));
    }
}

/// RTE-8, RTE-14, OPS-4, F-SEC-07: three members, a database that changes, and queries all the while.
#[test]
fn rte_14_a_new_geo_table_is_switched_on_all_members_without_a_lost_query() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("places.mmdb");
    write(&path, "FR");
    let mut members: Vec<Member> = (1..=3).map(|n| Member::new(&format!("m{n}"), directory.path())).collect();
    for member in &mut members[..2] {
        member.flags = vec!["--geo-database".into(), path.display().to_string()];
    }
    let mut cluster = Cluster::found(directory, members);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create map --zone waymark.test --relative-name map --routing geographic");
    cli.ok("endpoint add map world --target 192.0.2.1 --geo WORLD");
    cli.ok("endpoint add map france --target 192.0.2.2 --geo FR");
    cli.ok("endpoint add map germany --target 192.0.2.3 --geo DE --wait all");

    // Until it is chosen, a table is only there; and one that a member lacks is not chosen by accident.
    let place = cli.json("geo lookup 198.51.100.7")["place"].clone();
    assert!(place.is_null(), "{place}");
    eventually("both have read it", || claim(newest(&cluster, 0) == newest(&cluster, 1), "one lacks it"));
    let refused = cluster.cli_of(0).run("geo use newest");
    assert!(refused.code == 1 && refused.stderr.contains("m3 lacks it"), "{}", refused.stderr);
    cluster.cli_of(0).ok("geo use newest --allow-missing --wait all");
    let explained = cluster.cli_of(2).json("explain map.waymark.test --from 198.51.100.7");
    assert_eq!(
        explained["geoTableMissing"].as_str(),
        newest(&cluster, 0).as_deref(),
        "the third member says so"
    );
    assert!(cli.ok("geo tables").contains("m3 lack it"));

    // The third gets the file and a restart, and from then on goes by what the cluster goes by.
    cluster.members[2].process().terminate();
    cluster.members[2].flags = vec!["--geo-database".into(), path.display().to_string()];
    cluster.members[2].start();
    cluster.members[2].ready();
    located(&cluster, "FR");
    let addresses: Vec<_> = cluster.members.iter().map(|member| member.dns).collect();
    let load = Load::start(&addresses, "map.waymark.test.", "A", 200);
    reread(&mut cluster, &path, "DE");
    located(&cluster, "FR");
    cluster.cli().ok("geo use newest");
    located(&cluster, "DE");
    let tallied = load.stop();
    assert!(tallied.sent > 100 && (tallied.lost, tallied.bad) == (0, 0), "{tallied:?}");
    assert!(
        tallied.answers.contains_key("192.0.2.2") && tallied.answers.contains_key("192.0.2.3"),
        "{tallied:?}"
    );

    // A bad file changes nothing, nor does it at a start: the table in use is kept in the data directory.
    std::fs::write(&path, b"no database").unwrap();
    cluster.members.iter_mut().for_each(|member| member.process().signal(Signal::HUP));
    for member in &mut cluster.members {
        eventually("the file is refused", || {
            let log = member.process().log();
            claim(log.contains("is no whole database"), log)
        });
    }
    located(&cluster, "DE");
    cluster.members[1].kill();
    cluster.members[1].start();
    cluster.members[1].ready();
    located(&cluster, "DE");
    cluster.cli().ok("geo use embedded --wait all");
    assert!(cluster.cli().json("geo lookup 198.51.100.7")["place"].is_null());
}

/// RTE-8, VAL-1: the operator's word goes before the table's, on every member.
#[test]
fn rte_8_an_override_beats_the_table_until_it_is_deleted() {
    let cluster = Cluster::start(3);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create map --zone waymark.test --relative-name map --routing geographic");
    cli.ok("endpoint add map world --target 192.0.2.1 --geo WORLD");
    cli.ok("endpoint add map japan --target 192.0.2.2 --geo JP --wait all");
    let everywhere = |expected: (&str, u8)| {
        for member in &cluster.members {
            let (data, scope) = dns::ask_from(member.dns, "map.waymark.test.", "193.0.6.0/24").unwrap();
            assert_eq!((data.join(" ").as_str(), scope), (expected.0, Some(expected.1)), "{}", member.name);
        }
    };
    assert_eq!(
        dns::ask_from(cluster.members[0].dns, "map.waymark.test.", "193.0.6.0/24").unwrap().0,
        ["192.0.2.1"]
    );
    cli.ok("geo override set 193.0.6.0/24 jp --wait all");
    everywhere(("192.0.2.2", 24));
    let found = cli.json("geo lookup 193.0.6.139");
    assert_eq!((found["place"].as_str(), found["by"].as_str()), (Some("JP"), Some("override")), "{found}");
    let explained = cli.json("explain map.waymark.test --from 193.0.6.0/24");
    assert_eq!(explained["location"], "JP (Japan), by the operator");
    let refused = cli.run("geo override set 193.0.6.1/24 Japn");
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("network: '193.0.6.1/24' has bits set behind its prefix"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("did you mean JP"), "{}", refused.stderr);
    assert_eq!(cli.json("geo override list")["overrides"].as_array().map(Vec::len), Some(1));
    cli.ok("geo override delete 193.0.6.0/24 --wait all");
    assert_eq!(cli.json("geo lookup 193.0.6.139")["place"], "NL");
    let missing = cli.run("geo override delete 193.0.6.0/24");
    assert_eq!(missing.code, 3, "{}", missing.stderr);
}
