//! Who is connected over TCP, and who has to go when it is full: whoever has asked nothing for longest (DNS-14).

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};
use tokio_util::sync::CancellationToken;

/// How many connections there may be, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections in all; one more, and the longest idle is closed.
    pub(super) connections_max: usize,
    /// Connections from one client network; one more, and its longest idle is closed.
    pub(super) network_max: usize,
    /// How long a connection may go without a query, and a reply without being read.
    pub(super) idle_max: Duration,
}

impl Limits {
    /// In all: each may hold 64 KiB of a query, and finding the longest idle looks at all of them.
    const CONNECTIONS_MAX: usize = 1_000;
    /// From one network: a resolver needs one or two, a farm behind one prefix some dozens.
    const NETWORK_MAX: usize = 64;
    /// RFC 7766 §6.2.3 wants seconds; DNS-14 says ten.
    const IDLE_MAX: Duration = Duration::from_secs(10);

    /// The usual limits, and never more than half of the descriptors that the process may have: consensus and the disk
    /// need theirs.
    pub(super) fn of_process() -> Self {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let half = usize::try_from(descriptors / 2).unwrap_or(usize::MAX);
        let connections_max = half.clamp(1, Self::CONNECTIONS_MAX);
        Self { connections_max, network_max: Self::NETWORK_MAX, idle_max: Self::IDLE_MAX }
    }
}

/// Who is connected, on all listeners together.
#[derive(Debug)]
pub(super) struct Places {
    limits: Limits,
    started: Instant,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    next_id: u64,
    seats: HashMap<u64, Arc<Seat>>,
}

#[derive(Debug)]
struct Seat {
    network: IpAddr,
    /// When the last query was answered, or the connection taken in; milliseconds since the start.
    active_ms: AtomicU64,
    evicted: CancellationToken,
}

/// One connection's place; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    id: u64,
    seat: Arc<Seat>,
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
        let network = network(source);
        let mut taken = self.lock();
        let mut evictions = 0;
        if taken.seats.values().filter(|seat| seat.network == network).count() >= self.limits.network_max {
            evictions += taken.evict(|seat| seat.network == network);
        }
        if taken.seats.len() >= self.limits.connections_max {
            evictions += taken.evict(|_| true);
        }
        let id = taken.next_id;
        taken.next_id += 1;
        let active_ms = AtomicU64::new(self.now_ms());
        let seat = Arc::new(Seat { network, active_ms, evicted: CancellationToken::new() });
        taken.seats.insert(id, seat.clone());
        (Place { id, seat, places: self.clone() }, evictions)
    }

    /// Closes the longest idle connection, as when descriptors have run out. Returns how many were closed.
    pub(super) fn make_room(&self) -> u64 {
        self.lock().evict(|_| true)
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
    fn evict(&mut self, may_go: impl Fn(&Seat) -> bool) -> u64 {
        let candidates = self.seats.iter().filter(|(_, seat)| may_go(seat));
        let longest_idle = candidates.min_by_key(|(id, seat)| (seat.active_ms.load(Ordering::Relaxed), **id));
        let Some(id) = longest_idle.map(|(id, _)| *id) else { return 0 };
        if let Some(seat) = self.seats.remove(&id) {
            seat.evicted.cancel();
        }
        1
    }
}

impl Place {
    /// A query has been answered: the connection is not idle.
    pub(super) fn touch(&self) {
        self.seat.active_ms.store(self.places.now_ms(), Ordering::Relaxed);
    }

    /// Returns when the place is needed for somebody else.
    pub(super) async fn evicted(&self) {
        self.seat.evicted.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().seats.remove(&self.id);
    }
}

/// The network that a client is counted under: /24 or /56, what one customer usually has.
fn network(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4((u32::from(address) & !0xff).into()),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) >> 72 << 72)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(connections_max: usize, network_max: usize) -> Arc<Places> {
        Arc::new(Places::new(Limits { connections_max, network_max, idle_max: Duration::from_secs(10) }))
    }

    fn is_evicted(place: &Place) -> bool {
        place.seat.evicted.is_cancelled()
    }

    #[test]
    fn dns_14_a_full_house_closes_the_longest_idle() {
        let places = places(3, 3);
        let (first, _) = places.take("192.0.2.1".parse().expect("an address"));
        let (second, _) = places.take("198.51.100.1".parse().expect("an address"));
        let (_third, evictions) = places.take("203.0.113.1".parse().expect("an address"));
        assert_eq!(evictions, 0);
        first.seat.active_ms.store(u64::MAX, Ordering::Relaxed);
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

    #[test]
    fn clients_are_counted_by_network() {
        let of = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(of("192.0.2.200"), of("192.0.2.1"));
        assert_eq!(of("::ffff:192.0.2.9"), of("192.0.2.1"));
        assert_eq!(of("2001:db8:0:12ff::1"), of("2001:db8:0:1200::"));
        assert_ne!(of("2001:db8:0:1300::1"), of("2001:db8:0:1200::"));
    }
}
