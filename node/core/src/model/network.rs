//! A block of addresses with a common prefix, as in `198.51.100.0/24`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::{Family, quote};

/// A network: all addresses of one family whose first `prefix` bits are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    family: Family,
    first: u128,
    prefix: u8,
}

/// Why a text is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkFault {
    /// No `/`.
    #[error("{0} has no prefix length; a single address is written with /32 or /128")]
    NoPrefix(String),
    /// What stands in front of the `/` is no address.
    #[error("{0} is no IPv4 or IPv6 address")]
    Address(String),
    /// What stands behind the `/` is no length, or a longer one than the address.
    #[error("{prefix} is no prefix length; {family} has 0 to {}", .family.bits())]
    Prefix {
        /// What stands there.
        prefix: String,
        /// The family of the address.
        family: Family,
    },
    /// Bits are set behind the prefix (SET-16).
    #[error("{text} has bits set behind its prefix; did you mean {meant}?")]
    HostBits {
        /// The text.
        text: String,
        /// The network in which that address lies.
        meant: Network,
    },
}

impl Network {
    /// The network with this many bits of prefix in which `address` lies; a prefix longer than the address counts as
    /// the whole address.
    pub fn around(address: IpAddr, prefix: u8) -> Self {
        let (family, number) = Family::number(address);
        let prefix = prefix.min(family.bits());
        Self { family, first: number & !family.host_bits(prefix), prefix }
    }

    /// The family of its addresses.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The first of its addresses.
    pub fn address(&self) -> IpAddr {
        self.family.address(self.first)
    }

    /// The length of the prefix, in bits.
    pub fn prefix(&self) -> u8 {
        self.prefix
    }

    /// Its first and its last address, as numbers.
    pub(super) fn ends(&self) -> (u128, u128) {
        (self.first, self.first | self.family.host_bits(self.prefix))
    }

    /// The longest network that holds both, which are of one family.
    pub(crate) fn common(&self, other: &Self) -> Self {
        let alike = (self.first ^ other.first).leading_zeros() as u8 - (128 - self.family.bits());
        let prefix = alike.min(self.prefix).min(other.prefix);
        Self { family: self.family, first: self.first & !self.family.host_bits(prefix), prefix }
    }

    /// The bit of its first address behind the first `count` bits, of which there are fewer than the address has.
    pub(crate) fn bit(&self, count: u8) -> bool {
        self.first >> (self.family.bits() - 1 - count) & 1 == 1
    }

    /// Does `address` lie in it?
    pub fn contains(&self, address: IpAddr) -> bool {
        let (family, number) = Family::number(address);
        let (first, last) = self.ends();
        family == self.family && (first..=last).contains(&number)
    }
}

impl FromStr for Network {
    type Err = NetworkFault;

    /// Reads an address, `/` and a length; an IPv4-mapped address counts as IPv4, and its length with it.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, length) = text.split_once('/').ok_or_else(|| NetworkFault::NoPrefix(quote(text)))?;
        let written: IpAddr = address.parse().map_err(|_| NetworkFault::Address(quote(address)))?;
        let (family, number) = Family::number(written);
        // A mapped address carries 96 bits in front of the IPv4 address.
        let in_front = if written.is_ipv6() { 128 - family.bits() } else { 0 };
        let prefix = parse_length(length)
            .and_then(|length| length.checked_sub(in_front))
            .filter(|prefix| *prefix <= family.bits())
            .ok_or_else(|| NetworkFault::Prefix { prefix: quote(length), family })?;
        let network = Self::around(written, prefix);
        if network.first == number {
            Ok(network)
        } else {
            Err(NetworkFault::HostBits { text: quote(text), meant: network })
        }
    }
}

/// Up to three digits; `u8::from_str` would take a sign too.
fn parse_length(text: &str) -> Option<u8> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.address(), self.prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        text.parse::<Network>().expect_err(text).to_string()
    }

    #[test]
    fn set_16_reads_and_shows_networks() {
        for (text, shown) in [
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("255.255.255.255/32", "255.255.255.255/32"),
            ("::/0", "::/0"),
            ("2001:DB8::/32", "2001:db8::/32"),
            ("2001:db8::1/128", "2001:db8::1/128"),
            ("::ffff:198.51.100.0/120", "198.51.100.0/24"),
            ("::ffff:0.0.0.0/96", "0.0.0.0/0"),
        ] {
            let network: Network = text.parse().expect(text);
            assert_eq!(network.to_string(), shown);
            assert_eq!(shown.parse(), Ok(network));
        }
    }

    #[test]
    fn set_16_refuses_with_a_reason() {
        assert_eq!(
            fault("198.51.100.7/24"),
            "'198.51.100.7/24' has bits set behind its prefix; did you mean 198.51.100.0/24?"
        );
        assert_eq!(
            fault("2001:db8::1/127"),
            "'2001:db8::1/127' has bits set behind its prefix; did you mean 2001:db8::/127?"
        );
        assert_eq!(fault("10.0.0.0/33"), "'33' is no prefix length; IPv4 has 0 to 32");
        assert_eq!(fault("::/129"), "'129' is no prefix length; IPv6 has 0 to 128");
        assert_eq!(
            fault("10.0.0.1"),
            "'10.0.0.1' has no prefix length; a single address is written with /32 or /128"
        );
        assert_eq!(fault("10.0.0/8"), "'10.0.0' is no IPv4 or IPv6 address");
        for text in ["", "/", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/-1", "10.0.0.0/256", "::ffff:0.0.0.0/95"]
        {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }

    #[test]
    fn rte_1_lies_around_an_address() {
        let address: IpAddr = "198.51.100.77".parse().unwrap();
        for (prefix, shown) in
            [(0, "0.0.0.0/0"), (24, "198.51.100.0/24"), (32, "198.51.100.77/32"), (99, "198.51.100.77/32")]
        {
            let network = Network::around(address, prefix);
            assert_eq!(network.to_string(), shown);
            assert!(network.contains(address));
        }
        let network = Network::around(address, 24);
        assert!(network.contains("::ffff:198.51.100.255".parse().unwrap()));
        assert!(!network.contains("198.51.101.0".parse().unwrap()));
        assert!(!network.contains("::".parse().unwrap()));
    }
}
