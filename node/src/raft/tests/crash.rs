//! kill -9 of a process that writes the log: what it said was written is there, and the store opens.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use openraft::storage::{RaftLogStorage, RaftLogStorageExt};

use super::store::{entry, log_id, owner, with_each_kind};
use crate::raft::log_kind::LogKind;
use crate::raft::log_opening;
use crate::raft::types::Vote;

/// Set in the process that writes.
const DIR: &str = "WAYMARK_TEST_CRASH_DIR";
const KIND: &str = "WAYMARK_TEST_CRASH_STORE";
const ROUNDS: u64 = 12;

with_each_kind! { clu_2_what_a_killed_process_acknowledged_is_there_and_the_store_opens }

/// Not a test by itself: what the process does that is killed.
#[tokio::test]
async fn writer() {
    let Ok(dir) = env::var(DIR) else { return };
    let is_sled = env::var(KIND).is_ok_and(|name| name == LogKind::Sled.name());
    let kind = if is_sled { LogKind::Sled } else { LogKind::Redb };
    let mut log = log_opening::open(Path::new(&dir), kind, &owner()).unwrap();
    let mut next = log.get_log_state().await.unwrap().last_log_id.map_or(0, |id| id.index + 1);
    let mut term = log.read_vote().await.unwrap().map_or(0, |vote| vote.leader_id.term);
    loop {
        // Entries of all sizes, votes, purges: everything that is acknowledged is said aloud at once.
        log.blocking_append([entry(next, (next as usize * 977) % 20_000)]).await.unwrap();
        say(&format!("entry {next}"));
        if next % 7 == 0 {
            term += 1;
            log.save_vote(&Vote::new(term, 1)).await.unwrap();
            say(&format!("vote {term}"));
        }
        if next % 50 == 49 {
            log.purge(log_id(next - 20)).await.unwrap();
            say(&format!("purge {}", next - 20));
        }
        next += 1;
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "said {line}").unwrap();
    out.flush().unwrap();
}

fn start_writer(dir: &Path, kind: LogKind) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "raft::tests::crash::writer", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .env(KIND, kind.name())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[derive(Debug, Default)]
struct Said {
    entry: Option<u64>,
    vote: Option<u64>,
    purge: Option<u64>,
}

impl Said {
    fn hear(&mut self, line: &str) {
        let Some((_, said)) = line.split_once("said ") else { return };
        let (what, number) = said.split_once(' ').unwrap();
        let slot = match what {
            "entry" => &mut self.entry,
            "vote" => &mut self.vote,
            _ => &mut self.purge,
        };
        *slot = Some(number.parse().unwrap());
    }
}

async fn clu_2_what_a_killed_process_acknowledged_is_there_and_the_store_opens(kind: LogKind) {
    let dir = tempfile::tempdir().unwrap();
    log_opening::create(dir.path(), kind, &owner()).unwrap();
    let mut said = Said::default();
    for round in 0..ROUNDS {
        let mut child = start_writer(dir.path(), kind);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        // Killed at another moment each time; what it managed to say before it died counts too.
        let wanted = 5 + round * 17 % 90;
        lines
            .by_ref()
            .filter(|line| line.contains("said "))
            .take(wanted as usize)
            .for_each(|line| said.hear(&line));
        child.kill().unwrap();
        lines.for_each(|line| said.hear(&line));
        child.wait().unwrap();

        let mut log = log_opening::open(dir.path(), kind, &owner()).unwrap();
        let state = log.get_log_state().await.unwrap();
        assert!(
            state.last_log_id.map(|id| id.index) >= said.entry,
            "round {round}: {said:?}, found {state:?}"
        );
        assert!(state.last_purged_log_id.map(|id| id.index) >= said.purge, "round {round}: {said:?}");
        assert!(log.read_vote().await.unwrap().map(|vote| vote.leader_id.term) >= said.vote, "round {round}");
        log.close();
    }
    assert!(said.entry > Some(100), "the test has tried something: {said:?}");
}
