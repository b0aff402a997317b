//! Snapshots: written, read back, sent to a member that is far behind, and refused when damaged.

use std::fs;
use std::path::{Path, PathBuf};

use super::running::{Running, cluster_with, eventually, until};
use crate::raft::{Compaction, OpenError};

/// Snapshots come early and the log keeps next to nothing.
const EAGER: Compaction = Compaction { snapshot_after_entries: 20, keep_entries: 2 };

fn files(data_dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(data_dir.join("snapshots")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn first_entry_kept(member: &Running) -> u64 {
    let seat = member.membership.base.seat().unwrap();
    seat.metrics().purged.map_or(0, |id| id.index + 1)
}

/// Writes until a snapshot has replaced the beginning of the log.
async fn write_until_purged(member: &Running) {
    for number in 0..50 {
        member.set_region(&format!("r{number}")).await;
    }
    until("the log's beginning is purged", || first_entry_kept(member) > 10).await;
}

fn has_all(member: &Running) -> bool {
    (0..50).all(|number| member.has_region(&format!("r{number}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_6_a_fresh_member_is_brought_up_by_a_snapshot() {
    let (dir, members) = cluster_with(1, EAGER).await;
    write_until_purged(&members[0]).await;
    let fresh = Running::start_with("fresh", dir.path(), EAGER).await;
    members[0].membership.add(&fresh.address, false).await.unwrap();
    until("the fresh member has everything", || has_all(&fresh)).await;
    assert!(first_entry_kept(&fresh) > 10, "it did not come entry by entry");
    assert_eq!(fresh.reader.view().state, members[0].reader.view().state);
    fresh.set_region("more").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_6_a_member_that_was_away_for_long_catches_up_by_a_snapshot() {
    let (_dir, mut members) = cluster_with(3, EAGER).await;
    let away = members.pop().unwrap().stop().await;
    write_until_purged(&members[0]).await;
    let back = away.start().await;
    until("it has everything", || has_all(&back)).await;
    eventually("states are equal", || async {
        back.proposer.read_barrier().await.map_err(drop)?;
        members[0].proposer.read_barrier().await.map_err(drop)?;
        if back.reader.view().state == members[0].reader.view().state { Ok(()) } else { Err(()) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_3_a_member_starts_from_its_snapshot_and_the_log_after_it() {
    let (_dir, mut members) = cluster_with(1, EAGER).await;
    write_until_purged(&members[0]).await;
    members[0].set_region("last").await;
    let before = members[0].reader.view().state.clone();
    let stopped = members.remove(0).stop().await;
    assert_eq!(files(&stopped.config.data_dir).len(), 1, "the last snapshot is kept, and nothing else");
    let member = stopped.start().await;
    member.proposer.read_barrier().await.unwrap();
    assert_eq!(member.reader.view().state, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_3_a_damaged_or_missing_snapshot_is_refused_in_one_line() {
    let (_dir, mut members) = cluster_with(1, EAGER).await;
    write_until_purged(&members[0]).await;
    let stopped = members.remove(0).stop().await;
    let config = stopped.config.clone();
    let path = files(&config.data_dir).remove(0);
    let whole = fs::read(&path).unwrap();
    let refusal = async || {
        crate::raft::Member::open(config.clone(), crate::publication::no_tables())
            .await
            .err()
            .expect("it is refused")
    };
    for at in [0, 9, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 16;
        fs::write(&path, damaged).unwrap();
        let error = refusal().await;
        assert!(matches!(error, OpenError::Snapshot { .. }), "byte {at}: {error}");
        let text = error.to_string();
        assert!(
            text.lines().count() == 1 && text.contains("checksum") && text.contains("add a new member"),
            "{text}"
        );
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(refusal().await, OpenError::Snapshot { .. }));
    fs::remove_file(&path).unwrap();
    let error = refusal().await;
    assert!(error.to_string().contains("snapshot that replaces its beginning is missing"), "{error}");
    fs::write(&path, &whole).unwrap();
    fs::write(path.with_file_name("7.tmp"), b"half").unwrap();
    let member = stopped.start().await;
    assert_eq!(files(&config.data_dir), [path], "what a crash left is cleaned up");
    eventually("it leads again", || member.proposer.read_barrier()).await;
    assert!(has_all(&member));
}
