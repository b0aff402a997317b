//! The cluster on hosts of its own, its agents, each in a region of its own, and endpoints that write down what they answered.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::chance::Chance;
use harness::eventually::claim;
use harness::net::{Conditions, Host, Links, Router, address};
use harness::{Agent, Cluster, FakeEndpoint, Member, eventually, within};
use serde_json::Value;

use crate::model::{Found, Gap, Probing, Status, statuses};

/// The zone of every profile.
const ZONE: &str = "mesh.waymark.test";

/// Hosts: members from 1 on, agents behind this, and those of the endpoints and of the tests.
const AGENTS: u8 = 10;
pub(crate) const ENDPOINTS: u8 = 31;
const ASKER: u8 = 41;

/// The first endpoint's port.
const PORT: u16 = 8_080;

/// How long anything may take that must come: some probes and elections, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// What a link does while nothing befalls it.
const USUAL: Conditions = Conditions {
    cut: false,
    loss: 0,
    duplication: 0,
    reordering: 0,
    delay: Duration::from_millis(5),
    jitter: Duration::from_millis(1),
    rate: None,
};

/// Verdicts live 16 s, so that gaps of less than the 15 s after which an agent is lost lose nothing.
pub(crate) const PATIENT: Probing =
    Probing { interval: Duration::from_secs(5), timeout: Duration::from_secs(1), tolerated: 3, recovery: 3 };

/// Verdicts live 4 s.
pub(crate) const HASTY: Probing = Probing { interval: Duration::from_secs(1), recovery: 1, ..PATIENT };

/// A profile with one endpoint, `e`.
pub(crate) struct Probed {
    pub(crate) endpoint: FakeEndpoint,
    pub(crate) probing: Probing,
}

/// Everything that runs.
pub(crate) struct Scene {
    pub(crate) cluster: Cluster,
    pub(crate) router: Arc<Router>,
    pub(crate) profiles: BTreeMap<String, Probed>,
    /// The place of the member that is asked.
    pub(crate) asked: usize,
    hosts: BTreeMap<u8, Arc<Host>>,
    started: Instant,
}

impl Scene {
    /// Three members, and an agent in each of so many regions, `a-r1`, `a-r2` …
    pub(crate) fn start(agents: u8) -> Self {
        let numbers = (1..=3).chain(AGENTS + 1..=AGENTS + agents).chain([ENDPOINTS, ASKER]);
        let make =
            |number| (number, Arc::new(Host::make(number).unwrap_or_else(|error| panic!("{error:#}"))));
        let hosts: BTreeMap<u8, Arc<Host>> = numbers.map(make).collect();
        let router = Router::start(hosts.values().map(Arc::as_ref), Links::new(USUAL, Chance::from_seed(7)));
        hosts[&ASKER].enter();
        let directory =
            tempfile::Builder::new().prefix("waymark-mesh-").disable_cleanup(true).tempdir().unwrap();
        let place = |number: u8| {
            let mut member = Member::new(&format!("m{number}"), directory.path());
            let at = |port| SocketAddr::from((address(number), port));
            (member.grpc, member.dns, member.http) = (at(7_400), at(5_300), at(7_401));
            hosts[&number].within(|| member.start());
            member
        };
        let members = (1..=3).map(place).collect();
        let cluster = Cluster::unite(directory, members);
        cluster.cli().ok(&format!("zone create {ZONE} --ns ns1.{ZONE}={}", address(1)));
        let mut scene =
            Self { cluster, router, profiles: BTreeMap::new(), asked: 0, hosts, started: Instant::now() };
        for number in 1..=agents {
            let region = format!("r{number}");
            scene.cluster.cli().ok(&format!("region set {region} --at 50.1,8.7"));
            let (urls, directory) = (scene.cluster.urls(), scene.cluster.directory().to_owned());
            let start = || Agent::start(&format!("a-{region}"), &region, &urls, &directory);
            let agent = scene.hosts[&(AGENTS + number)].within(start);
            scene.cluster.agents.push(agent);
        }
        scene
    }

    /// The time of this scene, by the monotonic clock.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// The names of the agents.
    pub(crate) fn agents(&self) -> Vec<String> {
        self.cluster.agents.iter().map(|agent| agent.name.clone()).collect()
    }

    /// The host of the agent at this place.
    pub(crate) fn agent_host(&self, at: usize) -> u8 {
        AGENTS + 1 + u8::try_from(at).unwrap()
    }

    /// The host of the member of that name.
    pub(crate) fn member_host(&self, name: &str) -> u8 {
        u8::try_from(self.place(name) + 1).unwrap()
    }

    /// The place of the member of that name.
    pub(crate) fn place(&self, name: &str) -> usize {
        self.cluster.members.iter().position(|member| member.name == name).unwrap()
    }

    /// Makes a profile with one endpoint, which answers 200.
    pub(crate) fn profile(&mut self, name: &str, probing: Probing) {
        let port = PORT + u16::try_from(self.profiles.len()).unwrap();
        let at = SocketAddr::from((address(ENDPOINTS), port));
        let endpoint = self.hosts[&ENDPOINTS].within(|| FakeEndpoint::http(at));
        let Probing { interval, timeout, tolerated, recovery } = probing;
        let (cli, seconds) = (self.cluster.cli(), (interval.as_secs(), timeout.as_secs()));
        cli.ok(&format!(
            "profile create {name} --zone {ZONE} --relative-name {name} --port {port} --routing priority --ttl 5 \
             --interval {}s --timeout {}s --tolerated-failures {tolerated} --recovery-successes {recovery}",
            seconds.0, seconds.1
        ));
        cli.ok(&format!("endpoint add {name} e --target {}", address(ENDPOINTS)));
        self.profiles.insert(name.to_owned(), Probed { endpoint, probing });
    }

    /// Waits until every agent has found every endpoint up.
    pub(crate) fn all_up(&self) {
        for name in self.profiles.keys() {
            self.await_verdicts(name, &vec!["up"; self.cluster.agents.len()]);
        }
    }

    /// The endpoint of a profile.
    pub(crate) fn endpoint(&self, profile: &str) -> &FakeEndpoint {
        &self.profiles[profile].endpoint
    }

    /// What the agent at this place was answered by the endpoint of `profile` since `since`, each as good or not.
    pub(crate) fn answered(&self, at: usize, profile: &str, since: Duration) -> Vec<bool> {
        let agent = format!("a-r{}", at + 1);
        let found = self.found(profile).into_iter();
        found.filter(|found| found.agent == agent && found.at >= since).map(|found| found.is_good).collect()
    }

    /// What all agents were answered by the endpoint of `profile`.
    pub(crate) fn found(&self, profile: &str) -> Vec<Found> {
        let answers = self.endpoint(profile).answers().into_iter();
        let one = |answer: harness::Answer| {
            assert!(answer.agent.starts_with("waymark-agent/"), "{answer:?}");
            let IpAddr::V4(from) = answer.from else { panic!("{answer:?}") };
            Found {
                agent: format!("a-r{}", from.octets()[3] - AGENTS),
                at: answer.at.saturating_duration_since(self.started),
                is_good: answer.status == 200,
            }
        };
        answers.map(one).collect()
    }

    /// Waits until each of the agents at these places was answered so often by each of these endpoints since `since`.
    pub(crate) fn await_answers(&self, agents: &[usize], profiles: &[&str], since: Duration, times: usize) {
        let all = within(PATIENCE, || {
            for (&at, profile) in
                agents.iter().flat_map(|at| profiles.iter().map(move |profile| (at, profile)))
            {
                let answered = self.answered(at, profile, since).len();
                claim(answered >= times, format!("r{} asked {profile} {answered} times", at + 1))?;
            }
            Ok(())
        });
        all.unwrap_or_else(|seen| panic!("not {times} probes within {PATIENCE:?}: {seen}"));
    }

    /// What the cluster says of an agent.
    pub(crate) fn agent(&self, name: &str) -> Result<Value, String> {
        let output = self.cluster.cli_of(self.asked).run(&format!("agent show {name} -o json --timeout 5s"));
        claim(output.code == 0, output.stderr)?;
        serde_json::from_str(&output.stdout).map_err(|error| error.to_string())
    }

    /// The number of an agent's session.
    pub(crate) fn session(&self, name: &str) -> u64 {
        eventually("the agent is known", || self.agent(name))["session"].as_u64().unwrap()
    }

    /// Waits until an agent has a newer session than that number.
    pub(crate) fn await_session(&self, name: &str, before: u64) {
        let newer = within(PATIENCE, || {
            let agent = self.agent(name)?;
            claim(
                agent["session"].as_u64() > Some(before) && agent["state"] == "connected",
                agent.to_string(),
            )
        });
        newer.unwrap_or_else(|seen| panic!("{name} is not back: {seen}"));
    }

    /// What a member says of the endpoint of `profile`.
    pub(crate) fn status(&self, profile: &str) -> Result<Value, String> {
        let output = self.cluster.cli_of(self.asked).run(&format!("status {profile} -o json --timeout 5s"));
        claim(output.code == 0, output.stderr)?;
        let status: Value = serde_json::from_str(&output.stdout).map_err(|error| error.to_string())?;
        Ok(status["profiles"][0]["endpoints"][0].clone())
    }

    /// Waits until the regions say this of the endpoint of `profile`, `r1` first.
    pub(crate) fn await_verdicts(&self, profile: &str, wanted: &[&str]) {
        let all = within(PATIENCE, || {
            let status = self.status(profile)?;
            let regions = status["regions"].as_array().cloned().unwrap_or_default();
            let verdicts: Vec<_> = regions.iter().filter_map(|region| region["verdict"].as_str()).collect();
            claim(verdicts == wanted, status.to_string())
        });
        all.unwrap_or_else(|seen| panic!("{profile} is not {wanted:?} by regions: {seen}"));
    }

    /// Waits until the endpoint of `profile` has this status.
    pub(crate) fn becomes(&self, profile: &str, wanted: &str) {
        let found = within(PATIENCE, || {
            let status = self.status(profile)?;
            claim(status["status"] == wanted, status.to_string())
        });
        found.unwrap_or_else(|seen| panic!("{profile} is not {wanted}: {seen}"));
    }

    /// The statuses that the events of `profile` tell.
    pub(crate) fn events(&self, profile: &str) -> Vec<Status> {
        let events = eventually("events are told", || {
            let output =
                self.cluster.cli_of(self.asked).run(&format!("events {profile} -o json --timeout 5s"));
            claim(output.code == 0, output.stderr)?;
            serde_json::from_str::<Value>(&output.stdout).map_err(|error| error.to_string())
        });
        let of_endpoint =
            events["events"].as_array().unwrap().iter().filter(|event| event["endpoint"] == "e");
        let statuses = of_endpoint.filter_map(|event| match event["to"].as_str().unwrap() {
            "Online" => Some(Status::Online),
            "Degraded" => Some(Status::Degraded),
            "CheckingEndpoint" | "Disabled" => None,
            other => panic!("{other}: {event}"),
        });
        statuses.collect()
    }

    /// STA-7: of each endpoint the events tell what the model says, no more and no less.
    pub(crate) fn holds(&self, gaps: &[Gap]) {
        for (name, Probed { probing, .. }) in &self.profiles {
            let found = self.found(name);
            let expected = statuses(*probing, &found, gaps).unwrap_or_else(|why| panic!("{name}: {why}"));
            let told = self.events(name);
            assert_eq!(told, expected, "{name}: {found:?}, {gaps:?}");
        }
    }

    /// What the member at this place answers for `profile`.
    pub(crate) fn answer(&self, member: usize, profile: &str) -> String {
        let name = format!("{profile}.{ZONE}");
        // The DNS client asks from loopback, which no other host can answer: it is asked over TCP.
        match harness::dns::ask_tcp(self.cluster.members[member].dns, &name, "A") {
            Ok(reply) => reply.answers.iter().map(|record| record.data.to_string()).collect(),
            Err(error) => error,
        }
    }

    /// Starts the member at this place anew.
    pub(crate) fn start_member(&mut self, at: usize) {
        let host = &self.hosts[&u8::try_from(at + 1).unwrap()];
        let member = &mut self.cluster.members[at];
        host.within(|| member.start());
    }

    /// Starts the agent at this place anew.
    pub(crate) fn start_agent(&mut self, at: usize) {
        let host = &self.hosts[&self.agent_host(at)];
        let agent = &mut self.cluster.agents[at];
        host.within(|| agent.restart());
    }

    /// Does `act` on the host of the agent at this place.
    pub(crate) fn on_agents_host<T: Send>(&self, at: usize, act: impl FnOnce() -> T + Send) -> T {
        self.hosts[&self.agent_host(at)].within(act)
    }

    /// Changes both directions between two hosts.
    pub(crate) fn change(&self, one: u8, other: u8, change: impl Fn(&mut Conditions)) {
        let mut links = self.router.links();
        links.change((one, other), &change);
        links.change((other, one), &change);
    }

    /// Changes all links between the agent at this place and the members.
    pub(crate) fn change_all(&self, agent: usize, change: impl Fn(&mut Conditions)) {
        for member in 1..=3 {
            self.change(self.agent_host(agent), member, &change);
        }
    }
}

impl Drop for Scene {
    #[expect(clippy::print_stdout, reason = "whoever reads of a failure wants to know")]
    fn drop(&mut self) {
        let directory = self.cluster.directory().to_owned();
        if std::thread::panicking() {
            println!("logs and data are kept in {}", directory.display());
            return;
        }
        self.cluster.agents.iter_mut().filter(|agent| agent.pid() != 0).for_each(Agent::kill);
        self.cluster.members.iter_mut().filter(|member| member.pid() != 0).for_each(Member::kill);
        let _ = std::fs::remove_dir_all(directory);
    }
}
