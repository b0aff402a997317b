//! What the limit on replies costs those who keep to it. Loopback is exempt from it, so this happens in a network namespace
//! of its own, in which more addresses are this machine's.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::time::Duration;

use harness::{Cluster, Member, ports};

use super::asker::Shape;
use super::names::{self, Kind};
use super::{ASKER_CORE, SERVER_CORE, Subject, is_answer, measure_kind, pin_self};
use crate::row;

/// The member's address in the namespace, and the networks of its clients: 128 of them stay far below the limit.
const MEMBER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const NETWORKS: &str = "10.9.0.0/16";

fn of_many_networks(client: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 9, 1 + (client % 250) as u8, 1)
}

/// Measures in a namespace, where the system lets us make one.
pub(super) fn measure(quick: bool) {
    let program = std::env::current_exe().expect("the system knows this executable");
    let script =
        format!("ip link set lo up && ip route add local {NETWORKS} dev lo && exec \"$0\" --limit-within $1");
    let mut command = Command::new("unshare");
    command.args(["-Urn", "sh", "-c", &script]).arg(program).args(quick.then_some("--quick"));
    if !command.status().is_ok_and(|status| status.success()) {
        row(
            "the limit on replies",
            "not measured",
            "needs unshare -Urn and ip (Debian: util-linux, iproute2)",
        );
    }
}

/// Measures one member without the limit and one with it, within the namespace.
pub(crate) fn measure_within(quick: bool) {
    let time = Duration::from_millis(if quick { 200 } else { 1_500 });
    pin_self(SERVER_CORE);
    let served = [("without limit", "0"), ("with the limit on replies", "16000")].map(|(name, limit)| {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let mut member = Member::new("m1", directory.path());
        let address = SocketAddr::from((MEMBER, ports::free()));
        let listen = address.to_string();
        member.flags = ["--dns-listen", &listen, "--dns-rate-limit", limit].map(str::to_owned).to_vec();
        let cluster = Cluster::found(directory, vec![member]);
        names::create(&cluster, 1_000, &[Kind::Static]);
        let pid = cluster.members[0].pid();
        let kinds = vec![Kind::Static];
        let name = format!("Waymark {name}");
        (cluster, Subject { name, pid, address, kinds, clients: of_many_networks, is_reply: is_answer })
    });
    pin_self(ASKER_CORE);
    // They serve until their clusters go.
    let (_clusters, subjects): (Vec<Cluster>, Vec<Subject>) = served.into_iter().unzip();
    measure_kind(Shape::Wide, Kind::Static, 1_000, &subjects, time);
}
