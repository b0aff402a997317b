//! Who asks, for the methods that look at it (RTE-1).

use std::net::IpAddr;

use crate::model::{Family, Network, Span, Zone};

/// The client of one query, as one zone sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its address; the first of its network if a client subnet tells no more.
    pub address: IpAddr,
    /// Where that comes from.
    pub from: ClientFrom,
    /// Will somebody want to know for which other clients the answer holds? Finding out is work.
    pub wants_reach: bool,
}

/// Where a client's address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientFrom {
    /// The packet's source.
    Source,
    /// The query's client subnet, with this many bits of prefix (RFC 7871).
    Subnet(u8),
}

impl Client {
    /// The client of a query from `source` in `zone`, with the client subnet that counts for it; the first row that applies. IPv4-mapped addresses count as IPv4.
    ///
    /// | client subnet | zone | address |
    /// |---|---|---|
    /// | prefix > 0 | takes client subnets | the subnet's |
    /// | `/0`: the resolver keeps it to itself | – | the packet's source |
    /// | any | takes none | the packet's source |
    /// | none | – | the packet's source |
    pub fn of(source: IpAddr, subnet: Option<Network>, zone: &Zone) -> Self {
        Self::within(source, subnet.filter(|_| zone.ecs))
    }

    /// The same in a zone that takes client subnets.
    pub fn within(source: IpAddr, subnet: Option<Network>) -> Self {
        match subnet.filter(|subnet| subnet.prefix() > 0) {
            Some(subnet) => Self {
                address: subnet.address(),
                from: ClientFrom::Subnet(subnet.prefix()),
                wants_reach: true,
            },
            None => Self { address: source.to_canonical(), from: ClientFrom::Source, wants_reach: false },
        }
    }

    /// All addresses of the client's family: for whom an answer holds that does not look at the client.
    pub fn everybody(&self) -> Span {
        Span::everything(Family::of(self.address))
    }

    /// The network that stands for the client where nothing better is known: the /24 or the /56 around its address, what
    /// one customer of a provider is usually given. The prefix that the resolver told does not matter, so that whoever is
    /// in that network is answered alike.
    pub fn neighbourhood(&self) -> Network {
        let prefix = if self.address.is_ipv4() { 24 } else { 56 };
        Network::around(self.address, prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{example_state, name};

    fn client(source: &str, subnet: Option<&str>, ecs: bool) -> Client {
        let state = example_state();
        let zone = Zone { ecs, ..(*state.zones[&name("example.com")]).clone() };
        let subnet = subnet.map(|subnet| subnet.parse().unwrap());
        Client::of(source.parse().unwrap(), subnet, &zone)
    }

    #[test]
    fn rte_1_every_row_of_the_table() {
        let address = |client: Client| client.address.to_string();
        assert_eq!(address(client("198.51.100.7", Some("203.0.113.0/24"), true)), "203.0.113.0");
        assert_eq!(address(client("198.51.100.7", Some("2001:db8::/48"), true)), "2001:db8::");
        assert_eq!(address(client("198.51.100.7", Some("0.0.0.0/0"), true)), "198.51.100.7");
        assert_eq!(address(client("198.51.100.7", Some("203.0.113.0/24"), false)), "198.51.100.7");
        assert_eq!(address(client("198.51.100.7", None, true)), "198.51.100.7");
        assert_eq!(address(client("::ffff:198.51.100.7", None, true)), "198.51.100.7");
    }

    #[test]
    fn rte_7_neighbours_are_a_24_or_a_56() {
        let neighbourhood = |source| client(source, None, true).neighbourhood().to_string();
        assert_eq!(neighbourhood("198.51.100.7"), "198.51.100.0/24");
        assert_eq!(neighbourhood("2001:db8:1:2ff::1"), "2001:db8:1:200::/56");
    }
}
