//! A flattened profile: the leader looks its names up, all members answer by addresses (DNS-16).

use harness::eventually::claim;
use harness::{Cluster, Member, eventually};
use serde_json::Value;

const ZONE: &str = "waymark.test";

/// The world that names are looked up in: a member of its own, which answers for `targets.test`.
fn world() -> Cluster {
    let world = Cluster::start(1);
    world.cli().ok("zone create targets.test --ns ns1.targets.test=127.0.0.1");
    set(&world, "A", "192.0.2.2 192.0.2.1");
    set(&world, "AAAA", "2001:db8::1");
    world
}

fn set(world: &Cluster, kind: &str, data: &str) {
    world.cli().ok(&format!("record set targets.test www {kind} {data} --ttl 5"));
}

/// Three members that ask `world`, and a flattened profile at their zone's own name.
fn cluster(world: &Cluster) -> Cluster {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let member = |number: usize| {
        let mut member = Member::new(&format!("m{number}"), directory.path());
        member.flags = vec!["--resolver".to_owned(), world.members[0].dns.to_string()];
        member
    };
    let members = (1..=3).map(member).collect();
    let cluster = Cluster::found(directory, members);
    let cli = cluster.cli();
    cli.ok(&format!("zone create {ZONE} --ns ns1.{ZONE}=127.0.0.1"));
    let plain = cli.run(&format!("profile create bare --zone {ZONE} --relative-name @ --routing priority"));
    assert_eq!(plain.code, 0, "{}", plain.stderr);
    let refused = cli.run("endpoint add bare e1 --target www.targets.test");
    assert!(refused.code != 0 && refused.stderr.contains("flatten"), "{}", refused.stderr);
    cli.ok("profile update bare --flatten on");
    cli.ok("endpoint add bare e1 --target www.targets.test");
    cluster
}

fn all_answer(cluster: &mut Cluster, kind: &str, expected: &str) {
    for at in 0..cluster.members.len() {
        if cluster.members[at].is_running() {
            let dns = cluster.members[at].dns;
            eventually(&format!("member {at} answers {kind} by {expected}"), || {
                let answer = harness::dns::short(dns, ZONE, kind);
                claim(answer == expected, answer)
            });
        }
    }
}

/// DNS-16: at the apex a name is answered by its addresses, on every member; when they change the answer follows, when they are
/// gone it stays, and another leader goes on. RTE-15: explain shows them.
#[test]
fn dns_16_a_flattened_name_is_answered_by_its_addresses_on_every_member() {
    let mut world = world();
    let mut cluster = cluster(&world);
    all_answer(&mut cluster, "A", "192.0.2.1 192.0.2.2");
    all_answer(&mut cluster, "AAAA", "2001:db8::1");
    let soa = harness::dns::short(cluster.members[0].dns, ZONE, "SOA");
    assert!(soa.starts_with("ns1."), "SOA and NS stand beside it: {soa}");
    let explained = cluster.cli().json(&format!("explain {ZONE}"));
    let endpoint = &explained["profiles"][0]["endpoints"][0];
    assert_eq!(
        endpoint["addresses"],
        serde_json::json!(["192.0.2.1", "192.0.2.2", "2001:db8::1"]),
        "{explained}"
    );
    assert!(endpoint["addressesSince"].is_string(), "{explained}");

    set(&world, "A", "192.0.2.3");
    all_answer(&mut cluster, "A", "192.0.2.3");

    let leader = cluster.leader();
    cluster.members[leader].kill();
    set(&world, "A", "192.0.2.4");
    all_answer(&mut cluster, "A", "192.0.2.4");
    cluster.members[leader].start();
    cluster.members[leader].ready();
    all_answer(&mut cluster, "A", "192.0.2.4");

    // Nobody answers for the target any more: its last addresses stay.
    world.members[0].kill();
    let counter = |cluster: &Cluster| cluster.status()["counter"].as_u64();
    let before = counter(&cluster);
    eventually("the leader has noticed", || {
        let logs = (0..3).map(|at| cluster.members[at].process().log());
        let noticed = logs.filter(|log| log.contains("cannot be resolved")).count();
        claim(noticed > 0, "no log tells of it")
    });
    all_answer(&mut cluster, "A", "192.0.2.4");
    assert_eq!(counter(&cluster), before, "nothing was committed");
    let explained: Value = cluster.cli().json(&format!("explain {ZONE} --type TXT"));
    assert_eq!(explained["rcode"], "NOERROR", "{explained}");
}
