//! Addresses of one family, as the system has them: who sent a datagram, and on a socket that is bound to no address of its
//! own, which of the machine's addresses it came to, so that the reply leaves from there (DNS-13).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nix::libc::{in_addr, in_pktinfo, in6_addr, in6_pktinfo};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, SockaddrIn, SockaddrIn6, SockaddrLike};

/// Which of the machine's addresses a datagram came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    address: IpAddr,
    /// The interface, for an address that is good on that link only; else 0.
    interface: u32,
}

/// A sender's address of one family.
pub(super) trait Address: SockaddrLike + Copy + PartialEq {
    /// Where a reply is to leave from, as the system wants it.
    type Departure;

    /// Without the port.
    fn ip(&self) -> IpAddr;

    /// The sender's port; nothing can be sent to port 0.
    fn port(&self) -> u16;

    /// A number by which equal senders come together when sorted; others seldom share it.
    fn key(&self) -> u64;

    /// The address that a datagram came to, if `message` says it.
    fn reached(message: &ControlMessageOwned) -> Option<Reached>;

    /// What has a reply leave from there.
    fn departure(reached: Reached) -> Option<Self::Departure>;

    /// The same for the system.
    fn control(departure: &Self::Departure) -> ControlMessage<'_>;
}

impl Address for SockaddrIn {
    type Departure = in_pktinfo;

    fn ip(&self) -> IpAddr {
        SockaddrIn::ip(self).into()
    }

    fn port(&self) -> u16 {
        SockaddrIn::port(self)
    }

    fn key(&self) -> u64 {
        u64::from(u32::from(SockaddrIn::ip(self))) << 16 | u64::from(SockaddrIn::port(self))
    }

    fn reached(message: &ControlMessageOwned) -> Option<Reached> {
        let ControlMessageOwned::Ipv4PacketInfo(info) = message else { return None };
        let address = Ipv4Addr::from(info.ipi_spec_dst.s_addr.to_ne_bytes());
        Some(Reached { address: address.into(), interface: 0 })
    }

    fn departure(reached: Reached) -> Option<Self::Departure> {
        let IpAddr::V4(address) = reached.address else { return None };
        let (ipi_spec_dst, none) =
            (in_addr { s_addr: u32::from_ne_bytes(address.octets()) }, in_addr { s_addr: 0 });
        Some(in_pktinfo { ipi_ifindex: 0, ipi_spec_dst, ipi_addr: none })
    }

    fn control(departure: &Self::Departure) -> ControlMessage<'_> {
        ControlMessage::Ipv4PacketInfo(departure)
    }
}

impl Address for SockaddrIn6 {
    type Departure = in6_pktinfo;

    fn ip(&self) -> IpAddr {
        SockaddrIn6::ip(self).into()
    }

    fn port(&self) -> u16 {
        SockaddrIn6::port(self)
    }

    fn key(&self) -> u64 {
        let bits = u128::from(SockaddrIn6::ip(self));
        ((bits >> 64) as u64 ^ bits as u64).rotate_left(16) ^ u64::from(SockaddrIn6::port(self))
    }

    fn reached(message: &ControlMessageOwned) -> Option<Reached> {
        let ControlMessageOwned::Ipv6PacketInfo(info) = message else { return None };
        let address = Ipv6Addr::from(info.ipi6_addr.s6_addr);
        // Such an address means nothing without its interface; for others the routes say it better.
        let interface = if address.is_unicast_link_local() { info.ipi6_ifindex } else { 0 };
        Some(Reached { address: address.into(), interface })
    }

    fn departure(reached: Reached) -> Option<Self::Departure> {
        let IpAddr::V6(address) = reached.address else { return None };
        Some(in6_pktinfo {
            ipi6_addr: in6_addr { s6_addr: address.octets() },
            ipi6_ifindex: reached.interface,
        })
    }

    fn control(departure: &Self::Departure) -> ControlMessage<'_> {
        ControlMessage::Ipv6PacketInfo(departure)
    }
}
