//! CLU-9: members of two versions side by side. A member of the version before is one that supports the level before: `apply` goes by
//! the state's level alone, so that nothing else is otherwise.

use std::path::Path;
use std::sync::Arc;

use openraft::EntryPayload;
use openraft::storage::RaftStateMachine;
use prost::Message;
use tempfile::TempDir;
use waymark_core::model::{Edit, ProfilePatch, Timestamp};
use waymark_core::state::{Action, ApplyLevel, Command, EnrolmentWish, State, View};
use waymark_proto::convert::entry_message;

use super::running::{Running, cluster, eventually, region, until};
use super::store::log_id;
use crate::publication::{Reader, no_tables, publication};
use crate::raft::snapshot::Snapshots;
use crate::raft::state_machine::{Limits, Reached, StateMachine};
use crate::raft::types::{Entry, Payload};
use crate::raft::{BackUpSource, Member, MembershipError, OpenError, ProposeError};

const BEFORE: ApplyLevel = ApplyLevel(ApplyLevel::HIGHEST.0 - 1);

fn raise(to: u32) -> Command {
    Command::of_cluster(Action::RaiseApplyLevel { to: ApplyLevel(to) })
}

async fn start(name: &str, dir: &Path, level: ApplyLevel) -> Running {
    let mut stopped = Running::start(name, dir).await.stop().await;
    stopped.config.apply_level_max = level;
    stopped.start().await
}

/// A cluster whose members support these levels, at the first one's.
async fn cluster_at(levels: &[ApplyLevel]) -> (TempDir, Vec<Running>) {
    let dir = tempfile::tempdir().unwrap();
    let mut members = Vec::new();
    for (at, level) in levels.iter().enumerate() {
        members.push(start(&format!("m{}", at + 1), dir.path(), *level).await);
        match at {
            0 => drop(members[0].membership.init().await.unwrap()),
            _ => drop(members[0].membership.add(&members[at].address, false).await.unwrap()),
        }
    }
    (dir, members)
}

fn level(member: &Running) -> ApplyLevel {
    member.reader.view().state.apply_level
}

fn refusal(error: MembershipError) -> String {
    match error {
        MembershipError::Refused(text) => text,
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_9_the_level_is_raised_once_all_members_support_it_and_whoever_does_not_is_named() {
    let (dir, mut members) = cluster_at(&[BEFORE, BEFORE, ApplyLevel::HIGHEST]).await;
    let learner = start("m4", dir.path(), BEFORE).await;
    members[0].membership.add(&learner.address, true).await.unwrap();
    members.push(learner);
    for at in [0, 1, 3] {
        let text = refusal(members[2].membership.upgrade().await.unwrap_err());
        for old in at..4 {
            let named = text.contains(&format!("'m{}' supports up to {BEFORE}", old + 1));
            assert_eq!(named, old != 2, "{text}");
        }
        assert_eq!(refusal(members[1].membership.highest_for_all().await.unwrap_err()), text);
        assert_eq!(level(&members[2]), BEFORE);
        let mut stopped = members.remove(at).stop().await;
        stopped.config.apply_level_max = ApplyLevel::HIGHEST;
        members.insert(at, stopped.start().await);
        eventually("writes go on", || members[2].proposer.propose(vec![region("eu")])).await;
    }
    let away = members.pop().unwrap().stop().await;
    let text = refusal(members[2].membership.upgrade().await.unwrap_err());
    assert!(text.contains("learner 'm4' does not answer"), "{text}");
    members.push(away.start().await);
    eventually("the level is raised", || members[1].membership.upgrade()).await;
    until("all have applied it", || members.iter().all(|member| level(member) == ApplyLevel::HIGHEST)).await;
    // Once more changes nothing.
    let counter = |member: &Running| member.reader.view().state.counter;
    let before = counter(&members[1]);
    assert_eq!(members[1].membership.upgrade().await.unwrap(), ApplyLevel::HIGHEST);
    assert_eq!(counter(&members[1]), before);
    let status = members[0].membership.status().await;
    assert_eq!(status.apply_level, ApplyLevel::HIGHEST);
    assert!(status.members.iter().all(|member| member.apply_level_max == Some(ApplyLevel::HIGHEST)));
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_9_a_new_cluster_is_at_its_founders_level_and_takes_nobody_in_who_does_not_support_it() {
    let (dir, members) = cluster(1).await;
    assert_eq!(level(&members[0]), ApplyLevel::HIGHEST);
    let old = start("old", dir.path(), BEFORE).await;
    for as_learner in [false, true] {
        let text = refusal(members[0].membership.add(&old.address, as_learner).await.unwrap_err());
        let says = [format!("supports apply levels up to {BEFORE}"), "run the later version".into()];
        assert!(says.iter().all(|part| text.contains(part)), "{text}");
    }
    assert_eq!(old.membership.id(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_9_a_member_stops_before_a_level_that_it_does_not_support_and_goes_on_as_a_later_version() {
    let (_dir, mut members) = cluster_at(&[BEFORE, ApplyLevel::HIGHEST, ApplyLevel::HIGHEST]).await;
    members[1].set_region("eu").await;
    until("the old one has it, too", || members[0].has_region("eu")).await;
    eventually("another one leads", || members[1].membership.transfer("m2")).await;
    // A member does not propose what it would stop before; here one does that supports it, without having asked the others.
    let refused = members[0].proposer.propose(vec![raise(BEFORE.0 + 1)]).await.unwrap_err();
    assert!(
        matches!(&refused, ProposeError::Refused(text) if text.contains("'m1' supports up to")),
        "{refused}"
    );
    eventually("it is raised", || members[1].proposer.propose(vec![raise(BEFORE.0 + 1)])).await;
    let seat = members[0].membership.base.seat().unwrap();
    until("the old one stops", || seat.failure().is_some()).await;
    let text = seat.failure().unwrap().to_string();
    assert!(text.contains("needs apply level") && text.lines().count() == 1, "{text}");
    drop(seat);
    eventually("the others go on", || members[1].proposer.propose(vec![region("us")])).await;
    assert!(members[0].has_region("eu") && !members[0].has_region("us"), "its last state is still there");
    assert_eq!(level(&members[0]), BEFORE);
    let status = members[1].membership.status().await;
    let trouble = status.members[0].trouble.clone().unwrap();
    assert!(trouble.contains("needs apply level"), "{trouble}");
    let mut stopped = members.remove(0).stop().await;
    stopped.config.apply_level_max = ApplyLevel::HIGHEST;
    let member = stopped.start().await;
    until("as a later version it catches up", || member.has_region("us")).await;
    assert_eq!(level(&member), ApplyLevel::HIGHEST);
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_9_data_of_a_level_that_is_not_supported_is_refused_with_the_reason() {
    let (dir, mut members) = cluster(1).await;
    members[0].set_region("eu").await;
    let mut backup = members[0].membership.back_up(BackUpSource::Committed).await.unwrap();
    let old = start("old", dir.path(), BEFORE).await;
    let upload = old.membership.upload().unwrap();
    while let Some(part) = backup.next().await.unwrap() {
        upload.push(part.into()).await.unwrap();
    }
    let text = refusal(old.membership.restore(upload).await.unwrap_err());
    assert!(text.contains("is of apply level") && text.contains("nothing was changed"), "{text}");
    assert_eq!(old.membership.id(), None);

    let seat = members[0].membership.base.seat().unwrap();
    seat.raft.trigger().snapshot().await.unwrap();
    until("there is a snapshot", || seat.snapshots.current().is_some()).await;
    drop(seat);
    let mut stopped = members.remove(0).stop().await;
    stopped.config.apply_level_max = BEFORE;
    let refused = Member::open(stopped.config.clone(), no_tables()).await.err().unwrap();
    let text = refused.to_string();
    assert!(matches!(refused, OpenError::Later { .. }) && text.lines().count() == 1, "{text}");
    assert!(text.contains("is of apply level") && text.contains("run the later version"), "{text}");
    stopped.config.apply_level_max = ApplyLevel::HIGHEST;
    let member = stopped.start().await;
    assert!(member.has_region("eu"));
}

/// A state machine that supports `level`, without a log.
fn machine(dir: &Path, supported: ApplyLevel) -> (StateMachine, Reader, Limits) {
    let (snapshots, content) = Snapshots::open(dir, supported).unwrap();
    let (publisher, reader) = publication(View::default(), no_tables());
    let limits = Limits { ending: Arc::default(), supported };
    let machine = StateMachine::new(
        publisher,
        Arc::new(snapshots),
        Reached::of(content),
        Arc::default(),
        limits.clone(),
    );
    (machine, reader, limits)
}

fn entry(index: u64, bytes: Vec<u8>) -> Entry {
    Entry { log_id: log_id(index), payload: EntryPayload::Normal(Payload(bytes.into())) }
}

fn entry_of(index: u64, commands: &[Command]) -> Entry {
    entry(index, entry_message(Timestamp(1_700_000_000_000 + index), commands).encode_to_vec())
}

#[tokio::test]
async fn clu_9_old_and_new_members_never_differ_on_an_entry() {
    const FIRST: ApplyLevel = ApplyLevel::LOWEST;
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (mut old, old_reader, old_limits) = machine(dirs[0].path(), FIRST);
    let (mut new, new_reader, new_limits) = machine(dirs[1].path(), ApplyLevel::HIGHEST);
    let many = |from: usize, to: usize| (from..to).map(|at| region(&format!("r{at}"))).collect::<Vec<_>>();
    let limit = State::REGIONS_MAX;
    // The new version could refuse what is beyond the limit, and does not while the state is at the level before.
    for (at, commands) in [many(0, limit), many(limit, limit + 1)].iter().enumerate() {
        for machine in [&mut old, &mut new] {
            machine.apply([entry_of(at as u64 + 1, commands)]).await.unwrap();
        }
        assert!(old_reader.view().state == new_reader.view().state);
    }
    assert_eq!(old_reader.view().state.regions.len(), limit + 1);
    let raised = [entry_of(3, &[region("r0")]), entry_of(4, &[raise(FIRST.0 + 1), region("late")])];
    old.apply(raised.clone()).await.unwrap_err();
    new.apply(raised).await.unwrap();
    assert_eq!(new_reader.view().state.apply_level, ApplyLevel(FIRST.0 + 1));
    assert_eq!(new_reader.view().state.regions.len(), limit + 1, "now it is refused");
    // The old one has applied what came before, and nothing of the entry that it cannot apply.
    assert_eq!((old_reader.view().applied.0, old_reader.view().state.apply_level), (3, FIRST));
    let told = old_limits.ending.get().unwrap().to_string();
    assert!(told.contains(&format!("entry 4 of the log needs apply level {}", FIRST.0 + 1)), "{told}");
    assert_eq!(new_limits.ending.get(), None);
}

/// Actions that the level before does not know, each with the level that it needs.
fn above() -> [(Action, u32); 3] {
    let fields = ProfilePatch { max_removal: Edit::Set(20), ..ProfilePatch::default() };
    [
        (Action::Enrolment(EnrolmentWish::EndTokens { ended: Vec::new() }), 2),
        (Action::ReleaseBrakes { due: Vec::new() }, 3),
        (Action::UpdateProfile { name: "web".into(), fields, if_revision: None }, 3),
    ]
}

#[tokio::test]
async fn clu_9_a_member_stops_before_a_command_that_its_level_does_not_know() {
    for (action, needed) in above() {
        let dir = tempfile::tempdir().unwrap();
        let (mut machine, reader, limits) = machine(dir.path(), ApplyLevel(needed - 1));
        let entries = [entry_of(1, &[region("eu")]), entry_of(2, &[Command::of_cluster(action)])];
        machine.apply(entries).await.unwrap_err();
        let told = limits.ending.get().unwrap().to_string();
        assert!(told.contains(&format!("entry 2 of the log needs apply level {needed}")), "{told}");
        assert_eq!(reader.view().applied.0, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clu_9_what_needs_a_level_above_the_clusters_is_not_proposed_and_says_what_to_do() {
    let (_dir, members) = cluster_at(&[ApplyLevel(1), ApplyLevel(3)]).await;
    for member in &members {
        let before = member.reader.view().state.counter;
        for (action, needed) in above() {
            let refused = member.proposer.propose(vec![Command::of_cluster(action)]).await.unwrap_err();
            let (needed, present) = (ApplyLevel(needed), ApplyLevel(1));
            assert_eq!(refused, ProposeError::Level { needed, present });
            assert!(refused.to_string().contains("waymark cluster upgrade"), "{refused}");
        }
        assert_eq!(member.reader.view().state.counter, before, "nothing came of it");
    }
    // A member that has not applied the new level yet looks once more before it refuses.
    let (_dir, members) = cluster(2).await;
    for member in &members {
        let known = above().into_iter().map(|(action, _)| Command::of_cluster(action));
        member.proposer.propose(known.collect()).await.unwrap();
    }
}

#[tokio::test]
async fn clu_9_a_command_of_a_later_version_is_not_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let (mut machine, reader, limits) = machine(dir.path(), ApplyLevel::HIGHEST);
    // An entry with a command whose action has a number that no version has given yet: field 2, and in it field 1000.
    let command = [0xc2, 0x3e, 0x02, 0x08, 0x01];
    let unknown = [&[0x12, command.len() as u8], &command[..]].concat();
    let entries = [entry_of(1, &[region("eu")]), entry(2, unknown), entry_of(3, &[region("us")])];
    let error = machine.apply(entries).await.unwrap_err().to_string();
    let told = limits.ending.get().unwrap().to_string();
    for text in [error, told] {
        assert!(text.contains("entry 2 of the log cannot be read here"), "{text}");
        assert!(text.contains("a later version wrote it"), "{text}");
    }
    let view = reader.view();
    assert_eq!(
        (view.applied.0, view.state.regions.len()),
        (1, 1),
        "it stopped before it, and did not go on behind it"
    );
}
