//! The cluster on hosts of its own, and what befalls it and ends again.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use harness::eventually::claim;
use harness::process::Signal;
use harness::{Agent, Caller, Cluster, Member, eventually, within};
use tokio::runtime::Runtime;
use tonic::Request;
use waymark_proto::admin::v1::cluster_client::ClusterClient;
use waymark_proto::admin::v1::{ClusterStatus, GetClusterRequest};

use crate::excuse::Excuse;
use crate::meddle::{self, Orders};
use harness::chance::Chance;
use harness::net::Router;
use harness::net::{Conditions, Links};
use harness::net::{Host, address};

/// The zone of all names.
pub(crate) const ZONE: &str = "nemesis.waymark.test";

/// What a link does while nothing befalls it: round trips take 10 ms.
pub(crate) const USUAL: Conditions = Conditions {
    cut: false,
    loss: 0,
    duplication: 0,
    reordering: 0,
    delay: Duration::from_millis(5),
    jitter: Duration::from_millis(1),
    rate: None,
};

/// The hosts: members from 1 on, a member that comes and goes, agents, endpoints, and those who ask.
pub(crate) const SPARE: u8 = 9;
pub(crate) const AGENTS: [u8; 3] = [11, 12, 13];
pub(crate) const ENDPOINTS: [u8; 3] = [21, 22, 23];
const ASKER: u8 = 31;

/// Entries after which members make snapshots and cut their logs, but for a tenth: few, so that whoever is away for a while gets one.
pub(crate) const SNAPSHOT_AFTER: u64 = 200;

/// Room on the disk of the last member, which gets filled up.
const SMALL_DISK: &str = "size=96m";

/// How long the cluster may take to be whole again once nothing befalls it any more.
const RECOVERY: Duration = Duration::from_secs(180);

/// How long a member may take to say what it knows.
const STATUS_PATIENCE: Duration = Duration::from_secs(4);

/// Everything that runs.
pub(crate) struct Scene {
    pub(crate) cluster: Cluster,
    pub(crate) hosts: BTreeMap<u8, Arc<Host>>,
    pub(crate) router: Arc<Router>,
    pub(crate) runtime: Runtime,
    pub(crate) callers: Vec<Caller>,
    /// For each member: may its answers be missing?
    pub(crate) excuses: Vec<Arc<Excuse>>,
    /// May what is stamped be wrong?
    pub(crate) clocks: Arc<Excuse>,
    /// What each member is to believe of its clock, and to wait for its disk.
    pub(crate) orders: Vec<Orders>,
    pub(crate) chance: Chance,
    /// Members that came and went.
    pub(crate) strangers: u32,
    pub(crate) plan: Plan,
}

/// What a scene is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) members: u8,
    /// The members' profile of timers.
    pub(crate) timers: &'static str,
    /// How long faults go on, unless each comes once.
    pub(crate) limit: Option<Duration>,
    /// Entries after which a snapshot is made.
    pub(crate) snapshot_after: u64,
    /// Is the last member's disk one that can be filled up, in memory? Else it is like the others'.
    pub(crate) small_disk: bool,
}

/// Who leads, as a member says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lead {
    pub(crate) term: u64,
    pub(crate) at: usize,
}

impl Scene {
    /// Makes the hosts, and on them a cluster with a zone, a profile and agents that probe its endpoints.
    pub(crate) fn start(plan: Plan, mut chance: Chance) -> anyhow::Result<Self> {
        let numbers = (1..=plan.members).chain([SPARE, ASKER]).chain(AGENTS).chain(ENDPOINTS);
        let hosts: BTreeMap<u8, Arc<Host>> = numbers
            .map(|number| Ok((number, Arc::new(Host::make(number)?))))
            .collect::<anyhow::Result<_>>()?;
        let links = Links::new(USUAL, Chance::from_seed(chance.draw()));
        let router = Router::start(hosts.values().map(Arc::as_ref), links);
        hosts[&ASKER].enter();
        let (cluster, orders) = found(plan, &hosts)?;
        let callers: Vec<Caller> = cluster.members.iter().map(Member::caller).collect();
        let excuses = callers.iter().map(|_| Arc::default()).collect();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let clocks = Arc::default();
        let mut scene = Self {
            cluster,
            hosts,
            router,
            runtime,
            callers,
            excuses,
            clocks,
            orders,
            chance,
            strangers: 0,
            plan,
        };
        scene.configure();
        Ok(scene)
    }

    fn configure(&mut self) {
        let cli = self.cluster.cli();
        cli.ok(&format!("zone create {ZONE} --ns ns1.{ZONE}={}", address(1)));
        let urls = self.cluster.urls();
        for (number, region) in AGENTS.into_iter().zip(["eu", "us", "ap"]) {
            cli.ok(&format!("region set {region} --at 50.1,8.7"));
            let directory = self.cluster.directory().to_owned();
            let agent = self.hosts[&number]
                .within(|| Agent::start(&format!("a-{region}"), region, &urls, &directory));
            self.cluster.agents.push(agent);
        }
    }

    /// The places of all members.
    pub(crate) fn places(&self) -> std::ops::Range<usize> {
        0..self.callers.len()
    }

    /// The places of all members but one.
    pub(crate) fn others(&self, at: usize) -> Vec<usize> {
        self.places().filter(|other| *other != at).collect()
    }

    /// What the member at this place knows of the cluster.
    pub(crate) fn status(&self, at: usize) -> Result<ClusterStatus, String> {
        let caller = self.callers[at].clone();
        let asking = async {
            let mut client = ClusterClient::new(caller.connect().await?);
            let mut request = Request::new(GetClusterRequest {});
            request.set_timeout(STATUS_PATIENCE);
            let status = client.get_cluster(request).await.map_err(|status| status.to_string())?;
            Ok(status.into_inner())
        };
        let limited = async { tokio::time::timeout(STATUS_PATIENCE, asking).await };
        self.runtime.block_on(limited).unwrap_or_else(|_| Err(format!("m{} is silent", at + 1)))
    }

    /// Who leads, as far as these members know.
    pub(crate) fn lead(&self, asked: &[usize]) -> Result<Lead, String> {
        let leads = asked.iter().filter_map(|&at| {
            let status = self.status(at).ok()?;
            let leader = status.members.iter().find(|member| member.id == status.leader_id)?;
            let at = self.cluster.members.iter().position(|member| member.name == leader.name)?;
            Some(Lead { term: status.term, at })
        });
        leads.max_by_key(|lead| lead.term).ok_or_else(|| format!("no leader is known to {asked:?}"))
    }

    /// Who leads, once somebody does.
    pub(crate) fn leader(&self) -> Lead {
        let asked: Vec<usize> = self.places().collect();
        eventually("a leader is known", || self.lead(&asked))
    }

    /// Cuts what goes from one member to another.
    pub(crate) fn cut(&self, from: usize, to: usize) {
        self.router.links().change((host_of(from), host_of(to)), |conditions| conditions.cut = true);
    }

    /// Changes what the links among members and between them and agents do. Those to the askers stay as they are, so that a reply
    /// that is missing is a member's fault.
    pub(crate) fn impair(&self, change: impl Fn(&mut Conditions)) {
        self.change_links(&AGENTS, change);
    }

    /// The same, those to the askers included.
    pub(crate) fn impair_all(&self, change: impl Fn(&mut Conditions)) {
        let [one, two, three] = AGENTS;
        self.change_links(&[one, two, three, ASKER], change);
    }

    fn change_links(&self, with: &[u8], change: impl Fn(&mut Conditions)) {
        let members: Vec<u8> = self.places().map(host_of).collect();
        let mut links = self.router.links();
        for &member in &members {
            for other in members.iter().chain(with).copied().filter(|other| *other != member) {
                links.change((member, other), &change);
                links.change((other, member), &change);
            }
        }
    }

    /// Kills (-9) the member at this place. Whoever asks it for names gets no reply from now on.
    pub(crate) fn kill(&mut self, at: usize) {
        self.excuses[at].begin();
        self.cluster.members[at].kill();
    }

    /// Stops the process of the member at this place where it is.
    pub(crate) fn freeze(&mut self, at: usize) {
        self.excuses[at].begin();
        self.cluster.members[at].process().signal(Signal::STOP);
    }

    /// Starts the member at this place anew.
    pub(crate) fn start_member(&mut self, at: usize) {
        let (host, member) = (&self.hosts[&host_of(at)], &mut self.cluster.members[at]);
        host.within(|| member.start());
    }

    /// Ends whatever befalls the cluster, and waits until it is whole; what it lacks if it does not become so.
    pub(crate) fn heal(&mut self) -> Result<(), String> {
        self.router.links().heal();
        for orders in &self.orders {
            orders.set_clock_off(0);
            orders.set_flush_takes(Duration::ZERO);
        }
        self.clocks.end();
        if std::fs::remove_file(self.filler()).is_ok() {
            let last = self.callers.len() - 1;
            self.kill(last);
        }
        self.restore();
        let lacks = within(RECOVERY, || self.is_whole()).err();
        lacks.map_or(Ok(()), |lacks| {
            Err(format!("not whole {RECOVERY:?} after everything was healed: {lacks}"))
        })
    }

    /// Every process that stands still goes on, and every one that has ended is started anew.
    pub(crate) fn restore(&mut self) {
        for at in self.places() {
            if self.cluster.members[at].is_running() {
                self.cluster.members[at].process().signal(Signal::CONT);
            } else {
                self.start_member(at);
            }
        }
    }

    /// Is every member ready, and knows the same leader as the others? One that is ready has no excuse any more.
    pub(crate) fn is_whole(&mut self) -> Result<(), String> {
        for at in self.places() {
            let member = &mut self.cluster.members[at];
            claim(member.is_running(), format!("{} has ended", member.name))?;
            let answer = reqwest::blocking::get(format!("http://{}/readyz", member.http));
            let answer = answer.map_err(|error| format!("{}: {error}", member.name))?;
            claim(answer.status().is_success(), format!("{} is not ready", member.name))?;
            self.excuses[at].end();
        }
        let asked: Vec<usize> = self.places().collect();
        self.all_follow(&asked)
    }

    /// Do all know the same leader?
    fn all_follow(&self, asked: &[usize]) -> Result<(), String> {
        let leads: Vec<_> = asked.iter().map(|&at| self.lead(&[at])).collect();
        claim(leads.iter().all(|lead| lead.is_ok() && *lead == leads[0]), format!("{leads:?}"))
    }

    /// The entry up to which the newest snapshot of the member at this place goes; 0 without one.
    pub(crate) fn snapshot(&self, at: usize) -> u64 {
        let folder = std::fs::read_dir(self.cluster.members[at].data().join("snapshots"));
        let names = folder.into_iter().flatten().flatten().map(|file| file.file_name());
        let entry = |name: std::ffi::OsString| {
            let (entry, _) = name.to_str()?.strip_suffix(".snapshot")?.split_once('-')?;
            entry.parse().ok()
        };
        names.filter_map(entry).max().unwrap_or_default()
    }

    /// What fills the small disk when it is there.
    pub(crate) fn filler(&self) -> PathBuf {
        let last = self.cluster.members.last().expect("a cluster has members");
        last.data().join("filler")
    }

    /// Ends everything and takes the directory away, unless somebody wants to `keep` it.
    pub(crate) fn end(mut self, keep: bool) {
        self.cluster.members.iter_mut().for_each(Member::kill);
        self.cluster.agents.iter_mut().for_each(Agent::kill);
        let small = self.cluster.members.last().expect("a cluster has members").data();
        if !keep {
            if self.plan.small_disk {
                let _ = Command::new("umount").arg(small).status();
            }
            let _ = std::fs::remove_dir_all(self.cluster.directory());
        }
    }
}

/// The host of the member at a place.
pub(crate) fn host_of(at: usize) -> u8 {
    u8::try_from(at + 1).expect("clusters are small")
}

/// A member on a host, with the ports that are usual.
pub(crate) fn member(name: &str, number: u8, directory: &Path, plan: Plan) -> Member {
    let mut member = Member::new(name, directory);
    let at = |port| SocketAddr::from((address(number), port));
    (member.grpc, member.dns, member.http) = (at(7_400), at(5_300), at(7_401));
    // Askers have one address together, and ask more often than one resolver should.
    let snapshot_after = plan.snapshot_after.to_string();
    member.flags = ["--timers", plan.timers, "--dns-rate-limit", "0", "--snapshot-after", &snapshot_after]
        .map(str::to_owned)
        .to_vec();
    member
}

fn found(plan: Plan, hosts: &BTreeMap<u8, Arc<Host>>) -> anyhow::Result<(Cluster, Vec<Orders>)> {
    let directory = tempfile::Builder::new().prefix("waymark-nemesis-").disable_cleanup(true).tempdir()?;
    let library = meddle::library(directory.path())?;
    let place = |number: u8| member(&format!("m{number}"), number, directory.path(), plan);
    let mut started: Vec<Member> = (1..=plan.members).map(place).collect();
    if plan.small_disk {
        let small = started.last().expect("a cluster has members").data();
        std::fs::create_dir_all(&small)?;
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", SMALL_DISK, "small"]).arg(&small).status()?;
        anyhow::ensure!(mounted.success(), "no file system could be mounted at {}", small.display());
    }
    let mut orders = Vec::new();
    for (number, member) in (1..).zip(&mut started) {
        let (of_member, environment) =
            Orders::new(directory.path().join(format!("{}.orders", member.name)), &library)?;
        orders.push(of_member);
        member.environment = environment;
        hosts[&number].within(|| member.start());
    }
    Ok((Cluster::unite(directory, started), orders))
}
