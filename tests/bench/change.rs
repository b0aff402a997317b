//! From the deciding outcome at an agent to the changed answer on all members (PERF-3).
//!
//! The bench is the agent. No failure is tolerated, so that each outcome decides; it alternates between failure and success.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use harness::{Caller, Cluster};
use waymark_proto::admin::v1::OutcomeClass;

use crate::quantiles::Durations;
use crate::reporter::Reporter;
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
    let caller = Reporter::caller(&cluster, 1, "r1");
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
    let mut reporter = Reporter::open(caller, "r1").await;
    let (mut durations, mut missed) = (Durations::new(), 0);
    for number in 0..changes {
        let is_failure = number % 2 == 0;
        let class = if is_failure { OutcomeClass::Refused } else { OutcomeClass::Ok };
        let wanted = if is_failure { "192.0.2.2" } else { "192.0.2.1" };
        let started = Instant::now();
        reporter.send(class).await;
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
