//! etcd, as Debian packages it: members on one machine, without TLS, and the call by which a key is put.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use crate::eventually::eventually;
use crate::peer::Running;
use crate::ports;

const PROGRAM: &str = "/usr/bin/etcd";

/// How long a member may take to say whether it is well, and whether it leads.
const PATIENCE: Duration = Duration::from_secs(2);

/// A cluster that ends with its owner.
#[derive(Debug)]
pub struct Etcd {
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    name: String,
    client: SocketAddr,
    peer: SocketAddr,
    directory: TempDir,
    running: Option<Running>,
}

impl Etcd {
    /// Is it installed?
    pub fn is_installed() -> bool {
        Path::new(PROGRAM).exists()
    }

    /// Starts three members on loopback, where it is installed, and waits until one leads.
    ///
    /// # Panics
    /// When none does.
    pub fn start() -> Option<Self> {
        if !Self::is_installed() {
            return None;
        }
        let address = || SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
        let mut etcd = Self::of([(); 3].map(|()| (address(), address())));
        (0..3).for_each(|at| etcd.start_member(at));
        eventually("etcd has a leader", || etcd.leader());
        Some(etcd)
    }

    /// Members that serve clients and each other at these addresses, once they are started.
    ///
    /// # Panics
    /// When there is no place for their files.
    pub fn of(addresses: impl IntoIterator<Item = (SocketAddr, SocketAddr)>) -> Self {
        let member = |(nth, (client, peer))| Member {
            name: format!("n{nth}"),
            client,
            peer,
            directory: tempfile::tempdir().expect("a directory can be made"),
            running: None,
        };
        Self { members: (1..).zip(addresses).map(member).collect() }
    }

    /// Starts the member at this place with what it has on disk.
    pub fn start_member(&mut self, at: usize) {
        let all: Vec<_> =
            self.members.iter().map(|Member { name, peer, .. }| format!("{name}=http://{peer}")).collect();
        let Member { name, client, peer, directory, running } = &mut self.members[at];
        let data = directory.path().join("data").display().to_string();
        let (client, peer, all) = (format!("http://{client}"), format!("http://{peer}"), all.join(","));
        let pairs = [
            ("--name", name.as_str()),
            ("--data-dir", &data),
            ("--listen-client-urls", &client),
            ("--advertise-client-urls", &client),
            ("--listen-peer-urls", &peer),
            ("--initial-advertise-peer-urls", &peer),
            ("--initial-cluster", &all),
            ("--initial-cluster-state", "new"),
        ];
        let arguments: Vec<_> =
            pairs.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value.to_owned()]).collect();
        *running = Some(Running::start(Path::new(PROGRAM), &arguments, directory.path()));
    }

    /// Ends the member at this place as a crash would.
    pub fn kill(&mut self, at: usize) {
        self.members[at].running = None;
    }

    /// Is there a process at this place?
    pub fn is_running(&self, at: usize) -> bool {
        self.members[at].running.is_some()
    }

    /// Sends a signal to the member at this place, which runs.
    pub fn signal(&self, at: usize, signal: Signal) {
        let running = self.members[at].running.as_ref();
        let id = running.and_then(|Running(child)| i32::try_from(child.id()).ok()).and_then(Pid::from_raw);
        // It may have ended by itself: then there is nobody to tell.
        let _ = id.map(|id| kill_process(id, signal));
    }

    /// The place of the member that leads, by what members say of themselves to those who measure.
    ///
    /// # Errors
    /// When none says so.
    pub fn leader(&self) -> Result<usize, String> {
        let leads = |member: &Member| {
            let told = tell(member.client, "metrics").unwrap_or_default();
            told.lines().any(|line| line == "etcd_server_is_leader 1")
        };
        self.members.iter().position(leads).ok_or_else(|| "none leads".to_owned())
    }

    /// Is every member well, and one the leader?
    ///
    /// # Errors
    /// With what one says that is not.
    pub fn is_whole(&self) -> Result<(), String> {
        for member in &self.members {
            let told = tell(member.client, "health")?;
            crate::eventually::claim(told.contains("\"true\""), format!("{}: {told}", member.name))?;
        }
        self.leader().map(drop)
    }

    /// A connection to the member at this place.
    ///
    /// # Panics
    /// Never.
    pub fn client(&self, at: usize) -> Client {
        Client::of(self.members[at].client)
    }

    /// Where clients reach the members.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.members.iter().map(|member| member.client).collect()
    }
}

fn tell(client: SocketAddr, what: &str) -> Result<String, String> {
    let asking = reqwest::blocking::Client::builder().timeout(PATIENCE).build();
    let told = asking.and_then(|asking| asking.get(format!("http://{client}/{what}")).send());
    told.and_then(reqwest::blocking::Response::text).map_err(|error| error.to_string())
}

/// What of etcd's `PutRequest` is needed.
#[derive(Clone, PartialEq, prost::Message)]
struct Put {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// Its answer, of which nothing is read.
#[derive(Clone, PartialEq, prost::Message)]
struct Done {}

/// One who writes.
#[derive(Debug)]
pub struct Client(Grpc<Channel>);

impl Client {
    /// One who connects to a member at `address` with the first call.
    ///
    /// # Panics
    /// Never.
    pub fn of(address: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address makes a URL");
        Self(Grpc::new(endpoint.connect_lazy()))
    }

    /// Puts `value` at `key`; returns once a majority has it on disk.
    ///
    /// # Errors
    /// When it may not have.
    pub async fn put(&mut self, key: &str, value: Vec<u8>) -> Result<(), Status> {
        self.0.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let put = Request::new(Put { key: key.as_bytes().to_vec(), value });
        let method = PathAndQuery::from_static("/etcdserverpb.KV/Put");
        let _: Response<Done> = self.0.unary(put, method, ProstCodec::default()).await?;
        Ok(())
    }
}
