//! openraft's own tests of a log store and a state machine.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use openraft::testing::{StoreBuilder, Suite};
use tempfile::TempDir;
use waymark_core::state::{ApplyLevel, View};

use crate::publication::{no_tables, publication};
use crate::raft::data_dir::DataDir;
use crate::raft::log_kind::LogKind;
use crate::raft::log_opening;
use crate::raft::log_store::LogStore;
use crate::raft::snapshot::Snapshots;
use crate::raft::state_machine::{Limits, Reached, StateMachine};
use crate::raft::types::{StorageError, TypeConfig};

struct Builder(LogKind);

impl StoreBuilder<TypeConfig, LogStore, StateMachine, TempDir> for Builder {
    async fn build(&self) -> Result<(TempDir, LogStore, StateMachine), StorageError> {
        let dir = tempfile::tempdir().unwrap();
        let owner = DataDir::new_header("cluster", 1, "m1");
        log_opening::create(dir.path(), self.0, &owner).unwrap();
        let log = log_opening::open(dir.path(), self.0, &owner).unwrap();
        let (snapshots, content) = Snapshots::open(dir.path(), ApplyLevel::HIGHEST).unwrap();
        let (publisher, _reader) = publication(View::default(), no_tables());
        let backlog = Arc::new(AtomicU64::new(0));
        let limits = Limits { ending: Arc::default(), supported: ApplyLevel::HIGHEST };
        let beginning = Reached::of(content);
        Ok((dir, log, StateMachine::new(publisher, Arc::new(snapshots), beginning, backlog, limits)))
    }
}

#[test]
fn clu_2_openrafts_storage_suite_passes() {
    Suite::test_all(Builder(LogKind::Sled)).unwrap();
}

#[cfg(feature = "redb")]
#[test]
fn clu_2_openrafts_storage_suite_passes_on_redb() {
    Suite::test_all(Builder(LogKind::Redb)).unwrap();
}
