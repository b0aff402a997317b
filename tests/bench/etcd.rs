//! etcd, as Debian packages it: three members on the same machine and disk, without TLS, and the call by which a key is put.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use harness::peer::Running;
use harness::{eventually, ports};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;

const PROGRAM: &str = "/usr/bin/etcd";

/// A cluster that ends with its owner.
pub(crate) struct Etcd {
    _members: Vec<(Running, tempfile::TempDir)>,
    /// Who leads.
    leader: SocketAddr,
}

impl Etcd {
    /// Starts three members, where it is installed.
    pub(crate) fn start() -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            return None;
        }
        let address = || SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
        let members: Vec<_> = (1..=3).map(|nth| (format!("n{nth}"), address(), address())).collect();
        let all: Vec<_> = members.iter().map(|(name, _, peer)| format!("{name}=http://{peer}")).collect();
        let running = members.iter().map(|(name, client, peer)| {
            let directory = tempfile::tempdir().expect("a directory can be made");
            let data = directory.path().join("data").display().to_string();
            let (client, peer) = (format!("http://{client}"), format!("http://{peer}"));
            let all = all.join(",");
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
            (Running::start(Path::new(PROGRAM), &arguments, directory.path()), directory)
        });
        let running = running.collect();
        let leader = eventually("etcd has a leader", || {
            let leads = members.iter().find(|(_, client, _)| leads(*client));
            leads.map(|(_, client, _)| *client).ok_or_else(|| "none".to_owned())
        });
        Some(Self { _members: running, leader })
    }

    /// A connection to the leader.
    pub(crate) fn client(&self) -> Client {
        let endpoint =
            Endpoint::from_shared(format!("http://{}", self.leader)).expect("an address makes a URL");
        Client(Grpc::new(endpoint.connect_lazy()))
    }
}

/// Does the member at `client` lead, by what it says of itself to those who measure?
fn leads(client: SocketAddr) -> bool {
    let told = reqwest::blocking::get(format!("http://{client}/metrics")).and_then(|reply| reply.text());
    told.is_ok_and(|text| text.lines().any(|line| line == "etcd_server_is_leader 1"))
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
pub(crate) struct Client(Grpc<Channel>);

impl Client {
    /// Puts `value` at `key`; returns once a majority has it on disk.
    pub(crate) async fn put(&mut self, key: &str, value: Vec<u8>) {
        self.0.ready().await.expect("etcd takes calls");
        let put = tonic::Request::new(Put { key: key.as_bytes().to_vec(), value });
        let method = PathAndQuery::from_static("/etcdserverpb.KV/Put");
        let _: tonic::Response<Done> =
            self.0.unary(put, method, ProstCodec::default()).await.expect("the key is put");
    }
}
