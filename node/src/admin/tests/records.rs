//! Static records, method by method.

use tonic::Code;
use waymark_proto::admin::v1::{
    DeleteRecordSetRequest, ExplainRequest, GetRecordSetRequest, ListRecordSetsRequest, Page, RecordSet,
    SetRecordSetRequest, WriteOptions,
};

use super::fixture::{Fixture, at_revision, faults};

const ZONE: &str = "tm.example.com";

fn wish(relative_name: &str, r#type: &str, data: &[&str]) -> RecordSet {
    RecordSet {
        zone: ZONE.into(),
        relative_name: relative_name.into(),
        r#type: r#type.into(),
        data: data.iter().map(ToString::to_string).collect(),
        ..RecordSet::default()
    }
}

fn set(record_set: RecordSet, write: Option<WriteOptions>) -> SetRecordSetRequest {
    SetRecordSetRequest { record_set: Some(record_set), write }
}

fn get(relative_name: &str, r#type: &str) -> GetRecordSetRequest {
    let (relative_name, r#type) = (relative_name.into(), r#type.into());
    GetRecordSetRequest { zone: ZONE.into(), relative_name, r#type, read: None }
}

#[tokio::test]
async fn dns_17_records_are_set_shown_explained_and_deleted() {
    let fixture = Fixture::furnished().await;
    let mut records = fixture.records();
    let mail = wish("@", "mx", &["10 Mail.example.net", "0 ."]);
    let made = records.set_record_set(set(mail, None)).await.unwrap().into_inner().revision;
    let shown = records.get_record_set(get("@", "MX")).await.unwrap().into_inner();
    let expected = RecordSet {
        ttl_seconds: Some(3_600),
        revision: made,
        ..wish("@", "MX", &["10 mail.example.net.", "0 ."])
    };
    assert_eq!(shown, expected);
    let question = ExplainRequest { name: ZONE.into(), r#type: "MX".into(), ..ExplainRequest::default() };
    let explained = fixture.answers().explain(question).await.unwrap().into_inner();
    assert_eq!(explained.reason, "static records: 2 of type MX at tm.example.com");
    assert_eq!(explained.answers[0].data, "10 mail.example.net.", "RTE-15: as it is set");

    // What is shown can be set: nothing changes.
    let again = records.set_record_set(set(shown.clone(), at_revision(made))).await.unwrap().into_inner();
    assert_eq!(again.revision, made);
    let changed = RecordSet { ttl_seconds: Some(60), ..shown };
    let stale = records.set_record_set(set(changed, at_revision(1))).await.unwrap_err();
    assert_eq!(stale.code(), Code::Aborted, "OBJ-8: {stale}");

    let delete = DeleteRecordSetRequest {
        zone: ZONE.into(),
        relative_name: "@".into(),
        r#type: "MX".into(),
        write: at_revision(made),
    };
    records.delete_record_set(delete).await.unwrap();
    let gone = records.get_record_set(get("@", "MX")).await.unwrap_err();
    assert_eq!(gone.code(), Code::NotFound);
}

#[tokio::test]
async fn dns_17_records_are_listed_by_zone_page_by_page() {
    let fixture = Fixture::founded().await;
    let mut records = fixture.records();
    for zone in [ZONE, "b.example"] {
        fixture.create_zone(zone).await;
        for name in ["b", "a", "@"] {
            let wish = RecordSet { zone: zone.into(), ..wish(name, "TXT", &["\"x\""]) };
            records.set_record_set(set(wish, None)).await.unwrap();
        }
    }
    for (zone, count) in [(ZONE, 3), ("", 6)] {
        let (mut names, mut token) = (Vec::new(), String::new());
        loop {
            let page = Some(Page { size: 2, token });
            let request = ListRecordSetsRequest { zone: zone.into(), page, read: None };
            let listed = records.list_record_sets(request).await.unwrap().into_inner();
            names.extend(listed.record_sets.into_iter().map(|set| set.relative_name));
            token = listed.next_page_token;
            if token.is_empty() {
                break;
            }
        }
        assert_eq!(names, ["@", "a", "b", "@", "a", "b"][..count]);
    }
    let list = |zone: &str| ListRecordSetsRequest { zone: zone.into(), page: None, read: None };
    let unknown = records.list_record_sets(list("b.exampel")).await.unwrap_err();
    assert!(unknown.code() == Code::NotFound && unknown.message().contains("b.example"), "{unknown}");
    let other = records.get_record_set(get("a", "MX")).await.unwrap_err();
    assert!(other.message().contains("did you mean 'a.tm.example.com TXT'"), "{other}");
}

#[tokio::test]
async fn val_1_text_and_rules_are_judged_at_once() {
    let fixture = Fixture::furnished().await;
    let mut records = fixture.records();
    let mut refused = async |wish: RecordSet| {
        faults(&records.set_record_set(set(wish, None)).await.expect_err("it is refused"))
    };
    let bad = RecordSet { ttl_seconds: Some(u32::MAX), ..wish("web", "MX", &["ten a", "10 a", "10"]) };
    assert_eq!(
        refused(bad).await,
        [
            "data[0]: preference: 'ten' is no whole number, 0–65535",
            "data[2]: ends before its exchange; MX data is written: PREFERENCE EXCHANGE",
            "relative_name: 'web.tm.example.com' is the name of the profile 'web' already",
            "ttl: 4294967295 is outside 0–2147483647",
        ]
    );
    assert_eq!(
        refused(wish("x", "CNAM", &["a"])).await,
        [
            "type: 'CNAM' is no record type (did you mean CNAME?); any type can be written by its number, as in TYPE65"
        ]
    );
    let delegation = refused(wish("x", "NS", &["ns.example.net"])).await;
    assert!(
        delegation.len() == 1 && delegation[0].contains("delegations are not supported"),
        "{delegation:?}"
    );
    assert_eq!(
        refused(wish("x", "A", &["192.0.2"])).await,
        ["data[0]: address: '192.0.2' is no IPv4 address"]
    );
    assert_eq!(
        refused(wish("x", "TXT", &[])).await,
        ["data: is empty; a set has one record at least, and 'delete' ends one"]
    );
}
