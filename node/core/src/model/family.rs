//! The two kinds of addresses, and addresses as numbers, which is how networks and spans reckon.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// 32 bits.
    V4,
    /// 128 bits.
    V6,
}

impl Family {
    /// The length of an address, in bits.
    pub fn bits(self) -> u8 {
        match self {
            Self::V4 => 32,
            Self::V6 => 128,
        }
    }

    /// The last address, as a number; the first is 0.
    pub fn max(self) -> u128 {
        u128::MAX >> (128 - u32::from(self.bits()))
    }

    /// The family of `address` and the address as a number. IPv4-mapped IPv6 counts as IPv4 (RTE-1).
    pub fn number(address: IpAddr) -> (Self, u128) {
        match address.to_canonical() {
            IpAddr::V4(address) => (Self::V4, address.to_bits().into()),
            IpAddr::V6(address) => (Self::V6, address.to_bits()),
        }
    }

    /// The family of `address`; an IPv4-mapped one counts as IPv4.
    pub fn of(address: IpAddr) -> Self {
        Self::number(address).0
    }

    /// The address with this number; bits that the family does not have are ignored.
    pub fn address(self, number: u128) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::from_bits(number as u32).into(),
            Self::V6 => Ipv6Addr::from_bits(number).into(),
        }
    }

    /// The numbers that differ among the addresses of one network with a prefix of so many bits: its host bits, all
    /// set. A longer prefix than the family's addresses counts as theirs.
    pub(super) fn host_bits(self, prefix: u8) -> u128 {
        let host = self.bits().saturating_sub(prefix);
        u128::MAX.checked_shr(128 - u32::from(host)).unwrap_or(0)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rte_1_mapped_addresses_are_ipv4() {
        assert_eq!(Family::number("::ffff:198.51.100.7".parse().unwrap()), (Family::V4, 0xc633_6407));
        assert_eq!(Family::number("2001:db8::".parse().unwrap()).0, Family::V6);
        assert_eq!(Family::V4.address(0xc633_6407).to_string(), "198.51.100.7");
    }

    #[test]
    fn host_bits_at_the_ends() {
        assert_eq!(Family::V4.max(), u128::from(u32::MAX));
        assert_eq!(Family::V6.max(), u128::MAX);
        for (family, prefix, bits) in [
            (Family::V4, 0, u128::from(u32::MAX)),
            (Family::V4, 24, 255),
            (Family::V4, 32, 0),
            (Family::V6, 0, u128::MAX),
            (Family::V6, 127, 1),
            (Family::V6, 128, 0),
        ] {
            assert_eq!(family.host_bits(prefix), bits, "{family}/{prefix}");
        }
    }
}
