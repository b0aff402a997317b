//! DNS over datagrams: one task for each socket, one socket for each core, no task for a packet.

use std::io;
use std::net::{SocketAddr, UdpSocket as BlockingSocket};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio_util::sync::CancellationToken;

use super::counters::count;
use super::respond::Transport;
use super::responder::Responder;

/// The longest datagram there is, so that none is cut and taken for malformed.
const DATAGRAM_MAX: usize = 65_535;

/// Datagrams that are answered before other tasks get their turn.
const BURST_MAX: usize = 64;

/// How long a socket rests after the system failed to hand out or to take a datagram: it would else spin.
const REST: Duration = Duration::from_millis(5);

/// Answers what comes to `socket` until `shutdown`, then what it still holds.
pub(super) async fn serve(socket: UdpSocket, mut responder: Responder, shutdown: CancellationToken) {
    let mut packet = vec![0; DATAGRAM_MAX];
    let stopped = shutdown.cancelled();
    tokio::pin!(stopped);
    loop {
        tokio::select! {
            biased;
            () = &mut stopped => break,
            ready = socket.readable() => {
                if ready.is_err() {
                    tokio::time::sleep(REST).await;
                }
            }
        }
        answer_burst(&socket, &mut packet, &mut responder).await;
    }
    drain(socket, &mut packet, &mut responder).await;
}

async fn answer_burst(socket: &UdpSocket, packet: &mut [u8], responder: &mut Responder) {
    for _ in 0..BURST_MAX {
        let (length, source) = match socket.try_recv_from(packet) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => {
                count(&responder.counters().failures);
                return tokio::time::sleep(REST).await;
            }
        };
        let Some(reply) = responder.answer(&packet[..length], Transport::Udp, source.ip()) else { continue };
        // Waits while the send buffer is full: an asker's reply is worth more than the next query.
        if socket.send_to(reply, source).await.is_err() {
            count(&responder.counters().failures);
        }
    }
    tokio::task::yield_now().await;
}

/// Answers what the socket holds, and lets nothing further in: a socket that is connected to itself takes packets from
/// nobody else, so that later queries are refused by the system or go to other members, instead of being lost with us.
async fn drain(socket: UdpSocket, packet: &mut [u8], responder: &mut Responder) {
    if let Ok(own) = socket.local_addr() {
        let _ = socket.connect(own).await;
    }
    // The runtime may not know yet that there is something to read: ask the system itself.
    let Ok(socket) = socket.into_std() else { return };
    while let Ok((length, source)) = socket.recv_from(packet) {
        if let Some(reply) = responder.answer(&packet[..length], Transport::Udp, source.ip())
            && send(&socket, reply, source).await.is_err()
        {
            count(&responder.counters().failures);
        }
    }
}

async fn send(socket: &BlockingSocket, reply: &[u8], target: SocketAddr) -> io::Result<usize> {
    loop {
        match socket.send_to(reply, target) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => tokio::time::sleep(REST).await,
            outcome => return outcome,
        }
    }
}
