//! Free ports on loopback, below the range that the system gives to outgoing connections.

use std::collections::BTreeSet;
use std::net::{TcpListener, UdpSocket};
use std::sync::Mutex;

const FIRST: u16 = 20_000;
const LAST: u16 = 31_999;

/// Ports between the starts of processes that follow each other: more than one of them takes.
const STRIDE: u32 = 97;

static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A port that is free for UDP and TCP on 127.0.0.1 and was not given out by this process before.
///
/// # Panics
/// When there is none.
pub fn free() -> u16 {
    let mut taken = TAKEN.lock().expect("no holder panics");
    // Processes that run at the same time start at different places.
    let start = std::process::id().wrapping_mul(STRIDE) % u32::from(LAST - FIRST);
    let start = u16::try_from(start).expect("it is below the range's length");
    let port = (0..LAST - FIRST)
        .map(|step| FIRST + (start + step) % (LAST - FIRST))
        .find(|port| !taken.contains(port) && is_free(*port))
        .expect("a port is free on loopback");
    taken.insert(port);
    port
}

/// Can `port` be had on every loopback address, for UDP and for TCP? Endpoints have addresses of their own.
pub fn is_free(port: u16) -> bool {
    TcpListener::bind(("0.0.0.0", port)).is_ok() && UdpSocket::bind(("0.0.0.0", port)).is_ok()
}
