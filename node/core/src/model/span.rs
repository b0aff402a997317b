//! Consecutive addresses from a first to a last, as in `198.51.100.7-198.51.101.2` (SET-16).

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::{Family, Network, NetworkFault, quote};

/// Consecutive addresses of one family; both ends belong to it, so it is never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    family: Family,
    first: u128,
    last: u128,
}

/// Why a text is no span.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanFault {
    /// Neither a `/` nor a `-`.
    #[error("{0} is neither a network, as in 198.51.100.0/24, nor a range, as in 198.51.100.1-198.51.100.9")]
    Form(String),
    /// It is written as a network, but is none.
    #[error("{0}")]
    Network(#[from] NetworkFault),
    /// An end of the range is no address.
    #[error("{0} is no IPv4 or IPv6 address")]
    Address(String),
    /// The last address comes before the first.
    #[error("{first}-{last} ends before it begins")]
    Reversed {
        /// The first address.
        first: IpAddr,
        /// The last address.
        last: IpAddr,
    },
    /// IPv4 on one side, IPv6 on the other.
    #[error("{first}-{last} begins with one family of addresses and ends with the other")]
    Mixed {
        /// The first address.
        first: IpAddr,
        /// The last address.
        last: IpAddr,
    },
}

impl Span {
    /// The addresses from `first` to `last`, which must be of one family and in order.
    pub fn new(first: IpAddr, last: IpAddr) -> Result<Self, SpanFault> {
        let (family, from) = Family::number(first);
        let (other, to) = Family::number(last);
        if family != other {
            return Err(SpanFault::Mixed { first, last });
        }
        if to < from {
            return Err(SpanFault::Reversed { first, last });
        }
        Ok(Self { family, first: from, last: to })
    }

    /// The addresses with the numbers from `first` to `last`; the caller vouches that they are in order and exist.
    pub(crate) fn from_numbers(family: Family, first: u128, last: u128) -> Self {
        debug_assert!(first <= last && last <= family.max(), "{first:x}-{last:x} is no span of {family}");
        Self { family, first, last }
    }

    /// Every address of `family`.
    pub fn everything(family: Family) -> Self {
        Self { family, first: 0, last: family.max() }
    }

    /// The family of its addresses.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The first address.
    pub fn first(&self) -> IpAddr {
        self.family.address(self.first)
    }

    /// The last address.
    pub fn last(&self) -> IpAddr {
        self.family.address(self.last)
    }

    /// The address in front of the first one, if there is one.
    pub fn before(&self) -> Option<IpAddr> {
        Some(self.family.address(self.first.checked_sub(1)?))
    }

    /// The address behind the last one, if there is one.
    pub fn behind(&self) -> Option<IpAddr> {
        (self.last < self.family.max()).then(|| self.family.address(self.last + 1))
    }

    /// The first and the last address, as numbers.
    pub(crate) fn numbers(&self) -> (u128, u128) {
        (self.first, self.last)
    }

    /// Does `address` lie in it?
    pub fn contains(&self, address: IpAddr) -> bool {
        let (family, number) = Family::number(address);
        family == self.family && (self.first..=self.last).contains(&number)
    }

    /// The addresses that lie in both.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let (first, last) = (self.first.max(other.first), self.last.min(other.last));
        (self.family == other.family && first <= last).then_some(Self { family: self.family, first, last })
    }

    /// Is there an address that lies in both?
    pub fn overlaps(&self, other: &Self) -> bool {
        self.intersect(other).is_some()
    }

    /// Both as one, if they overlap or one begins right behind the other.
    pub fn merge(&self, other: &Self) -> Option<Self> {
        // Saturating is exact: nothing lies behind the last address of all, and a span that ends there overlaps
        // whatever touches it.
        let touch = self.first <= other.last.saturating_add(1) && other.first <= self.last.saturating_add(1);
        (self.family == other.family && touch).then(|| Self {
            family: self.family,
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        })
    }

    /// The shortest prefix, in bits, for which the whole network around `address` lies in the span (RTE-1, DNS-10); the
    /// address's full length if it does not lie in it itself.
    pub fn prefix_around(&self, address: IpAddr) -> u8 {
        let (family, number) = Family::number(address);
        if !self.contains(address) {
            return family.bits();
        }
        // A network around the address lies within as long as it holds neither of the two addresses beside the span,
        // so its prefix must be longer than what the address has in common with them.
        let beyond = |neighbour: u128| {
            let common = (neighbour ^ number).leading_zeros() as u8 - (128 - family.bits());
            common + 1
        };
        let before = self.first.checked_sub(1).map_or(0, beyond);
        let behind = if self.last == family.max() { 0 } else { beyond(self.last + 1) };
        before.max(behind)
    }

    /// The one network that has these very addresses, if there is one.
    fn as_network(&self) -> Option<Network> {
        let network = Network::around(self.first(), self.prefix_around(self.first()));
        (network.ends() == (self.first, self.last)).then_some(network)
    }
}

impl From<Network> for Span {
    fn from(network: Network) -> Self {
        let (first, last) = network.ends();
        Self { family: network.family(), first, last }
    }
}

impl FromStr for Span {
    type Err = SpanFault;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('/') {
            return Ok(text.parse::<Network>()?.into());
        }
        let (first, last) = text.split_once('-').ok_or_else(|| SpanFault::Form(quote(text)))?;
        let end = |text: &str| text.parse().map_err(|_| SpanFault::Address(quote(text)));
        Self::new(end(first)?, end(last)?)
    }
}

/// As a network where it is one, else as `first-last`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_network() {
            Some(network) => network.fmt(f),
            None => f.pad(&format!("{}-{}", self.first(), self.last())),
        }
    }
}

#[cfg(test)]
mod tests;
