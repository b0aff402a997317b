//! The door on a member with a real log on a real disk.

use std::path::Path;

use tokio_util::sync::CancellationToken;
use waymark_core::health::{EndpointStatus, Verdict};
use waymark_core::model::{Caseless, EndpointId};
use waymark_core::state::Command;

use super::agent::Agent;
use super::stage::{BAD, DEADLINE, Door, OK, admission, founding};
use crate::ingest::Identity;
use crate::ingest::Ingest;
use crate::publication::Reader;
use crate::raft::{Compaction, Member, MemberConfig, Membership, Stopper, TimerProfile};

struct Running {
    door: Door,
    reader: Reader,
    membership: Membership,
    stopper: Stopper,
}

impl Running {
    /// Starts the member with its data in `dir`; founds a cluster with `endpoints` if there is none.
    async fn start(dir: &Path, endpoints: usize) -> Self {
        let config = MemberConfig {
            name: "m1".into(),
            data_dir: dir.join("m1"),
            // Alone in its cluster, it is reached by nobody.
            grpc_advertise: "http://127.0.0.1:1".into(),
            dns_advertise: "127.0.0.1:1".into(),
            http_advertise: "http://127.0.0.1:1".into(),
            timers: TimerProfile::Local,
            compaction: Compaction::default(),
            apply_level_max: waymark_core::state::ApplyLevel::HIGHEST,
            credentials: None,
        };
        let started = Member::open(config, crate::publication::no_tables()).await.unwrap();
        let (membership, proposer, reader) = (started.membership, started.proposer, started.reader);
        if membership.id().is_none() {
            membership.init().await.unwrap();
            let commands = founding(endpoints, 3).into_iter().skip(1).map(Command::of_cluster).collect();
            let proposed = proposer.propose(commands).await.unwrap();
            assert!(proposed.replies.iter().all(Result::is_ok), "{proposed:?}");
        }
        proposer.read_barrier().await.unwrap();
        let shutdown = CancellationToken::new();
        let own = membership.clone();
        let identity = Identity { id: Box::new(move || own.id()), name: membership.name().to_owned() };
        let ingest = Ingest::new(
            reader.clone(),
            proposer,
            started.leases,
            identity,
            admission(),
            TimerProfile::Local,
            shutdown.clone(),
        );
        let door = Door::serve(ingest, shutdown).await;
        Self { door, reader, membership, stopper: started.stopper }
    }

    async fn stop(self) {
        self.door.shutdown.cancel();
        tokio::time::timeout(DEADLINE, self.door.ingest.ended()).await.expect("the streams end");
        self.stopper.stop().await;
    }

    fn endpoints(&self) -> Vec<EndpointId> {
        self.reader.view().state.health.keys().copied().collect()
    }

    fn failures(&self, endpoint: EndpointId) -> (u32, Option<Verdict>, EndpointStatus) {
        let health = self.reader.view().state.health[&endpoint].clone();
        let tally = health.tallies[&Caseless::new("a1")];
        (tally.failures, tally.verdict, health.status)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sta_7_the_log_is_quiet_and_a_failing_run_outlives_the_member() {
    let dir = tempfile::tempdir().unwrap();
    let member = Running::start(dir.path(), 50).await;
    let endpoints = member.endpoints();
    let (mut agent, _) = Agent::open(&member.door, "a1", 7).await;
    let all = || endpoints.iter().map(|endpoint| (*endpoint, OK)).collect::<Vec<_>>();
    let last = agent.report(all()).await;
    agent.acknowledged(last).await;
    assert_eq!(member.failures(endpoints[0]), (0, Some(Verdict::Up), EndpointStatus::Online));

    let before = member.membership.status().await.last_log;
    for _ in 0..60 {
        agent.report(all()).await;
    }
    agent.acknowledged(agent.sequence).await;
    assert_eq!(member.membership.status().await.last_log, before, "a healthy endpoint costs the log nothing");

    for _ in 0..2 {
        let last = agent.report([(endpoints[0], BAD)]).await;
        agent.acknowledged(last).await;
    }
    member.stop().await;
    assert!(agent.ending().await.is_some());

    let member = Running::start(dir.path(), 50).await;
    let sequence = agent.sequence;
    (agent, _) = Agent::open(&member.door, "a1", 7).await;
    agent.sequence = sequence;
    assert_eq!(member.failures(endpoints[0]), (2, Some(Verdict::Up), EndpointStatus::Online));
    for expected in
        [(3, Some(Verdict::Up), EndpointStatus::Online), (4, Some(Verdict::Down), EndpointStatus::Degraded)]
    {
        let last = agent.report([(endpoints[0], BAD)]).await;
        agent.acknowledged(last).await;
        assert_eq!(member.failures(endpoints[0]), expected);
    }
    member.stop().await;
}
