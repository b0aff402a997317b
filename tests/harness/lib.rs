//! What the suites drive Waymark with: real processes of its three binaries on loopback, endpoints that can be broken,
//! a DNS client and the CLI. The demo stands on the same ground.

pub mod agent;
pub mod binary;
pub mod caller;
pub mod chance;
pub mod cli;
pub mod cluster;
pub mod dns;
pub mod endpoint;
pub mod etcd;
pub mod eventually;
pub mod load;
pub mod member;
pub mod net;
pub mod peer;
pub mod pki;
pub mod ports;
pub mod process;
pub mod terminal;

pub use agent::Agent;
pub use caller::Caller;
pub use cluster::Cluster;
pub use endpoint::{Answer, Behaviour, FakeEndpoint};
pub use eventually::{eventually, within};
pub use member::Member;
