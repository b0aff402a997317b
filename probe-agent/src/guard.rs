//! Which addresses are never probed (PRB-13). Pure; asked with the resolved address when a connection is about to be
//! made, so that a name that resolves to something else by then gains nothing.
//!
//! An address is judged by the first row that applies:
//!
//! | the address is in | |
//! |---|---|
//! | the operator's `guard.deny` | refused |
//! | the operator's `guard.allow` | probed |
//! | loopback, with `--allow-loopback` | probed |
//! | the built-in list | refused |
//! | none of these | probed |
//!
//! An IPv6 address that carries an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) is judged by both.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

/// What is refused unless the operator allows it, and why.
const BUILT_IN: [(&str, &str); 14] = [
    ("127.0.0.0/8", LOOPBACK),
    ("::1/128", LOOPBACK),
    ("0.0.0.0/8", "is an address of \"this\" network, which reaches the agent's own machine"),
    ("::/128", "is the unspecified address, which reaches the agent's own machine"),
    ("169.254.0.0/16", "is link-local, where clouds keep their metadata services"),
    ("fe80::/10", "is link-local"),
    ("fd00:ec2::254/128", "is a cloud's metadata service"),
    ("168.63.129.16/32", "is a cloud's host service"),
    ("100.100.100.200/32", "is a cloud's metadata service"),
    ("192.0.0.0/24", "is reserved for protocols"),
    ("224.0.0.0/4", MULTICAST),
    ("ff00::/8", MULTICAST),
    ("240.0.0.0/4", "is reserved"),
    ("2001::/32", "is a Teredo address, which no endpoint has"),
];

const LOOPBACK: &str = "is a loopback address; start the agent with --allow-loopback to probe it";
const MULTICAST: &str = "is a multicast address";

/// The rules of one agent.
#[derive(Clone, Debug)]
pub struct Guard {
    allow_loopback: bool,
    allow: Vec<IpNet>,
    deny: Vec<IpNet>,
    built_in: Vec<(IpNet, &'static str)>,
}

/// Why an address is not probed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this agent does not probe {address}: it {reason}")]
pub struct Refusal {
    /// The address.
    pub address: IpAddr,
    /// The rest of a sentence that begins with the address.
    pub reason: String,
}

impl Guard {
    /// Rules with the operator's exceptions.
    pub fn new(allow_loopback: bool, allow: Vec<IpNet>, deny: Vec<IpNet>) -> Self {
        let built_in = BUILT_IN
            .iter()
            .map(|(network, reason)| {
                (network.parse().expect("the built-in networks are well-formed"), *reason)
            })
            .collect();
        Self { allow_loopback, allow, deny, built_in }
    }

    /// May `address` be probed?
    pub fn admit(&self, address: IpAddr) -> Result<(), Refusal> {
        let judged = [Some(address), carried_address(address).map(IpAddr::V4)];
        match judged.into_iter().flatten().find_map(|address| self.objection(address)) {
            Some(reason) => Err(Refusal { address, reason }),
            None => Ok(()),
        }
    }

    fn objection(&self, address: IpAddr) -> Option<String> {
        if let Some(network) = self.deny.iter().find(|network| network.contains(&address)) {
            return Some(format!("is in {network}, which guard.deny names"));
        }
        if self.allow.iter().any(|network| network.contains(&address)) {
            return None;
        }
        let (network, reason) = self.built_in.iter().find(|(network, _)| network.contains(&address))?;
        if *reason == LOOPBACK && self.allow_loopback {
            return None;
        }
        Some(format!("{reason} ({network})"))
    }
}

/// The IPv4 address inside an IPv6 one.
fn carried_address(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else {
        return None;
    };
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        // ::1 and :: are no IPv4 addresses, although they look like compatible ones.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(v4(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        [0x2001, 0, .., high, low] => Some(v4(!high, !low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use proptest::prelude::*;

    use super::*;

    fn networks(texts: &[&str]) -> Vec<IpNet> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn admits(guard: &Guard, address: &str) -> bool {
        guard.admit(address.parse().unwrap()).is_ok()
    }

    /// PRB-13: the list, each network at its first and last address and the neighbours outside.
    #[test]
    fn prb_13_the_built_in_list() {
        let guard = Guard::new(false, vec![], vec![]);
        for (address, admitted) in [
            ("127.0.0.1", false),
            ("127.255.255.255", false),
            ("128.0.0.0", true),
            ("126.255.255.255", true),
            ("::1", false),
            ("::2", false), // ::0.0.0.2
            ("0.0.0.0", false),
            ("0.255.255.255", false),
            ("::", false),
            ("169.254.0.0", false),
            ("169.254.169.254", false),
            ("169.254.170.2", false),
            ("169.253.255.255", true),
            ("169.255.0.0", true),
            ("fe80::1", false),
            ("febf:ffff::1", false),
            ("fec0::1", true),
            ("fd00:ec2::254", false),
            ("fd00:ec2::253", true),
            ("168.63.129.16", false),
            ("168.63.129.17", true),
            ("100.100.100.200", false),
            ("100.64.0.1", true),
            ("100.63.255.255", true),
            ("100.128.0.0", true),
            ("192.0.0.192", false),
            ("192.0.1.0", true),
            ("224.0.0.1", false),
            ("239.255.255.255", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("223.255.255.255", true),
            ("ff02::1", false),
            // Private networks are probed: endpoints live there.
            ("10.0.0.1", true),
            ("172.16.0.1", true),
            ("192.168.1.1", true),
            ("fd12::1", true),
            ("192.0.2.1", true),
            ("2001:db8::1", true),
        ] {
            assert_eq!(admits(&guard, address), admitted, "{address}");
        }
    }

    /// PRB-13: an IPv4 address in IPv6 clothes is judged as what it is.
    #[test]
    fn prb_13_carried_addresses_are_judged_too() {
        let guard = Guard::new(false, vec![], vec![]);
        for (address, admitted) in [
            ("::ffff:169.254.169.254", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:192.0.2.1", true),
            ("::169.254.169.254", false),
            ("64:ff9b::a9fe:a9fe", false),
            ("64:ff9b::c000:201", true),
            ("2002:a9fe:a9fe::1", false),
            ("2002:7f00:1::1", false),
            ("2002:c000:201::1", true),
            ("2001:0:1:2:3:4:5601:5601", false),
            ("2001:0:1:2:3:4:3fff:fdfe", false), // Teredo altogether
        ] {
            assert_eq!(admits(&guard, address), admitted, "{address}");
        }
    }

    /// PRB-13: `--allow-loopback` opens loopback and nothing else.
    #[test]
    fn prb_13_loopback_can_be_allowed() {
        let guard = Guard::new(true, vec![], vec![]);
        assert!(admits(&guard, "127.0.0.1"));
        assert!(admits(&guard, "127.1.2.3"));
        assert!(admits(&guard, "::1"));
        assert!(admits(&guard, "::ffff:127.0.0.1"));
        assert!(!admits(&guard, "0.0.0.0"));
        assert!(!admits(&guard, "169.254.169.254"));
    }

    /// PRB-13: the operator's lists; deny beats allow beats the built-in list.
    #[test]
    fn prb_13_the_operators_lists() {
        let guard = Guard::new(
            true,
            networks(&["169.254.7.0/24"]),
            networks(&["10.0.0.0/8", "127.0.0.9/32", "169.254.7.7/32"]),
        );
        assert!(admits(&guard, "169.254.7.1"));
        assert!(!admits(&guard, "169.254.7.7"));
        assert!(!admits(&guard, "169.254.8.1"));
        assert!(!admits(&guard, "10.1.2.3"));
        assert!(!admits(&guard, "::ffff:10.1.2.3"));
        assert!(!admits(&guard, "127.0.0.9"));
        assert!(admits(&guard, "127.0.0.8"));
    }

    #[test]
    fn prb_13_a_refusal_says_what_and_why() {
        let guard = Guard::new(false, vec![], networks(&["10.0.0.0/8"]));
        let reason = |address: &str| guard.admit(address.parse().unwrap()).unwrap_err().to_string();
        assert_eq!(
            reason("127.0.0.1"),
            "this agent does not probe 127.0.0.1: it is a loopback address; start the agent with --allow-loopback to \
             probe it (127.0.0.0/8)"
        );
        assert_eq!(
            reason("10.1.2.3"),
            "this agent does not probe 10.1.2.3: it is in 10.0.0.0/8, which guard.deny names"
        );
    }

    proptest! {
        /// PRB-13: whatever is refused as IPv4 is refused in every form that carries it.
        #[test]
        fn prb_13_no_form_of_a_refused_address_is_admitted(bits in any::<u32>()) {
            let guard = Guard::new(false, vec![], vec![]);
            let v4 = Ipv4Addr::from(bits);
            let [high, low] = [(bits >> 16) as u16, bits as u16];
            for v6 in [
                v4.to_ipv6_mapped(),
                v4.to_ipv6_compatible(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            ] {
                if guard.admit(v4.into()).is_err() {
                    prop_assert!(guard.admit(v6.into()).is_err(), "{v6}");
                }
            }
        }
    }
}
