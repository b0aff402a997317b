//! Carries packets from host to host as the links say: a thread that reads for each host, and one that delivers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tappers::Tun;

use super::host::{Host, destination};
use super::link::Links;

/// Packets under way; those beyond are dropped, as a router drops them. A hundred megabytes, far above what few hosts have under
/// way within some milliseconds.
const UNDER_WAY_MAX: usize = 65_536;

/// A packet, ordered by arrival and among equals by departure.
type Packet = Reverse<(Duration, u64, u8, Vec<u8>)>;

/// What the threads share.
pub struct Router {
    started: Instant,
    devices: BTreeMap<u8, Arc<Tun>>,
    links: Mutex<Links>,
    under_way: Mutex<BinaryHeap<Packet>>,
    is_due: Condvar,
}

impl Router {
    /// Starts its threads, which end with the process.
    pub fn start<'a>(hosts: impl IntoIterator<Item = &'a Host>, links: Links) -> Arc<Self> {
        let devices = hosts.into_iter().map(|host| (host.number, host.device())).collect();
        let router = Arc::new(Self {
            started: Instant::now(),
            devices,
            links: Mutex::new(links),
            under_way: Mutex::default(),
            is_due: Condvar::new(),
        });
        for (&number, device) in &router.devices {
            let (router, device) = (router.clone(), device.clone());
            std::thread::spawn(move || router.read(number, &device));
        }
        let delivering = router.clone();
        std::thread::spawn(move || delivering.deliver());
        router
    }

    /// The links, to be changed or counted.
    pub fn links(&self) -> MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn under_way(&self) -> MutexGuard<'_, BinaryHeap<Packet>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, from: u8, device: &Tun) {
        let mut packet = [0; 2_048];
        let mut departed = 0_u64;
        while let Ok(length) = device.recv(&mut packet) {
            let packet = &packet[..length];
            let Some(to) = destination(packet).filter(|to| self.devices.contains_key(to)) else { continue };
            let arrivals = self.links().carry((from, to), length, self.started.elapsed());
            let mut under_way = self.under_way();
            for arrival in arrivals.into_iter().flatten() {
                if under_way.len() < UNDER_WAY_MAX {
                    departed += 1;
                    under_way.push(Reverse((arrival, departed, to, packet.to_vec())));
                }
            }
            self.is_due.notify_one();
        }
    }

    fn deliver(&self) {
        let mut under_way = self.under_way();
        loop {
            let now = self.started.elapsed();
            match under_way.peek() {
                None => under_way = self.is_due.wait(under_way).unwrap_or_else(PoisonError::into_inner),
                Some(Reverse((arrival, ..))) if *arrival > now => {
                    let wait = *arrival - now;
                    let woken = self.is_due.wait_timeout(under_way, wait);
                    under_way = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
                Some(_) => {
                    let Some(Reverse((_, _, to, packet))) = under_way.pop() else { continue };
                    drop(under_way);
                    // A host whose queue is full drops it, as hosts do.
                    let _ = self.devices[&to].send(&packet);
                    under_way = self.under_way();
                }
            }
        }
    }
}
