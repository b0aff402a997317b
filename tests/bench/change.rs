//! From the deciding outcome at an agent to the changed answer on all members (PERF-3).
//!
//! The bench is the agent: it speaks the agents' protocol itself, so that it knows the moment at which an outcome leaves.
//! No failure is tolerated, so that each outcome decides; it alternates between failure and success.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use harness::{Caller, Cluster, pki};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use waymark_proto::admin::v1::{Outcome, OutcomeClass};
use waymark_proto::agent::v1::agent_message::Kind;
use waymark_proto::agent::v1::mesh_client::MeshClient;
use waymark_proto::agent::v1::{AgentMessage, Hello, ProbeOutcome, Report, member_message};

use crate::quantiles::Durations;
use crate::row;

pub(crate) fn measure(changes: u32) {
    let cluster = Cluster::start(3);
    let cli = cluster.cli();
    cli.ok("zone create bench.test --ns ns1.bench.test=127.0.0.1");
    cli.ok("region set r1 --at 1,1");
    cli.ok(
        "profile create web --zone bench.test --relative-name web --routing priority --tolerated-failures 0",
    );
    cli.ok("endpoint add web e1 --target 192.0.2.1");
    cli.ok("endpoint add web e2 --target 192.0.2.2 --always-serve on --wait all");
    let dns: Vec<SocketAddr> = cluster.members.iter().map(|member| member.dns).collect();
    let identity = pki::identity(cluster.directory(), "agent", Some("r1"), "bench");
    let caller = Caller::new(&cluster.members[1].url(), pki::open(identity));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let (durations, missed) = runtime.block_on(change(caller, dns, changes));
    assert_eq!(missed, 0, "changes were not seen on all members");
    row(
        "outcome to changed answer, 3 members",
        &durations.summary(),
        &format!("{changes} changes, one at a time"),
    );
}

async fn change(caller: Caller, dns: Vec<SocketAddr>, changes: u32) -> (Durations, u32) {
    let (sender, receiver) = mpsc::channel(16);
    let send = |kind| sender.try_send(AgentMessage { kind: Some(kind) }).expect("the stream takes messages");
    let hello = Hello {
        agent: "bench".into(),
        region: "r1".into(),
        run: 1,
        version: "bench".into(),
        ..Hello::default()
    };
    send(Kind::Hello(hello));
    let mut mesh = MeshClient::new(caller.connect().await.expect("the member takes connections"));
    let mut stream =
        mesh.session(ReceiverStream::new(receiver)).await.expect("the session opens").into_inner();
    let check = loop {
        let message = stream.message().await.expect("the stream goes on").expect("an assignment comes");
        if let Some(member_message::Kind::Assignment(assignment)) = message.kind {
            break assignment.checks.into_iter().next().expect("one endpoint is probed");
        }
    };
    let (mut durations, mut missed) = (Durations::new(), 0);
    for number in 0..changes {
        let is_failure = number % 2 == 0;
        let class = if is_failure { OutcomeClass::Refused } else { OutcomeClass::Ok };
        let outcome = Outcome { class: class.into(), status: None };
        let sequence = u64::from(number) + 1;
        let outcome = ProbeOutcome {
            endpoint: check.endpoint,
            check_revision: check.revision,
            sequence,
            outcome: Some(outcome),
            ..ProbeOutcome::default()
        };
        let wanted = if is_failure { "192.0.2.2" } else { "192.0.2.1" };
        let started = Instant::now();
        send(Kind::Report(Report { outcomes: vec![outcome] }));
        match last_seen(&dns, wanted, started).await {
            Some(duration) => durations.add(duration),
            None => missed += 1,
        }
    }
    (durations, missed)
}

/// How long after `started` the last of the members answered `wanted`; none if one did not within ten seconds. Members are
/// asked every millisecond: more often, the asking would take the cores that the members need.
async fn last_seen(dns: &[SocketAddr], wanted: &'static str, started: Instant) -> Option<Duration> {
    let watch = |member| async move {
        while started.elapsed() < Duration::from_secs(10) {
            let asked =
                tokio::task::spawn_blocking(move || harness::dns::short(member, "web.bench.test", "A"));
            if asked.await.is_ok_and(|answer| answer == wanted) {
                return Some(started.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        None
    };
    let watchers: Vec<_> = dns.iter().map(|&member| tokio::spawn(watch(member))).collect();
    let mut last = Duration::ZERO;
    for watcher in watchers {
        last = last.max(watcher.await.ok().flatten()?);
    }
    Some(last)
}
