//! openraft's own tests of a log store and a state machine.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use openraft::testing::{StoreBuilder, Suite};
use tempfile::TempDir;
use waymark_core::state::View;

use crate::publication::{no_tables, publication};
use crate::raft::data_dir::DataDir;
use crate::raft::log_opening;
use crate::raft::log_store::LogStore;
use crate::raft::snapshot::Snapshots;
use crate::raft::state_machine::{Reached, StateMachine};
use crate::raft::types::{StorageError, TypeConfig};

struct Builder;

impl StoreBuilder<TypeConfig, LogStore, StateMachine, TempDir> for Builder {
    async fn build(&self) -> Result<(TempDir, LogStore, StateMachine), StorageError> {
        let dir = tempfile::tempdir().unwrap();
        let owner = DataDir::new_header("cluster", 1, "m1");
        log_opening::create(dir.path(), &owner).unwrap();
        let log = log_opening::open(dir.path(), &owner).unwrap();
        let (snapshots, content) = Snapshots::open(dir.path()).unwrap();
        let (publisher, _reader) = publication(View::default(), no_tables());
        let backlog = Arc::new(AtomicU64::new(0));
        Ok((dir, log, StateMachine::new(publisher, Arc::new(snapshots), Reached::of(content), backlog)))
    }
}

#[test]
fn clu_2_openrafts_storage_suite_passes() {
    Suite::test_all(Builder).unwrap();
}
