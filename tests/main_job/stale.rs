//! A member that is cut off: it goes on answering, or, where the operator wants it so, leaves that to others.

use std::path::Path;

use harness::eventually::claim;
use harness::{Cluster, Member, eventually};

/// The shortest that the timers `local` allow.
const MAX_STALE_MS: u64 = 4_000;
const NAME: &str = "web.waymark.test";

/// Four members, all but the last with `max_stale`. They survive the loss of one, not of two.
fn cluster() -> Cluster {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let member = |number: usize, directory: &Path| {
        let mut member = Member::new(&format!("m{number}"), directory);
        if number < 4 {
            member.flags = vec!["--max-stale".to_owned(), format!("{MAX_STALE_MS}ms")];
        }
        member
    };
    let members = (1..=4).map(|number| member(number, directory.path())).collect();
    let cluster = Cluster::found(directory, members);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cli.ok("endpoint add web e1 --target 192.0.2.1 --wait all");
    cluster
}

/// DNS-21: without a majority, a member with `max_stale` answers SERVFAIL after it, the leader included, and one without goes
/// on answering; status tells the age; both recover by themselves.
#[test]
fn dns_21_a_member_that_is_cut_off_refuses_service_only_after_max_stale() {
    let mut cluster = cluster();
    let leader = cluster.leader();
    let (bound, unbound) = (if leader == 3 { 0 } else { leader }, 3);
    let lost: Vec<usize> = (0..3).filter(|at| *at != bound).take(2).collect();
    let (bound_dns, unbound_dns) = (cluster.members[bound].dns, cluster.members[unbound].dns);
    let answer = |of| harness::dns::short(of, NAME, "A");
    let ages = |cluster: &Cluster, of: usize| {
        let status = cluster.cli_of(of).json("cluster status");
        let members = status["members"].as_array().cloned().unwrap_or_default();
        let age = move |at: usize| {
            let name = format!("m{}", at + 1);
            members
                .iter()
                .find(|member| member["name"] == name.as_str())
                .map(|member| member["ageMs"].clone())
        };
        [age(bound), age(unbound), age(lost[0])]
    };
    assert_eq!(answer(bound_dns), "192.0.2.1");
    lost.iter().for_each(|at| cluster.members[*at].kill());
    eventually("the member with max_stale refuses service", || {
        claim(answer(bound_dns) == "ServFail", answer(bound_dns))
    });
    let reply = harness::dns::ask_tcp(bound_dns, NAME, "A").expect("a reply over TCP");
    assert!(reply.answers.is_empty(), "{reply:?}");
    let told = cluster.cli_of(bound).ok("explain web.waymark.test");
    assert!(told.contains("SERVFAIL: this member is cut off"), "{told}");
    let health = reqwest::blocking::get(format!("http://{}/readyz", cluster.members[bound].http)).unwrap();
    assert_eq!(health.status(), 503);
    let lines = health.text().unwrap();
    assert!(lines.contains("[no] state not older than max_stale"), "{lines}");
    eventually("the age of both is told, and that of the lost is not", || {
        let [bound, unbound, lost] = ages(&cluster, unbound);
        let is_old = |age: &Option<serde_json::Value>| {
            age.as_ref().and_then(serde_json::Value::as_u64).is_some_and(|age| age > MAX_STALE_MS)
        };
        let seen = format!("{bound:?} {unbound:?} {lost:?}");
        claim(is_old(&bound) && is_old(&unbound) && lost == Some(serde_json::Value::Null), seen)
    });
    assert_eq!(answer(unbound_dns), "192.0.2.1", "without max_stale there is no limit");

    lost.iter().for_each(|at| cluster.members[*at].start());
    eventually("it answers again", || claim(answer(bound_dns) == "192.0.2.1", answer(bound_dns)));
    assert_eq!(answer(unbound_dns), "192.0.2.1");
}
