//! Members that lost something, were interrupted, or are not who they were.

use std::fs;
use std::path::Path;

use super::running::{Running, cluster, eventually, leader, until};
use crate::raft::data_dir::DataDir;
use crate::raft::{Member, MemberConfig, MembershipError, OpenError};

async fn refusal(config: &MemberConfig) -> OpenError {
    Member::open(config.clone(), crate::publication::no_tables()).await.err().expect("it is refused")
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_4_a_member_whose_disk_was_wiped_is_not_taken_for_itself() {
    let (_dir, mut members) = cluster(3).await;
    let stopped = members.remove(2).stop().await;
    fs::remove_dir_all(&stopped.config.data_dir).unwrap();
    let empty = stopped.start().await;
    // It is asked to take part under its old number and does not; nor can it be added while that number stands.
    let refused = members[0].membership.add(&empty.address, false).await.unwrap_err();
    assert!(
        matches!(&refused, MembershipError::Refused(text) if text.contains("has lost its data")),
        "{refused}"
    );
    assert_eq!(empty.membership.id(), None);
    members[0].set_region("eu").await;
    assert!(!empty.has_region("eu"));
    let trouble = trouble(&members[0], 3).await;
    assert!(trouble.contains("it is empty") && trouble.contains("add a new member"), "{trouble}");
    // Its own log says so too, as soon as somebody has asked it to take part.
    let told = async {
        while !empty.membership.base.refusals.has_told("this member is empty") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), told).await.expect("its own log says so");
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_4_a_member_with_the_data_of_another_cluster_is_refused_and_both_sides_say_why() {
    let (_dir, mut members) = cluster(3).await;
    let (_other_dir, mut strangers) = cluster(3).await;
    let stranger = strangers.remove(2).stop().await;
    let stopped = members.remove(2).stop().await;
    fs::remove_dir_all(&stopped.config.data_dir).unwrap();
    fs::rename(&stranger.config.data_dir, &stopped.config.data_dir).unwrap();
    let foreign = stopped.start().await;
    let (own, other) = (cluster_id(&members[0]), cluster_id(&strangers[0]));
    let told = format!("this is a member of cluster {other}, the request is for cluster '{own}'");
    until("its log says why", || foreign.membership.base.refusals.has_told(&told)).await;
    let trouble = trouble(&members[0], 3).await;
    assert!(trouble.contains(&format!("that of a member of cluster {other}")), "{trouble}");
    members[0].set_region("eu").await;
    assert!(!foreign.has_region("eu"));
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_2_a_member_whose_data_was_put_back_takes_no_part_and_says_why() {
    let (_dir, mut members) = cluster(3).await;
    let leading = leader(&members).await;
    let stopped = members.remove((leading + 1) % 3).stop().await;
    let data_dir = stopped.config.data_dir.clone();
    let old = data_dir.with_extension("old");
    copy(&data_dir, &old);
    let member = stopped.start().await;
    for name in ["eu", "us"] {
        members[0].set_region(name).await;
    }
    until("it has acknowledged them", || member.has_region("us")).await;
    let id = member.id();
    let stopped = member.stop().await;
    fs::remove_dir_all(&data_dir).unwrap();
    fs::rename(&old, &data_dir).unwrap();

    let config = stopped.config.clone();
    let member = stopped.start().await;
    let seat = member.membership.base.seat().unwrap();
    until("it notices", || seat.failure().is_some()).await;
    let trouble = trouble(&members[0], id.0).await;
    assert!(
        trouble.contains("put back to an older copy") && trouble.contains("add a new member"),
        "{trouble}"
    );
    members[0].set_region("ap").await;
    assert!(!member.has_region("us") && !member.has_region("ap"), "it does not follow any more");
    // Nor may it vote after a restart, when the leader that knew may be gone.
    drop(seat);
    member.stop().await;
    let text = refusal(&config).await.to_string();
    assert!(text.lines().count() == 1 && text.contains("its end is lost"), "{text}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

fn cluster_id(member: &Running) -> String {
    member.reader.view().state.cluster.clone()
}

/// What `member` says is wrong with the member `id`.
async fn trouble(member: &Running, id: u64) -> String {
    eventually("the trouble is shown", || async {
        let status = member.membership.status().await;
        status
            .members
            .into_iter()
            .find(|listed| listed.id.0 == id)
            .and_then(|listed| listed.trouble)
            .ok_or(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_4_a_wiped_log_under_a_kept_name_is_refused_in_one_line() {
    let (_dir, mut members) = cluster(1).await;
    let stopped = members.remove(0).stop().await;
    fs::remove_dir_all(stopped.config.data_dir.join("log")).unwrap();
    let text = refusal(&stopped.config).await.to_string();
    assert!(
        text.lines().count() == 1 && text.contains("is missing") && text.contains("add a new member"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_4_a_second_member_on_one_directory_is_refused_and_the_first_goes_on() {
    let (_dir, members) = cluster(1).await;
    let config = members[0].config.clone();
    let text = refusal(&config).await.to_string();
    assert!(text.lines().count() == 1 && text.contains("in use by another process"), "{text}");
    members[0].set_region("eu").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_1_founding_that_a_crash_broke_off_is_completed_by_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let member = Running::start("m1", dir.path()).await;
    // The last thing before the crash: it knows who it is, and nothing more.
    member.membership.base.take_seat("00ff", 1).await.unwrap();
    let member = member.stop().await.start().await;
    until("the cluster is founded", || member.reader.view().state.cluster == "00ff").await;
    member.set_region("eu").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_1_adding_that_a_crash_broke_off_is_completed_by_adding_again() {
    let (dir, members) = cluster(2).await;
    let cluster_id = members[0].reader.view().state.cluster.clone();
    let fresh = Running::start("fresh", dir.path()).await;
    // It was told who it is, and then the leader was lost.
    fresh.membership.base.take_seat(&cluster_id, 3).await.unwrap();
    let added = members[1].membership.add(&fresh.address, false).await.unwrap();
    assert_eq!((added.id.0, added.name.as_str()), (3, "fresh"));
    fresh.set_region("eu").await;
    assert!(fresh.has_region("eu"));
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_1_a_log_without_the_file_that_names_its_owner_is_refused() {
    let (_dir, mut members) = cluster(1).await;
    let stopped = members.remove(0).stop().await;
    let header = stopped.config.data_dir.join("member");
    let kept = fs::read(&header).unwrap();
    fs::remove_file(&header).unwrap();
    let text = refusal(&stopped.config).await.to_string();
    assert!(text.contains("the file 'member' beside it is missing"), "{text}");
    // Nor is it taken for another member's.
    let data_dir = DataDir::take(&stopped.config.data_dir).unwrap();
    data_dir.write_header(&DataDir::new_header("other", 1, "m1")).unwrap();
    data_dir.release();
    let text = refusal(&stopped.config).await.to_string();
    assert!(text.contains("it belongs to member 1 of cluster"), "{text}");
    fs::write(&header, kept).unwrap();
    let member = stopped.start().await;
    eventually("it leads again", || member.proposer.read_barrier()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_1_an_address_that_is_only_good_to_listen_on_is_not_advertised() {
    let (_dir, mut members) = cluster(1).await;
    let stopped = members.remove(0).stop().await;
    let config = MemberConfig { grpc_advertise: "http://0.0.0.0:7400".into(), ..stopped.config };
    assert!(matches!(refusal(&config).await, OpenError::Unspecified(_)));
}
