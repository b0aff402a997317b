//! Agents and the members that hold their streams.

use tonic::Code;
use waymark_core::model::Caseless;
use waymark_core::state::Action;
use waymark_proto::admin::v1::{DeleteRequest, GetRequest, ListRequest};

use super::fixture::{Fixture, at_revision, faults};

fn get(name: &str) -> GetRequest {
    GetRequest { name: name.into(), read: None }
}

#[tokio::test]
async fn agents_are_shown_with_region_member_and_session() {
    let fixture = Fixture::furnished().await;
    let mut agents = fixture.agents();
    let shown = agents.get_agent(get("A1")).await.unwrap().into_inner();
    assert_eq!((shown.name.as_str(), shown.region.as_str(), shown.lost), ("a1", "eu", false));
    assert_eq!((shown.member.as_str(), shown.member_id), ("m2", 2));
    assert_eq!((shown.version.as_str(), shown.run), ("0.1.0", 1));
    assert!(shown.session > 0 && shown.since_ms > 0);
    let listed = agents.list_agents(ListRequest::default()).await.unwrap().into_inner().agents;
    let names: Vec<&str> = listed.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["a1", "a2"]);
    let missing = agents.get_agent(get("a3")).await.unwrap_err();
    assert_eq!(missing.code(), Code::NotFound);
}

#[tokio::test]
async fn sta_5_only_a_lost_agent_can_be_forgotten() {
    let fixture = Fixture::furnished().await;
    let mut agents = fixture.agents();
    let delete = || DeleteRequest { name: "a1".into(), write: None };
    let refused = agents.delete_agent(delete()).await.unwrap_err();
    assert!(matches!(refused.code(), Code::FailedPrecondition | Code::InvalidArgument), "{refused}");

    let session = fixture.double.state().agents[&Caseless::new("a1")].session;
    fixture.double.commit(Action::LoseAgent { agent: "a1".into(), session });
    assert!(agents.get_agent(get("a1")).await.unwrap().into_inner().lost);
    agents.delete_agent(delete()).await.unwrap();
    assert_eq!(agents.get_agent(get("a1")).await.unwrap_err().code(), Code::NotFound);

    let bound = DeleteRequest { write: at_revision(1), ..delete() };
    let refused = agents.delete_agent(bound).await.unwrap_err();
    assert_eq!(faults(&refused), ["write.if_revision: cannot be given here: an agent has no revision"]);
}
