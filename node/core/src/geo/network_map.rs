//! What is said of networks, of which the longest that holds an address counts.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;

use crate::model::{Family, Network};

/// Values by network. A copy shares everything with its original, a change copies no more than the way to its network,
/// one node for a bit of prefix at most, and a look-up allocates nothing: large tables change while they are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkMap<T> {
    v4: Link<T>,
    v6: Link<T>,
    len: usize,
}

type Link<T> = Option<Arc<Node<T>>>;

/// A network that has a value, or that holds some on either side. So equal maps are equal trees, however they were made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node<T> {
    network: Network,
    value: Option<T>,
    /// What lies in the network: where the bit behind its prefix is 0, and where it is 1.
    below: [Link<T>; 2],
}

impl<T: Clone> NetworkMap<T> {
    /// How many networks have a value.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Does no network have a value?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of that very network.
    pub fn get(&self, network: &Network) -> Option<&T> {
        let mut link = self.root(network.family());
        while let Some(node) = link.as_ref().filter(|node| node.holds(network)) {
            if node.network == *network {
                return node.value.as_ref();
            }
            link = &node.below[node.side(network)];
        }
        None
    }

    /// The value of the longest network that holds `address`, if there is one, and the largest network around the address in
    /// which that very value counts, or in which there is none.
    pub fn longest(&self, address: IpAddr) -> (Network, Option<&T>) {
        let family = Family::of(address);
        let address = Network::around(address, family.bits());
        let (mut prefix, mut found) = (0, None);
        let mut link = self.root(family);
        while let Some(node) = link {
            let common = node.network.common(&address).prefix();
            if common < node.network.prefix() {
                // Beside the node: it begins to lie outside with the first bit that differs.
                prefix = common + 1;
                break;
            }
            found = node.value.as_ref().or(found);
            if node.below.iter().all(Option::is_none) {
                prefix = common;
                break;
            }
            prefix = common + 1;
            link = &node.below[node.side(&address)];
        }
        (Network::around(address.address(), prefix), found)
    }

    /// Gives `network` a value; returns the one that it had.
    pub fn insert(&mut self, network: Network, value: T) -> Option<T> {
        let before = insert(self.root_mut(network.family()), network, value);
        self.len += usize::from(before.is_none());
        before
    }

    /// Takes the value of `network` away, and returns it.
    pub fn remove(&mut self, network: &Network) -> Option<T> {
        // What is not there copies nothing.
        self.get(network)?;
        self.len -= 1;
        remove(self.root_mut(network.family()), network)
    }

    /// All networks with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Network, &T)> {
        self.behind(None)
    }

    /// Those behind `network`, in order; all of them if there is none.
    pub fn behind(&self, network: Option<&Network>) -> impl Iterator<Item = (&Network, &T)> {
        let mut waiting = Vec::new();
        for root in [&self.v6, &self.v4] {
            wait(root, network, &mut waiting);
        }
        let nodes = std::iter::from_fn(move || {
            let node: &Node<T> = waiting.pop()?;
            waiting.extend(node.below.iter().rev().flatten().map(AsRef::as_ref));
            Some(node)
        });
        nodes.filter_map(|node| Some((&node.network, node.value.as_ref()?)))
    }

    fn root(&self, family: Family) -> &Link<T> {
        match family {
            Family::V4 => &self.v4,
            Family::V6 => &self.v6,
        }
    }

    fn root_mut(&mut self, family: Family) -> &mut Link<T> {
        match family {
            Family::V4 => &mut self.v4,
            Family::V6 => &mut self.v6,
        }
    }
}

impl<T> Default for NetworkMap<T> {
    /// A map without networks.
    fn default() -> Self {
        Self { v4: None, v6: None, len: 0 }
    }
}

impl<T> Node<T> {
    /// Is all of `network` in this one?
    fn holds(&self, network: &Network) -> bool {
        self.network.family() == network.family() && self.network.common(network) == self.network
    }

    /// On which side of this network a smaller one in it lies.
    fn side(&self, network: &Network) -> usize {
        usize::from(network.bit(self.network.prefix()))
    }
}

fn leaf<T>(network: Network, value: T) -> Arc<Node<T>> {
    Arc::new(Node { network, value: Some(value), below: [None, None] })
}

fn insert<T: Clone>(link: &mut Link<T>, network: Network, value: T) -> Option<T> {
    let Some(node) = link else {
        *link = Some(leaf(network, value));
        return None;
    };
    if node.holds(&network) {
        let node = Arc::make_mut(node);
        if node.network == network {
            return node.value.replace(value);
        }
        let side = node.side(&network);
        return insert(&mut node.below[side], network, value);
    }
    let mut around = Node { network: node.network.common(&network), value: None, below: [None, None] };
    let side = around.side(&node.network);
    around.below[side] = link.take();
    if around.network == network {
        around.value = Some(value);
    } else {
        around.below[1 - side] = Some(leaf(network, value));
    }
    *link = Some(Arc::new(around));
    None
}

/// Takes the value of a network that has one.
fn remove<T: Clone>(link: &mut Link<T>, network: &Network) -> Option<T> {
    let node = Arc::make_mut(link.as_mut()?);
    let removed = if node.network == *network {
        node.value.take()
    } else {
        let side = node.side(network);
        remove(&mut node.below[side], network)
    };
    if node.value.is_none() && node.below.iter().any(Option::is_none) {
        let only = node.below.iter_mut().find_map(Option::take);
        *link = only;
    }
    removed
}

/// Pushes what lies below `link` behind `network`, the last first: whole trees, to be unfolded when it is their turn.
fn wait<'a, T>(link: &'a Link<T>, network: Option<&Network>, waiting: &mut Vec<&'a Node<T>>) {
    let Some(node) = link else { return };
    match network {
        Some(network) if node.network <= *network => {
            if !node.holds(network) {
                return;
            }
            let is_itself = node.network == *network;
            let side = if is_itself { 0 } else { node.side(network) };
            if side == 0 {
                waiting.extend(node.below[1].as_deref());
            }
            let network = if is_itself { None } else { Some(network) };
            wait(&node.below[side], network, waiting);
        }
        _ => waiting.push(node),
    }
}
