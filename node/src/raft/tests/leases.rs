//! Sessions that are named stay, sessions that nobody names are lost.

use std::time::Duration;

use waymark_core::model::{AgentRun, Caseless};
use waymark_core::state::{Action, Command};

use super::running::{Running, cluster, leader};
use crate::raft::HeldSession;

async fn open_session(member: &Running, agent: &str) -> HeldSession {
    let action = Action::OpenSession {
        agent: agent.into(),
        region: "eu".into(),
        run: AgentRun(7),
        version: "0".into(),
        member: member.id(),
        is_blind: None,
    };
    let command = Command::of_cluster(action);
    let proposed = member.proposer.propose(vec![command]).await.unwrap();
    let session = proposed.replies[0].as_ref().unwrap().revision;
    HeldSession { agent: Caseless::new(agent), session }
}

fn is_lost(member: &Running, agent: &str) -> bool {
    member.reader.view().state.agents[&Caseless::new(agent)].lost
}

#[tokio::test(flavor = "multi_thread")]
async fn sta_5_a_session_that_no_member_names_is_lost_and_one_that_a_follower_names_is_not() {
    let (_dir, members) = cluster(2).await;
    members[0].set_region("eu").await;
    let follower = &members[1 - leader(&members).await];
    let named = open_session(follower, "named").await;
    let released = open_session(follower, "released").await;
    let silent = open_session(follower, "silent").await;
    follower.leases.heard(&released);
    follower.leases.release(&released);
    // Its stream is still held, but nothing comes from it any more.
    follower.leases.heard(&silent);

    let loss = async {
        while !is_lost(follower, "released") || !is_lost(follower, "silent") {
            follower.leases.heard(&named);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(26), loss).await.expect("it is lost in time");
    assert!(!is_lost(follower, "named"));
}
