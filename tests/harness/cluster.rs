//! Three members, founded and joined by the CLI, as an operator does it.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::agent::Agent;
use crate::cli::Cli;
use crate::eventually::{claim, eventually, within};
use crate::member::Member;

/// How long a member may take to be taken in.
const JOINING: Duration = Duration::from_secs(120);

/// A cluster under test, in a temporary directory that goes when it goes.
#[derive(Debug)]
pub struct Cluster {
    /// Its members, the founder first.
    pub members: Vec<Member>,
    /// Its agents.
    pub agents: Vec<Agent>,
    directory: TempDir,
}

impl Cluster {
    /// Starts `size` members with free ports and makes them one cluster.
    ///
    /// # Panics
    /// When that does not come to be.
    pub fn start(size: usize) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let members = (1..=size).map(|number| Member::new(&format!("m{number}"), directory.path())).collect();
        Self::found(directory, members)
    }

    /// Starts `members` and makes them one cluster, the first its founder. Their files are in `directory`.
    ///
    /// # Panics
    /// When that does not come to be.
    pub fn found(directory: TempDir, mut members: Vec<Member>) -> Self {
        members.iter_mut().for_each(Member::start);
        Self::unite(directory, members)
    }

    /// Makes `members`, which are started, one cluster, the first its founder. Their files are in `directory`.
    ///
    /// # Panics
    /// When that does not come to be.
    pub fn unite(directory: TempDir, mut members: Vec<Member>) -> Self {
        members.iter_mut().for_each(Member::listens);
        let founder = members[0].cli();
        founder.ok("cluster init");
        for member in &members[1..] {
            let add = || {
                let added = founder.run(&format!("cluster add {}", member.url()));
                claim(added.code == 0, added.stderr)
            };
            // On a busy machine a member may not answer in the time that the command gives it; asking again completes it.
            within(JOINING, add).unwrap_or_else(|last| panic!("{} was not added: {last}", member.name));
        }
        members.iter_mut().for_each(Member::ready);
        Self { members, agents: Vec::new(), directory }
    }

    /// Where logs and data are.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The CLI with every member as endpoint.
    pub fn cli(&self) -> Cli {
        Cli { endpoints: self.urls().join(","), ..self.cli_of(0) }
    }

    /// The CLI with one member as its only endpoint.
    pub fn cli_of(&self, member: usize) -> Cli {
        self.members[member].cli()
    }

    /// Every member's URL.
    pub fn urls(&self) -> Vec<String> {
        self.members.iter().map(Member::url).collect()
    }

    /// Declares the region of each name and starts an agent in it, `a-REGION`.
    pub fn start_agents(&mut self, regions: &[&str]) {
        for region in regions {
            self.cli().ok(&format!("region set {region} --at 50.1,8.7"));
            self.start_agent(region);
        }
    }

    /// Starts an agent in `region`, which is declared: `a-REGION`.
    pub fn start_agent(&mut self, region: &str) {
        let agent = Agent::start(&format!("a-{region}"), region, &self.urls(), self.directory.path());
        self.agents.push(agent);
    }

    /// What the members that answer say of the cluster.
    pub fn status(&self) -> Value {
        self.cli().json("cluster status")
    }

    /// The place of the leader, once there is one that runs.
    ///
    /// # Panics
    /// When there is none within the deadline.
    pub fn leader(&mut self) -> usize {
        eventually("a leader is known", || self.leader_now().ok_or_else(|| "no leader".to_owned()))
    }

    fn leader_now(&mut self) -> Option<usize> {
        let running: Vec<usize> =
            (0..self.members.len()).filter(|&at| self.members[at].is_running()).collect();
        running.iter().find_map(|&at| {
            let output = self.cli_of(at).run("cluster status -o json --timeout 2s");
            let status: Value = serde_json::from_str(&output.stdout).ok()?;
            let members = status["members"].as_array()?;
            let leader =
                members.iter().find(|member| member["role"] == "leader")?["name"].as_str()?.to_owned();
            running.iter().copied().find(|&at| self.members[at].name == leader)
        })
    }
}
