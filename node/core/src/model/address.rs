//! Reading what an endpoint resolves to (SET-20).

use std::net::IpAddr;

use super::{Name, NameFault, Target};

/// Why a text is no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// No target at all.
    #[error("is empty")]
    Empty,
    /// A scheme, a path or a port is in it.
    #[error("has a scheme, a path or a port; only a DNS name or an address is wanted here")]
    NotBare,
    /// All zeros.
    #[error("is the unspecified address")]
    Unspecified,
    /// A group, not a place.
    #[error("is a multicast address")]
    Multicast,
    /// The broadcast address.
    #[error("is the broadcast address")]
    Broadcast,
    /// An IPv4 address dressed as IPv6.
    #[error("is an IPv4-mapped address; write the IPv4 address itself")]
    Mapped,
    /// Digits and dots, but no address.
    #[error("is no IPv4 address")]
    NoAddress,
    /// Neither an address nor a name.
    #[error("{0}")]
    Name(#[from] NameFault),
}

/// Reads a DNS name, an IPv4 or an IPv6 address.
pub fn parse_target(text: &str) -> Result<Target, AddressFault> {
    if text.is_empty() {
        return Err(AddressFault::Empty);
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        check_address(address)?;
        return Ok(address.into());
    }
    if text.contains(['/', ':', '@', '[', ']', '?', '#']) {
        return Err(AddressFault::NotBare);
    }
    let last_label = text.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    if last_label.bytes().all(|byte| byte.is_ascii_digit()) {
        // No top-level domain is all digits (RFC 3696 §2): a mistyped address must not become a name.
        return Err(AddressFault::NoAddress);
    }
    Ok(Target::Name(Name::parse(text)?))
}

fn check_address(address: IpAddr) -> Result<(), AddressFault> {
    match address {
        address if address.is_unspecified() => Err(AddressFault::Unspecified),
        address if address.is_multicast() => Err(AddressFault::Multicast),
        IpAddr::V4(address) if address.is_broadcast() => Err(AddressFault::Broadcast),
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => Err(AddressFault::Mapped),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_20_takes_names_and_addresses() {
        assert_eq!(parse_target("192.0.2.1"), Ok(Target::V4([192, 0, 2, 1].into())));
        assert!(matches!(parse_target("2001:db8::1"), Ok(Target::V6(_))));
        assert!(matches!(parse_target("Web.example.net."), Ok(Target::Name(_))));
        assert!(matches!(parse_target("10.0.0.1"), Ok(Target::V4(_))));
    }

    #[test]
    fn set_20_refuses_what_cannot_be_a_target() {
        for (text, fault) in [
            ("", AddressFault::Empty),
            ("https://a.example", AddressFault::NotBare),
            ("a.example:80", AddressFault::NotBare),
            ("192.0.2.1/32", AddressFault::NotBare),
            ("0.0.0.0", AddressFault::Unspecified),
            ("::", AddressFault::Unspecified),
            ("224.0.0.1", AddressFault::Multicast),
            ("ff02::1", AddressFault::Multicast),
            ("255.255.255.255", AddressFault::Broadcast),
            ("::ffff:192.0.2.1", AddressFault::Mapped),
            ("999.1.1.1", AddressFault::NoAddress),
            ("2130706433", AddressFault::NoAddress),
            ("a..b", AddressFault::Name(NameFault::EmptyLabel)),
        ] {
            assert_eq!(parse_target(text), Err(fault), "{text}");
        }
    }
}
