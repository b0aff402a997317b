//! The addresses that a DNS name stands for: what an endpoint of a flattened profile answers with (DNS-16).

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::{Name, RecordType, Target, Timestamp, parse_target};

/// A name, and the addresses that it was resolved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flattened {
    name: Name,
    addresses: Vec<Target>,
    since: Timestamp,
}

impl Flattened {
    /// Most addresses of one family: what an answer over UDP has room for, with all that goes with it.
    pub const ADDRESSES_MAX: usize = 8;

    /// What `addresses` leave of themselves: each once, in numeric order, of each family the first
    /// [`Flattened::ADDRESSES_MAX`], and none that no endpoint could have (SET-20). `None` if nothing is left.
    pub fn new(name: Name, addresses: &[IpAddr], since: Timestamp) -> Option<Self> {
        let usable: BTreeSet<IpAddr> =
            addresses.iter().copied().filter(|address| parse_target(&address.to_string()).is_ok()).collect();
        let family = |is_v4: bool| {
            usable.iter().filter(move |address| address.is_ipv4() == is_v4).take(Self::ADDRESSES_MAX)
        };
        let addresses: Vec<Target> =
            family(true).chain(family(false)).map(|address| (*address).into()).collect();
        (!addresses.is_empty()).then_some(Self { name, addresses, since })
    }

    /// The name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Its addresses, one at least, those of IPv4 first.
    pub fn addresses(&self) -> &[Target] {
        &self.addresses
    }

    /// Those that answer `record_type`.
    pub fn answers(&self, record_type: RecordType) -> impl Iterator<Item = &Target> {
        self.addresses.iter().filter(move |address| match address {
            Target::V4(_) => record_type == RecordType::A,
            Target::V6(_) => record_type == RecordType::AAAA,
            Target::Name(_) => false,
        })
    }

    /// Since when the name has had these.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Are `other`'s the same addresses of the same name?
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.name, &self.addresses) == (&other.name, &other.addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flattened(addresses: &[&str]) -> Option<Flattened> {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().expect(text)).collect();
        Flattened::new(Name::parse("www.example.net").expect("a name"), &addresses, Timestamp(1))
    }

    #[test]
    fn dns_16_addresses_are_in_order_each_once_and_such_as_an_endpoint_can_have() {
        let found =
            flattened(&["2001:db8::1", "192.0.2.2", "0.0.0.0", "224.0.0.1", "192.0.2.1", "192.0.2.2", "::"]);
        let found = found.expect("some are left");
        let texts: Vec<String> = found.addresses().iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
        assert_eq!(found.answers(RecordType::A).count(), 2);
        assert_eq!(found.answers(RecordType::AAAA).count(), 1);
        assert_eq!(found.answers(RecordType(16)).count(), 0);
        assert_eq!(flattened(&["::ffff:192.0.2.1", "255.255.255.255"]), None);
    }

    #[test]
    fn dns_16_of_each_family_the_lowest_eight_are_kept() {
        let texts: Vec<String> =
            (1..20).flat_map(|number| [format!("10.0.0.{number}"), format!("2001:db8::{number}")]).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = flattened(&texts).expect("some are left");
        assert_eq!(found.addresses().len(), 2 * Flattened::ADDRESSES_MAX);
        assert_eq!(found.addresses()[7].to_string(), "10.0.0.8");
    }
}
