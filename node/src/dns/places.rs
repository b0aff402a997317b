//! Who is connected, and who has to go when it is full: whoever has asked nothing for longest (DNS-14).

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use waymark_process::descriptors;

use super::rate::network;

/// How many connections there may be, over all transports together, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections in all; one more, and the longest idle is closed.
    pub(super) connections_max: usize,
    /// Connections from one client network; one more, and its longest idle is closed.
    pub(super) network_max: usize,
    /// How long a connection may go without a query, and a reply without being read.
    pub(super) idle_max: Duration,
    /// How long the rest of a message may take, once its first byte is there.
    pub(super) message_max: Duration,
    /// How long a TLS or QUIC handshake may take.
    pub(super) handshake_max: Duration,
}

impl Limits {
    /// In all: each may hold 64 KiB of a query.
    const CONNECTIONS_MAX: usize = 10_000;
    /// From one network: a resolver needs one or two, a farm behind one prefix some dozens.
    const NETWORK_MAX: usize = 64;
    /// RFC 7766 §6.2.3 wants seconds; DNS-14 says ten.
    pub(super) const IDLE_MAX: Duration = Duration::from_secs(10);
    /// A query fits one segment, and a lost one is sent again within a second.
    const MESSAGE_MAX: Duration = Duration::from_secs(2);
    /// Two or three round trips, one of them lost and sent again.
    const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

    /// The usual limits, and never more than half of the descriptors that the process may have, of which it asks for
    /// enough: consensus and the disk need theirs.
    pub(super) fn of_process() -> Self {
        let descriptors = descriptors::raise(2 * Self::CONNECTIONS_MAX as u64);
        let half = usize::try_from(descriptors / 2).unwrap_or(usize::MAX);
        Self {
            connections_max: half.clamp(1, Self::CONNECTIONS_MAX),
            network_max: Self::NETWORK_MAX,
            idle_max: Self::IDLE_MAX,
            message_max: Self::MESSAGE_MAX,
            handshake_max: Self::HANDSHAKE_MAX,
        }
    }
}

/// Who is connected, on all listeners together.
#[derive(Debug)]
pub(super) struct Places {
    limits: Limits,
    started: Instant,
    taken: Mutex<Taken>,
}

/// A seat's place in the order of those who may have to go: when its last query was answered, or the connection taken in,
/// in milliseconds since the start, and the seat's id.
type Order = (u64, u64);

/// Whatever is done here costs the logarithm of the number of seats: it is done under a lock.
#[derive(Debug, Default)]
struct Taken {
    next_id: u64,
    seats: HashMap<u64, Seat>,
    /// All seats, the longest idle first.
    everybody: BTreeSet<Order>,
    /// The same for each network that has a seat.
    networks: HashMap<IpAddr, BTreeSet<Order>>,
}

#[derive(Debug)]
struct Seat {
    network: IpAddr,
    active_ms: u64,
    evicted: CancellationToken,
}

/// One connection's place; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    id: u64,
    active_ms: u64,
    evicted: CancellationToken,
    places: Arc<Places>,
}

impl Places {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, started: Instant::now(), taken: Mutex::default() }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// A place for a connection from `source`, and how many others were closed for it.
    pub(super) fn take(self: &Arc<Self>, source: IpAddr) -> (Place, u64) {
        let (network, active_ms) = (network(source), self.now_ms());
        let mut taken = self.lock();
        let mut evictions = 0;
        if let Some(neighbours) =
            taken.networks.get(&network).filter(|seats| seats.len() >= self.limits.network_max)
        {
            let longest_idle = neighbours.first().copied();
            evictions += taken.evict(longest_idle);
        }
        if taken.seats.len() >= self.limits.connections_max {
            let longest_idle = taken.everybody.first().copied();
            evictions += taken.evict(longest_idle);
        }
        let id = taken.next_id;
        taken.next_id += 1;
        let evicted = CancellationToken::new();
        taken.seat(id, Seat { network, active_ms, evicted: evicted.clone() });
        (Place { id, active_ms, evicted, places: self.clone() }, evictions)
    }

    /// Closes the longest idle connection, as when descriptors have run out. Returns how many were closed.
    pub(super) fn make_room(&self) -> u64 {
        let mut taken = self.lock();
        let longest_idle = taken.everybody.first().copied();
        taken.evict(longest_idle)
    }

    /// Is more than half of the places taken?
    pub(super) fn is_crowded(&self) -> bool {
        self.lock().seats.len() > self.limits.connections_max / 2
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Nothing that is done under the lock leaves it half done.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn seat(&mut self, id: u64, seat: Seat) {
        let order = (seat.active_ms, id);
        self.everybody.insert(order);
        self.networks.entry(seat.network).or_default().insert(order);
        self.seats.insert(id, seat);
    }

    fn vacate(&mut self, id: u64) -> Option<Seat> {
        let seat = self.seats.remove(&id)?;
        let order = (seat.active_ms, id);
        self.everybody.remove(&order);
        if let Some(neighbours) = self.networks.get_mut(&seat.network) {
            neighbours.remove(&order);
            if neighbours.is_empty() {
                self.networks.remove(&seat.network);
            }
        }
        Some(seat)
    }

    fn touch(&mut self, id: u64, active_ms: u64) {
        // Who has been evicted may still be answering.
        if let Some(seat) = self.vacate(id) {
            self.seat(id, Seat { active_ms, ..seat });
        }
    }

    /// Has somebody go, if there is anybody. Returns how many.
    fn evict(&mut self, who: Option<Order>) -> u64 {
        let seat = who.and_then(|(_, id)| self.vacate(id));
        seat.map_or(0, |seat| {
            seat.evicted.cancel();
            1
        })
    }
}

impl Place {
    /// A query has been answered: the connection is not idle.
    pub(super) fn touch(&mut self) {
        let now_ms = self.places.now_ms();
        // Many queries come in one packet.
        if now_ms != self.active_ms {
            self.active_ms = now_ms;
            self.places.lock().touch(self.id, now_ms);
        }
    }

    /// Is more than half of the places taken?
    pub(super) fn is_in_a_crowd(&self) -> bool {
        self.places.is_crowded()
    }

    /// Is cancelled when the place is needed for somebody else.
    pub(super) fn evicted(&self) -> CancellationToken {
        self.evicted.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().vacate(self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn places(connections_max: usize, network_max: usize) -> Arc<Places> {
        Arc::new(Places::new(Limits { connections_max, network_max, ..Limits::of_process() }))
    }

    fn is_evicted(place: &Place) -> bool {
        place.evicted.is_cancelled()
    }

    #[test]
    fn dns_14_a_full_house_closes_the_longest_idle() {
        let places = places(3, 3);
        let (first, _) = places.take("192.0.2.1".parse().expect("an address"));
        let (second, _) = places.take("198.51.100.1".parse().expect("an address"));
        let (_third, evictions) = places.take("203.0.113.1".parse().expect("an address"));
        assert_eq!(evictions, 0);
        places.lock().touch(first.id, u64::MAX);
        let (_fourth, evictions) = places.take("203.0.113.2".parse().expect("an address"));
        assert_eq!((evictions, is_evicted(&first), is_evicted(&second)), (1, false, true));
        assert_eq!(places.lock().seats.len(), 3);
    }

    #[test]
    fn dns_14_one_network_cannot_take_the_places_of_others() {
        let places = places(100, 2);
        let (other, _) = places.take("198.51.100.1".parse().expect("an address"));
        let (first, _) = places.take("192.0.2.1".parse().expect("an address"));
        let (second, _) = places.take("192.0.2.77".parse().expect("an address"));
        let (_third, evictions) = places.take("192.0.2.200".parse().expect("an address"));
        assert_eq!(evictions, 1);
        assert_eq!((is_evicted(&other), is_evicted(&first), is_evicted(&second)), (false, true, false));
    }

    #[test]
    fn a_place_is_given_back() {
        let places = places(1, 1);
        drop(places.take("192.0.2.1".parse().expect("an address")));
        assert_eq!(places.take("192.0.2.1".parse().expect("an address")).1, 0);
        assert_eq!((places.make_room(), places.lock().seats.len()), (0, 0));
    }

    /// DNS-14: whatever comes and goes, the orders say the same as the seats, and nothing is left behind.
    #[test]
    fn dns_14_the_orders_agree_with_the_seats() {
        let places = places(300, 40);
        let mut held = Vec::new();
        for nth in 0..5_000_u32 {
            let address = Ipv4Addr::from(0x0a00_0000 | nth.wrapping_mul(2_654_435_761) >> 20 << 8);
            held.push(places.take(address.into()).0);
            places.lock().touch(u64::from(nth / 2), u64::from(nth));
            if nth % 3 == 0 {
                held.swap_remove(usize::try_from(nth).expect("it fits") % held.len());
            }
            let taken = places.lock();
            let orders: BTreeSet<Order> =
                taken.seats.iter().map(|(id, seat)| (seat.active_ms, *id)).collect();
            assert!(orders.len() <= 300 && orders == taken.everybody, "after {nth}");
            let by_network: BTreeSet<Order> = taken.networks.values().flatten().copied().collect();
            assert_eq!(by_network, orders);
            assert!(taken.networks.values().all(|seats| (1..=40).contains(&seats.len())));
        }
        drop(held);
        let taken = places.lock();
        assert!(taken.seats.is_empty() && taken.everybody.is_empty() && taken.networks.is_empty());
    }

    #[test]
    fn clients_are_counted_by_network() {
        let of = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(of("192.0.2.200"), of("192.0.2.1"));
        assert_eq!(of("::ffff:192.0.2.9"), of("192.0.2.1"));
        assert_eq!(of("2001:db8:0:12ff::1"), of("2001:db8:0:1200::"));
        assert_ne!(of("2001:db8:0:1300::1"), of("2001:db8:0:1200::"));
    }
}
