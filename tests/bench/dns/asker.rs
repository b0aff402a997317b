//! Asks as fast as replies come, with so many queries under way, looks at each reply, and measures who answers.

use std::io::{IoSlice, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use nix::cmsg_space;
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmmsg};

use super::Subject;
use crate::cpu;
use crate::quantiles::Durations;

/// How queries come.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
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

/// The header's bytes (RFC 1035 §4.1.1).
const HEADER: usize = 12;

/// Where the question of a query ends.
fn question_end(packet: &[u8]) -> usize {
    let name_length = packet[HEADER..].iter().position(|byte| *byte == 0).expect("a query's name ends");
    HEADER + name_length + 5
}

fn run<const BATCH: usize>(lines: &mut [Line<BATCH>], packets: &[Vec<u8>], time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        for line in lines.iter_mut() {
            line.receive();
            if line.missing == 0 {
                line.send(packets);
            }
        }
    }
    while lines.iter().any(|line| line.missing > 0) {
        lines.iter_mut().for_each(Line::receive);
    }
}

/// A socket with its batch. It is looked at again and again and never waited for: whoever answers would else spend time, which
/// is counted as theirs, on waking the asker, as no interface of a network asks for.
struct Line<const BATCH: usize> {
    socket: UdpSocket,
    is_reply: fn(&[u8]) -> bool,
    /// The packets of the batch that is under way, and of which number it is.
    under_way: [Vec<u8>; BATCH],
    round: u8,
    missing: usize,
    next: usize,
    sent_at: Instant,
    outgoing: MultiHeaders<SockaddrIn>,
    incoming: MultiHeaders<SockaddrIn>,
    room: Vec<[u8; 1_500]>,
    lengths: Vec<usize>,
    replies: u64,
    lost: u64,
    latencies: Durations,
}

impl<const BATCH: usize> Line<BATCH> {
    fn new(subject: &Subject, nth: usize, next: usize) -> Self {
        let socket = UdpSocket::bind(((subject.clients)(nth), 0)).expect("a socket can be had");
        socket.connect(subject.address).expect("a UDP socket can be connected");
        socket.set_nonblocking(true).expect("a socket need not block");
        Self {
            socket,
            is_reply: subject.is_reply,
            under_way: std::array::from_fn(|_| Vec::new()),
            round: 0,
            missing: 0,
            next,
            sent_at: Instant::now(),
            outgoing: MultiHeaders::preallocate(1, (BATCH > 1).then(|| cmsg_space!(u16))),
            incoming: MultiHeaders::preallocate(BATCH, None),
            room: vec![[0; 1_500]; BATCH],
            lengths: Vec::with_capacity(BATCH),
            replies: 0,
            lost: 0,
            latencies: Durations::new(),
        }
    }

    /// Sends the next queries, all of one size, in one piece: the system cuts it on the way.
    fn send(&mut self, packets: &[Vec<u8>]) {
        self.round = self.round.wrapping_add(1);
        for (nth, packet) in self.under_way.iter_mut().enumerate() {
            packet.clone_from(&packets[(self.next + nth) % packets.len()]);
            packet[..2].copy_from_slice(&[self.round, nth as u8]);
        }
        self.next = (self.next + BATCH) % packets.len();
        (self.sent_at, self.missing) = (Instant::now(), BATCH);
        let size = self.under_way[0].len() as u16;
        let segments = [ControlMessage::UdpGsoSegments(&size)];
        let slices: [_; BATCH] = std::array::from_fn(|nth| IoSlice::new(&self.under_way[nth]));
        let control = if BATCH == 1 { &[][..] } else { &segments };
        let fd = self.socket.as_raw_fd();
        let _ = sendmmsg(fd, &mut self.outgoing, &[slices], [None], control, MsgFlags::empty());
    }

    /// Takes in the replies that are there, and gives the others up when their time is over.
    fn receive(&mut self) {
        let mut slices: [_; BATCH] = {
            let mut room = self.room.iter_mut();
            std::array::from_fn(|_| {
                [IoSliceMut::new(&mut room.next().expect("there is room for a batch")[..])]
            })
        };
        let (fd, flags) = (self.socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
        self.lengths.clear();
        match recvmmsg(fd, &mut self.incoming, slices.iter_mut(), flags, None) {
            Ok(received) => self.lengths.extend(received.map(|message| message.bytes)),
            Err(_) if self.missing > 0 && self.sent_at.elapsed() > PATIENCE => {
                self.lost += self.missing as u64;
                self.missing = 0;
            }
            Err(_) => {}
        }
        let latency = self.sent_at.elapsed();
        for (length, reply) in self.lengths.iter().zip(&self.room) {
            // Of a batch that was given up.
            if self.missing == 0 || reply[0] != self.round {
                continue;
            }
            let (reply, asked) = (&reply[..*length], &self.under_way[usize::from(reply[1])]);
            let is_own = reply.get(HEADER..question_end(asked)) == asked.get(HEADER..question_end(asked));
            assert!(is_own && (self.is_reply)(reply), "{reply:02x?} is no reply to {asked:02x?}");
            self.latencies.add(latency);
            self.replies += 1;
            self.missing -= 1;
        }
    }
}
