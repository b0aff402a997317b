//! What members measure of those who ask over TCP decides `performance` (RTE-7).

use harness::eventually::claim;
use harness::{Cluster, Member, dns, eventually};

const REGIONS: [&str; 3] = ["aws:eu-central-1", "aws:us-east-1", "aws:ap-northeast-1"];

/// Three members in three regions; a client that has asked each of them three times over TCP is known to all, and no row of
/// the operator's is needed.
#[test]
fn rte_7_members_learn_how_far_clients_are() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let members = REGIONS.iter().enumerate().map(|(at, region)| {
        let mut member = Member::new(&format!("m{}", at + 1), directory.path());
        member.flags = vec!["--region".into(), (*region).into()];
        member
    });
    let members = members.collect();
    let cluster = Cluster::found(directory, members);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing performance");
    for (at, region) in REGIONS.iter().enumerate() {
        cli.ok(&format!(
            "endpoint add web e{at} --target 192.0.2.{at} --location {region} --always-serve on"
        ));
    }
    let explained = || cli.json("explain web.waymark.test --from 127.0.0.1");
    let before = explained();
    assert!(before["latencyRow"].is_null(), "{before}");
    for member in &cluster.members {
        for _ in 0..3 {
            eventually("the member answers over TCP", || dns::ask_tcp(member.dns, "web.waymark.test", "A"));
        }
    }
    eventually("the client's network is learned for all regions", || {
        let explained = explained();
        let rule = explained["profiles"][0]["rule"].as_str().unwrap_or_default();
        claim(rule.contains("by the learned latency row 127.0.0.0/24"), explained.to_string())
    });
    let row = explained()["latencyRow"].as_str().map(str::to_owned).unwrap_or_default();
    assert!(row.starts_with("127.0.0.0/24: ") && row.ends_with(" (learned)"), "{row}");
    let listed = cli.json("latency learned");
    let known = &listed["rows"][0]["latencies"];
    assert!(REGIONS.iter().all(|region| known[*region]["milliseconds"].is_u64()), "{listed}");
    let shown = cli.ok("latency show --from 127.0.0.9");
    assert!(shown.contains("127.0.0.0/24") && shown.contains("CONFIRMED"), "{shown}");
}
