//! A host: a network namespace with one address, whose packets come out of a TUN device.
//!
//! Packets, not connections, are what a link may lose, double and reorder, so that TCP meets what it meets in the world. A TUN
//! device gives them whole and checksummed, which a pair of virtual Ethernet devices would not, and needs no `tc netem`.

use std::fs::File;
use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, ensure};
use nix::sched::{CloneFlags, setns, unshare};
use tappers::{Interface, Tun};

/// The first three octets of every host's address.
const NETWORK: [u8; 3] = [10, 77, 0];

/// One of them; its namespace is there for as long as this is.
pub struct Host {
    /// The last octet of its address.
    pub number: u8,
    namespace: File,
    device: Arc<Tun>,
}

impl Host {
    /// Makes it; needs the right to do so, as in a user namespace.
    ///
    /// # Errors
    /// When the machine lacks something for it.
    pub fn make(number: u8) -> anyhow::Result<Self> {
        // A namespace is a thread's: this one lives for the making.
        std::thread::scope(|scope| scope.spawn(|| Self::make_here(number)).join().expect("it does not panic"))
    }

    fn make_here(number: u8) -> anyhow::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET).context("a network namespace cannot be made")?;
        let namespace = File::open("/proc/thread-self/ns/net").context("/proc does not show namespaces")?;
        let device =
            Tun::new_named(Interface::new("wm0")?).context("/dev/net/tun cannot be opened: hosts need it")?;
        ip(&["link", "set", "lo", "up"])?;
        ip(&["address", "add", &format!("{}/24", address(number)), "dev", "wm0"])?;
        ip(&["link", "set", "wm0", "up", "mtu", "1500", "txqueuelen", "5000"])?;
        Ok(Self { number, namespace, device: Arc::new(device) })
    }

    /// Does `act` on this host: what it starts and what it listens on is there.
    pub fn within<T: Send>(&self, act: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let there = scope.spawn(|| {
                self.enter();
                act()
            });
            there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// This thread and those that it starts are on this host from now on.
    ///
    /// # Panics
    /// Never, as the namespace is there.
    pub fn enter(&self) {
        setns(&self.namespace, CloneFlags::CLONE_NEWNET).expect("a namespace of ours can be entered");
    }

    /// Where its packets come out and go in.
    pub fn device(&self) -> Arc<Tun> {
        self.device.clone()
    }
}

/// The address of the host `number`.
pub fn address(number: u8) -> Ipv4Addr {
    let [a, b, c] = NETWORK;
    Ipv4Addr::new(a, b, c, number)
}

/// The host that an IPv4 packet is for, if it is one of ours.
pub(super) fn destination(packet: &[u8]) -> Option<u8> {
    let is_ipv4 = packet.first().is_some_and(|first| first >> 4 == 4);
    let [a, b, c, number] = packet.get(16..20)?.try_into().ok()?;
    (is_ipv4 && [a, b, c] == NETWORK).then_some(number)
}

fn ip(arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new("ip").args(arguments).output().context("'ip' (iproute2) cannot be started")?;
    ensure!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_destination_of_ipv4_on_this_network_is_read() {
        let mut packet = [0; 20];
        packet[0] = 0x45;
        packet[16..].copy_from_slice(&address(9).octets());
        assert_eq!(destination(&packet), Some(9));
        packet[16] = 11;
        assert_eq!(destination(&packet), None);
        assert_eq!(destination(&[0x60; 40]), None);
        assert_eq!(destination(&[]), None);
    }
}
