//! What most stories here begin with: a cluster with a zone, a profile and endpoints on loopback addresses.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU8, Ordering};

use harness::{Cluster, FakeEndpoint, eventually, ports};
use serde_json::Value;

/// The zone of every story.
pub(crate) const ZONE: &str = "waymark.test";

/// Stories run side by side: each has addresses of its own.
static NEXT_NETWORK: AtomicU8 = AtomicU8::new(10);

/// A cluster with its zone, and `count` endpoints on one port.
pub(crate) struct Scene {
    pub(crate) cluster: Cluster,
    pub(crate) endpoints: Vec<FakeEndpoint>,
    pub(crate) port: u16,
}

impl Scene {
    /// Three members, the zone, agents in `regions` and `count` endpoints that answer 200.
    pub(crate) fn new(regions: &[&str], count: u8) -> Self {
        let mut cluster = Cluster::start(3);
        cluster.cli().ok(&format!("zone create {ZONE} --ns ns1.{ZONE}=127.0.0.1"));
        cluster.start_agents(regions);
        let (network, port) = (NEXT_NETWORK.fetch_add(1, Ordering::Relaxed), ports::free());
        let address = |host| SocketAddr::from((Ipv4Addr::new(127, 0, network, host), port));
        let endpoints = (1..=count).map(|host| FakeEndpoint::http(address(host))).collect();
        Self { cluster, endpoints, port }
    }

    /// Creates the profile `name` with every endpoint, `e1`, `e2` … with the flags that `flags` gives each.
    pub(crate) fn profile(&self, name: &str, settings: &str, flags: impl Fn(usize) -> String) {
        let cli = self.cluster.cli();
        let port = self.port;
        cli.ok(&format!(
            "profile create {name} --zone {ZONE} --relative-name {name} --port {port} {settings}"
        ));
        for (at, endpoint) in self.endpoints.iter().enumerate() {
            let flags = flags(at);
            cli.ok(&format!("endpoint add {name} e{} --target {} {flags}", at + 1, endpoint.ip()));
        }
    }

    /// What the cluster says of the endpoint `name` of `profile`.
    pub(crate) fn endpoint_status(&self, profile: &str, name: &str) -> Value {
        let status = self.cluster.cli().json(&format!("status {profile} --stale"));
        let profiles = status["profiles"].as_array().cloned().unwrap_or_default();
        let endpoints =
            profiles.first().and_then(|profile| profile["endpoints"].as_array().cloned()).unwrap_or_default();
        endpoints.into_iter().find(|endpoint| endpoint["name"] == name).unwrap_or_default()
    }

    /// Waits until the endpoint has this status.
    pub(crate) fn becomes(&self, profile: &str, name: &str, status: &str) {
        eventually(&format!("{profile}/{name} is {status}"), || {
            let seen = self.endpoint_status(profile, name);
            harness::eventually::claim(seen["status"] == status, seen.to_string())
        });
    }

    /// What each member answers for `profile`.
    pub(crate) fn answers(&self, profile: &str) -> Vec<String> {
        let name = format!("{profile}.{ZONE}");
        self.cluster.members.iter().map(|member| harness::dns::short(member.dns, &name, "A")).collect()
    }

    /// Waits until every member answers with the endpoint at this place.
    pub(crate) fn all_answer(&self, profile: &str, endpoint: usize) {
        let wanted = self.endpoints[endpoint].ip().to_string();
        eventually(&format!("every member answers {wanted}"), || {
            let seen = self.answers(profile);
            harness::eventually::claim(seen.iter().all(|answer| *answer == wanted), format!("{seen:?}"))
        });
    }
}
