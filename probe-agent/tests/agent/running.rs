//! An agent in the test's process, and probes and checks for it.

use std::sync::Arc;

use futures_util::FutureExt;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use waymark_agent::agent::{self, Probe, Settings};
use waymark_agent::canary::Canary;
use waymark_agent::guard::Guard;
use waymark_agent::probe::{self, ProbeReport};
use waymark_agent::survey::Allowance;
use waymark_agent::uplink::Identity;
use waymark_core::health::{Check, Outcome, OutcomeClass};
use waymark_core::model::Protocol;
use waymark_proto::admin::v1 as wire;
use waymark_proto::agent::v1::ProbeOutcome;

use crate::endpoint::{Endpoint, check, tools};
use crate::member::Member;

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// An agent in this process; it is gone with the test.
pub(crate) struct Agent {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Agent {
    pub(crate) fn start(members: &[&Member], probe: Probe) -> Self {
        Self::with_room(members, probe, 64)
    }

    pub(crate) fn with_room(members: &[&Member], probe: Probe, probes_max: usize) -> Self {
        Self::with(members, probe, probes_max, &[])
    }

    pub(crate) fn with_canaries(members: &[&Member], probe: Probe, canaries: &[&str]) -> Self {
        Self::with(members, probe, 64, canaries)
    }

    fn with(members: &[&Member], probe: Probe, probes_max: usize, canaries: &[&str]) -> Self {
        let identity = Identity { agent: "a1".to_owned(), region: "eu".to_owned(), run: 77 };
        let members = members.iter().map(|member| member.url.clone()).collect();
        let survey = Allowance {
            queries_per_minute: 0,
            guard: Guard::new(true, vec![], vec![]),
            port: Allowance::PORT,
        };
        let stop = CancellationToken::new();
        let canaries = canaries.iter().map(|text| Canary::parse(text).unwrap()).collect();
        let settings = Settings { identity, members, credentials: None, probes_max, survey, canaries };
        let run = agent::run(settings, probe, stop.clone());
        Self { stop, task: tokio::spawn(async move { run.await.unwrap() }) }
    }

    /// Ends it as a signal does, and waits until it has drained.
    pub(crate) async fn end(mut self) {
        self.stop.cancel();
        (&mut self.task).await.unwrap();
    }
}

pub(crate) fn real() -> Probe {
    Arc::new(move |check| {
        let tools = tools();
        async move { probe::run(&tools, &check).await }.boxed()
    })
}

/// Probes that find `report()` without touching anything.
pub(crate) fn finding(report: impl Fn(&Check) -> ProbeReport + Send + Sync + 'static) -> Probe {
    Arc::new(move |check| {
        let report = report(&check);
        async move { report }.boxed()
    })
}

pub(crate) fn ok() -> ProbeReport {
    ProbeReport::of(Outcome { class: OutcomeClass::Ok, status: Some(200) })
}

/// An http check of `endpoint` every 100 ms.
pub(crate) fn fast(endpoint: &Endpoint) -> Check {
    Check { interval_ms: 100, ..endpoint.check() }
}

/// A check that nothing answers, every `interval_ms`.
pub(crate) fn idle(interval_ms: u64) -> Check {
    Check { interval_ms, timeout_ms: interval_ms, ..check(Protocol::Tcp, "127.0.0.1:9".parse().unwrap()) }
}

pub(crate) fn class(outcome: &ProbeOutcome) -> wire::OutcomeClass {
    outcome.outcome.as_ref().unwrap().class()
}
