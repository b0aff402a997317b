//! Asks as fast as replies come, with so many queries under way, and measures who answers.

use std::io::{IoSlice, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmmsg};

use super::Subject;
use crate::cpu;
use crate::quantiles::Durations;

/// How queries come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// From few clients, each with many queries at once, as large resolvers ask.
    Bursts,
    /// From many clients, each with one query at a time.
    Wide,
}

impl Shape {
    pub(super) const ALL: [Self; 2] = [Self::Bursts, Self::Wide];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Bursts => "in bursts",
            Self::Wide => "wide",
        }
    }
}

/// How long replies are waited for before they count as lost.
const PATIENCE: Duration = Duration::from_millis(200);

/// What one run came to.
pub(super) struct Load {
    pub(super) cpu_micros: f64,
    pub(super) user_micros: f64,
    pub(super) per_second: f64,
    pub(super) p50_micros: f64,
    pub(super) p99_micros: f64,
    pub(super) lost: u64,
}

/// Asks `packets` in turn for `time`, after a tenth of it to warm up. Either way 128 queries are under way.
pub(super) fn ask(shape: Shape, subject: &Subject, packets: &[Vec<u8>], time: Duration) -> Load {
    match shape {
        Shape::Bursts => ask_by::<32>(4, subject, packets, time),
        Shape::Wide => ask_by::<1>(128, subject, packets, time),
    }
}

/// The same by so many sockets, each with a batch.
fn ask_by<const BATCH: usize>(
    sockets: usize,
    subject: &Subject,
    packets: &[Vec<u8>],
    time: Duration,
) -> Load {
    let mut lines: Vec<Line<BATCH>> =
        (0..sockets).map(|nth| Line::new(subject, nth, nth * packets.len() / sockets)).collect();
    run(&mut lines, packets, time / 10);
    for line in &mut lines {
        (line.replies, line.lost, line.latencies) = (0, 0, Durations::new());
    }
    let (before, started) = (cpu::exact(subject.pid), Instant::now());
    run(&mut lines, packets, time);
    let (took, used) = (started.elapsed(), cpu::exact(subject.pid) - before);
    let mut latencies = Durations::new();
    lines.iter().for_each(|line| latencies.join(&line.latencies));
    let replies: u64 = lines.iter().map(|line| line.replies).sum();
    let each = |time: Duration| time.as_secs_f64() * 1e6 / replies.max(1) as f64;
    Load {
        cpu_micros: each(used.all),
        user_micros: each(used.user),
        per_second: replies as f64 / took.as_secs_f64(),
        p50_micros: latencies.micros_at(0.5),
        p99_micros: latencies.micros_at(0.99),
        lost: lines.iter().map(|line| line.lost).sum(),
    }
}

fn run<const BATCH: usize>(lines: &mut [Line<BATCH>], packets: &[Vec<u8>], time: Duration) {
    let end = Instant::now() + time;
    lines.iter_mut().for_each(|line| line.send(packets));
    while Instant::now() < end {
        for line in lines.iter_mut() {
            line.receive();
            line.send(packets);
        }
    }
    lines.iter_mut().for_each(Line::receive);
}

/// A socket with its batch.
struct Line<const BATCH: usize> {
    socket: UdpSocket,
    next: usize,
    sent_at: Instant,
    outgoing: MultiHeaders<SockaddrIn>,
    incoming: MultiHeaders<SockaddrIn>,
    replies: u64,
    lost: u64,
    latencies: Durations,
}

impl<const BATCH: usize> Line<BATCH> {
    fn new(subject: &Subject, nth: usize, next: usize) -> Self {
        let socket = UdpSocket::bind(((subject.clients)(nth), 0)).expect("a socket can be had");
        socket.connect(subject.address).expect("a UDP socket can be connected");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        Self {
            socket,
            next,
            sent_at: Instant::now(),
            outgoing: MultiHeaders::preallocate(BATCH, None),
            incoming: MultiHeaders::preallocate(BATCH, None),
            replies: 0,
            lost: 0,
            latencies: Durations::new(),
        }
    }

    fn send(&mut self, packets: &[Vec<u8>]) {
        let slices: [_; BATCH] =
            std::array::from_fn(|nth| [IoSlice::new(&packets[(self.next + nth) % packets.len()])]);
        self.next = (self.next + BATCH) % packets.len();
        self.sent_at = Instant::now();
        let nowhere = [None; BATCH];
        let fd = self.socket.as_raw_fd();
        let _ = sendmmsg(fd, &mut self.outgoing, &slices, nowhere, [], MsgFlags::empty());
    }

    fn receive(&mut self) {
        let mut missing = BATCH;
        while missing > 0 {
            let mut replies = [[0_u8; 1_500]; BATCH];
            let mut slices = replies.each_mut().map(|reply| [IoSliceMut::new(reply)]);
            let (fd, flags) = (self.socket.as_raw_fd(), MsgFlags::MSG_WAITFORONE);
            match recvmmsg(fd, &mut self.incoming, slices.iter_mut().take(missing), flags, None) {
                Ok(received) => {
                    let count = received.count();
                    let latency = self.sent_at.elapsed();
                    (0..count).for_each(|_| self.latencies.add(latency));
                    self.replies += count as u64;
                    missing -= count;
                }
                Err(_) => {
                    self.lost += missing as u64;
                    return;
                }
            }
        }
    }
}
