//! Explain is the decision itself, told in words (RTE-15).

use std::net::IpAddr;

use waymark_core::answer::{Query, Record, decide};
use waymark_core::health::OutcomeClass;
use waymark_core::model::{LogIndex, Name, RecordType};
use waymark_core::routing::NoTrace;
use waymark_core::state::View;
use waymark_proto::admin::v1::{
    AnswerRecord, ExplainRequest, Explanation, Profile, Routing, Status, Verdict,
};

use super::fixture::{Fixture, faults, web};

async fn explain(fixture: &Fixture, request: ExplainRequest) -> Explanation {
    fixture.answers().explain(request).await.unwrap().into_inner()
}

fn ask(name: &str, record_type: &str) -> ExplainRequest {
    ExplainRequest { name: name.into(), r#type: record_type.into(), ..ExplainRequest::default() }
}

#[tokio::test]
async fn rte_15_every_endpoint_is_named_in_or_out_and_why() {
    let fixture = Fixture::furnished().await;
    fixture.report("a1", "one", 1, OutcomeClass::Timeout);
    fixture.report("a1", "two", 2, OutcomeClass::Ok);
    let told = explain(&fixture, ExplainRequest { draw: Some(7), ..ask("Web.TM.example.com.", "") }).await;
    assert_eq!((told.zone.as_str(), told.name.as_str()), ("tm.example.com", "web.tm.example.com"));
    assert_eq!((told.member.as_str(), told.r#type.as_str(), told.draw), ("m1", "A", 7));
    assert_eq!((told.client.as_str(), told.client_from.as_str()), ("127.0.0.1", "source"));
    assert!(told.applied > 0 && !told.reason.is_empty());
    assert_eq!(told.rcode, "NOERROR");
    assert_eq!(told.answers.len(), 1);
    let record = &told.answers[0];
    assert_eq!(
        (record.name.as_str(), record.ttl, record.r#type.as_str(), record.data.as_str()),
        ("web.tm.example.com.", 30, "A", "192.0.2.2")
    );

    let profile = &told.profiles[0];
    assert_eq!((profile.profile.as_str(), profile.pool.as_str()), ("web", "healthy"));
    assert_eq!((profile.chosen.join(" ").as_str(), profile.routing()), ("two", Routing::Priority));
    assert_eq!(profile.status(), Status::Degraded);
    assert!(!profile.rule.is_empty() && profile.revision > 0);
    let [one, two] = &profile.endpoints[..] else { panic!("{:?}", profile.endpoints) };
    assert!(!one.in_pool && two.in_pool);
    assert_eq!(one.reason, "out: Degraded, and 1 healthier endpoint is in the pool");
    assert_eq!(two.reason, "in: Online");
    assert_eq!((one.status(), one.target.as_str(), one.priority), (Status::Degraded, "192.0.2.1", 1));
    assert_eq!((one.regions[0].region.as_str(), one.regions[0].verdict()), ("eu", Verdict::Down));
}

fn lines(records: &[AnswerRecord]) -> Vec<String> {
    let line =
        |AnswerRecord { name, ttl, r#type, data }: &AnswerRecord| format!("{name} {ttl} {type} {data}");
    records.iter().map(line).collect()
}

fn decided_lines(records: &[Record]) -> Vec<String> {
    let line = |Record { name, ttl, data }: &Record| format!("{name}. {ttl} {} {data}", data.record_type());
    records.iter().map(line).collect()
}

#[tokio::test]
async fn rte_14_explain_equals_the_decision_with_the_same_draw() {
    let fixture = Fixture::furnished().await;
    let mut weighted = Profile { name: "w".into(), relative_name: "w".into(), ..web() };
    weighted.routing = Routing::Weighted.into();
    fixture.create_profile(weighted).await.unwrap();
    fixture.report("a1", "one", 1, OutcomeClass::Timeout);
    let view = View::of(fixture.double.state(), LogIndex(1));
    let names =
        ["w.tm.example.com", "web.tm.example.com", "tm.example.com", "no.tm.example.com", "example.org"];
    for i in 0..200_u64 {
        // A draw that is spread over all 64 bits, so that both weights come up.
        let draw = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let name = names[i as usize % names.len()];
        for (word, record_type) in
            [("A", RecordType::A), ("AAAA", RecordType::AAAA), ("SOA", RecordType::SOA)]
        {
            let told = explain(&fixture, ExplainRequest { draw: Some(draw), ..ask(name, word) }).await;
            let source: IpAddr = [127, 0, 0, 1].into();
            let query = Query { name: Name::parse(name).unwrap(), record_type, source, subnet: None };
            let decided = decide(&view, &query, draw, &mut NoTrace);
            assert_eq!(told.rcode, decided.rcode.as_str(), "{name} {word}");
            assert_eq!(lines(&told.answers), decided_lines(&decided.answers), "{name} {word}");
            assert_eq!(lines(&told.authority), decided_lines(&decided.authority), "{name} {word}");
            assert_eq!(lines(&told.additional), decided_lines(&decided.additional), "{name} {word}");
        }
    }
}

#[tokio::test]
async fn records_are_shown_as_dig_shows_them() {
    let fixture = Fixture::furnished().await;
    let soa = explain(&fixture, ask("tm.example.com", "soa")).await.answers.remove(0);
    let fields: Vec<&str> = soa.data.split(' ').collect();
    assert_eq!(fields[..2], ["ns1.tm.example.com.", "hostmaster.tm.example.com."]);
    assert_eq!((fields.len(), fields[3], fields[6]), (7, "3600", "30"));
    let ns = explain(&fixture, ask("tm.example.com", "NS")).await;
    assert_eq!(ns.answers[0].data, "ns1.tm.example.com.");
    assert_eq!((ns.additional[0].r#type.as_str(), ns.additional[0].data.as_str()), ("A", "192.0.2.53"));

    let nowhere = explain(&fixture, ask("nowhere.example", "TYPE65")).await;
    assert_eq!((nowhere.rcode.as_str(), nowhere.zone.as_str()), ("REFUSED", ""));
    assert_eq!(nowhere.r#type, "HTTPS");
    let missing = explain(&fixture, ask("no.tm.example.com", "A")).await;
    assert_eq!((missing.rcode.as_str(), missing.authority[0].r#type.as_str()), ("NXDOMAIN", "SOA"));
}

#[tokio::test]
async fn rte_1_an_ipv4_client_in_ipv6_clothes_is_an_ipv4_client() {
    let fixture = Fixture::furnished().await;
    let client = |client: &str| ExplainRequest { client: client.into(), ..ask("web.tm.example.com", "A") };
    assert_eq!(explain(&fixture, client("::ffff:192.0.2.7")).await.client, "192.0.2.7");
    assert_eq!(explain(&fixture, client("2001:db8::7")).await.client, "2001:db8::7");
}

#[tokio::test]
async fn val_1_every_fault_of_the_question_is_found() {
    let fixture = Fixture::furnished().await;
    let request = ExplainRequest { client: "here".into(), ..ask("a..b", "CNAM") };
    let faults = faults(&fixture.answers().explain(request).await.unwrap_err());
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert_eq!(faults[0], "name: 'a..b' has an empty label");
    assert!(faults[1].starts_with("type: 'CNAM'") && faults[1].contains("CNAME"), "VAL-3: {faults:?}");
    assert_eq!(faults[2], "client: 'here' is no IPv4 or IPv6 address or network");
}

#[tokio::test]
async fn cli_4_explain_needs_no_leader_and_draws_for_itself() {
    let fixture = Fixture::furnished().await;
    let barrier = Some(crate::raft::ProposeError::NoLeader);
    fixture.trouble(super::double::Trouble { barrier, ..Default::default() });
    let first = explain(&fixture, ask("web.tm.example.com", "A")).await;
    let second = explain(&fixture, ask("web.tm.example.com", "A")).await;
    assert_ne!(first.draw, second.draw);
}
