//! The client subnet option of a query, and its echo in the reply (RFC 7871, DNS-10).

use std::net::IpAddr;

use hickory_server::proto::rr::rdata::opt::EdnsOption;
use waymark_core::model::Network;

/// The option's code.
pub(super) const CODE: u16 = 8;

/// Family, source prefix length and scope prefix length stand in front of the address.
const FIXED_LEN: usize = 4;

/// The most that it can be: the fixed part and a whole IPv6 address.
const LEN_MAX: usize = FIXED_LEN + 16;

/// Where among them the scope stands.
const SCOPE_AT: usize = 3;

/// The bits in front of an IPv4-mapped IPv6 address, which counts as IPv4 (RTE-1).
const MAPPED_BITS: u8 = 96;

/// A client subnet as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClientSubnet {
    /// The client's network; one of no length if the resolver keeps it to itself.
    pub(super) network: Network,
    /// Bits in front of the network's address: 96 for an IPv4-mapped one, else none.
    in_front: u8,
    /// The option's data, and how much of it there is.
    data: [u8; LEN_MAX],
    length: usize,
}

impl ClientSubnet {
    /// Reads the option's data; None if it is malformed (RFC 7871 §6, §7.1.2).
    ///
    /// | family | source prefix | scope | address |
    /// |---|---|---|---|
    /// | 0 | 0 | 0 | none |
    /// | 1 (IPv4) | 0–32 | 0 | as many bytes as the prefix begins, no bit set behind it |
    /// | 2 (IPv6) | 0–128 | 0 | the same |
    pub(super) fn read(data: &[u8]) -> Option<Self> {
        let (fixed, address) = data.split_first_chunk::<FIXED_LEN>()?;
        let [family_high, family_low, prefix, scope] = *fixed;
        let unspecified = match u16::from_be_bytes([family_high, family_low]) {
            // What a resolver sends that wants nothing told of its client and has no family to name.
            0 if prefix == 0 => IpAddr::from([0; 4]),
            1 if prefix <= 32 => IpAddr::from([0; 4]),
            2 if prefix <= 128 => IpAddr::from([0; 16]),
            _ => return None,
        };
        if scope != 0 || address.len() != usize::from(prefix).div_ceil(8) {
            return None;
        }
        let written = match unspecified {
            IpAddr::V4(_) => IpAddr::from(padded::<4>(address)),
            IpAddr::V6(_) => IpAddr::from(padded::<16>(address)),
        };
        let in_front = if written.to_canonical() == written { 0 } else { MAPPED_BITS };
        let network = Network::around(written, prefix.checked_sub(in_front)?);
        let has_host_bits = network.address() != written.to_canonical();
        (!has_host_bits).then(|| Self { network, in_front, data: padded(data), length: data.len() })
    }

    /// The option for the reply: the query's with the scope for which the answer holds.
    pub(super) fn with_scope(&self, scope: u8) -> EdnsOption {
        let (data, length) = self.scoped(scope);
        EdnsOption::Unknown(CODE, data[..length].to_vec())
    }

    /// The same option's data and their length.
    pub(super) fn scoped(&self, scope: u8) -> ([u8; LEN_MAX], usize) {
        let mut data = self.data;
        // Nothing narrower than all of IPv4 can be said of a mapped address, unless the answer is for everybody.
        data[SCOPE_AT] = if scope == 0 { 0 } else { self.in_front + scope };
        (data, self.length)
    }
}

/// `address` with zeros behind it.
fn padded<const LEN: usize>(address: &[u8]) -> [u8; LEN] {
    let mut whole = [0; LEN];
    whole[..address.len()].copy_from_slice(address);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(data: &[u8]) -> Option<String> {
        ClientSubnet::read(data).map(|subnet| subnet.network.to_string())
    }

    #[test]
    fn dns_10_reads_every_form() {
        for (data, expected) in [
            (&[0, 1, 24, 0, 198, 51, 100][..], "198.51.100.0/24"),
            (&[0, 1, 20, 0, 198, 51, 96], "198.51.96.0/20"),
            (&[0, 1, 32, 0, 198, 51, 100, 7], "198.51.100.7/32"),
            (&[0, 1, 0, 0], "0.0.0.0/0"),
            (&[0, 0, 0, 0], "0.0.0.0/0"),
            (&[0, 2, 0, 0], "::/0"),
            (&[0, 2, 56, 0, 0x20, 1, 0x0d, 0xb8, 0, 1, 2], "2001:db8:1:200::/56"),
            (&[0, 2, 120, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 51, 100], "198.51.100.0/24"),
        ] {
            assert_eq!(network(data).as_deref(), Some(expected), "{data:?}");
        }
    }

    #[test]
    fn dns_10_refuses_what_is_malformed() {
        for (data, why) in [
            (&[][..], "empty"),
            (&[0, 1, 24], "no scope"),
            (&[0, 1, 24, 0, 198, 51], "an address that is too short"),
            (&[0, 1, 24, 0, 198, 51, 100, 0], "an address that is too long"),
            (&[0, 1, 20, 0, 198, 51, 100], "a bit behind the prefix"),
            (&[0, 1, 33, 0, 198, 51, 100, 7, 0], "a prefix longer than an address"),
            (&[0, 1, 24, 24, 198, 51, 100], "a scope in a query"),
            (&[0, 0, 8, 0, 198], "an address without a family"),
            (&[0, 3, 8, 0, 198], "a family that nobody knows"),
        ] {
            assert_eq!(network(data), None, "{why}");
        }
    }

    #[test]
    fn dns_10_echoes_what_came_with_the_scope() {
        let echo = |data: &[u8], scope| match ClientSubnet::read(data).unwrap().with_scope(scope) {
            EdnsOption::Unknown(CODE, data) => data,
            other => panic!("{other:?}"),
        };
        assert_eq!(echo(&[0, 1, 24, 0, 198, 51, 100], 20), [0, 1, 24, 20, 198, 51, 100]);
        assert_eq!(echo(&[0, 0, 0, 0], 0), [0, 0, 0, 0]);
        let mapped = [0, 2, 120, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 51, 100];
        assert_eq!(echo(&mapped, 24)[SCOPE_AT], 120);
        assert_eq!(echo(&mapped, 0)[SCOPE_AT], 0);
    }
}
