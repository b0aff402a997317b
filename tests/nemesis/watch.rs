//! What each member answers by DNS for a record whose text counts up: every query is accounted for, and no answer may go back
//! (CLU-8, DNS-20).

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use harness::eventually::let_pass;
use hickory_proto::op::Message;

use crate::counter::Count;
use crate::excuse::Excuse;
use crate::register;
use crate::scene::ZONE;

/// A query to each member this often.
const PACE: Duration = Duration::from_millis(20);

/// How long a reply may take: far beyond what a starved machine needs, so that a miss is a loss. What is lost stays lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long one waits at a time, to see whether a reply is still to be expected.
const GLANCE: Duration = Duration::from_millis(250);

/// Findings that are told in full; of more only the number says something.
const TOLD_MAX: usize = 20;

/// What one member, or all, answered.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) asked: u64,
    /// Queries without a reply from a member that had no excuse.
    pub(crate) lost: u64,
    /// What should not have been answered, in words.
    pub(crate) wrong: Vec<String>,
    /// The last value.
    pub(crate) last: u64,
}

/// Asks until it is stopped.
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Seen>>,
}

impl Watch {
    /// Asks each of the members, which have these excuses for not answering, for the record that counts.
    pub(crate) fn start(members: &[SocketAddr], excuses: &[Arc<Excuse>], count: &Arc<Count>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let asker = |(&member, excuse): (&SocketAddr, &Arc<Excuse>)| {
            let asker = Asker { member, excuse: excuse.clone(), count: count.clone(), stop: stop.clone() };
            std::thread::spawn(move || asker.ask_steadily())
        };
        let threads = members.iter().zip(excuses).map(asker).collect();
        Self { stop, threads }
    }

    /// Ends, and tells what each member answered.
    pub(crate) fn end(self) -> Vec<Seen> {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().map(|thread| thread.join().expect("an asker ends well")).collect()
    }
}

/// What the member answers now, in the time that one glance takes.
pub(crate) fn glance(member: SocketAddr) -> Option<u64> {
    ask(&connected(member), || false).ok()
}

fn connected(member: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a socket can be had");
    socket.connect(member).expect("a UDP socket can be connected");
    socket.set_read_timeout(Some(GLANCE)).expect("a timeout can be set");
    socket
}

struct Asker {
    member: SocketAddr,
    excuse: Arc<Excuse>,
    count: Arc<Count>,
    stop: Arc<AtomicBool>,
}

impl Asker {
    fn ask_steadily(&self) -> Seen {
        let socket = connected(self.member);
        let mut seen = Seen::default();
        while !self.stop.load(Ordering::Relaxed) {
            let (excuse, begun) = (self.excuse.number(), Instant::now());
            seen.asked += 1;
            match ask(&socket, || begun.elapsed() < PATIENCE && self.excuse.none_since(excuse)) {
                Ok(value) => self.judge(value, &mut seen),
                Err(_) if !self.excuse.none_since(excuse) => {}
                Err(Fault::NoReply) => seen.lost += 1,
                Err(Fault::Other(answer)) => tell(&mut seen.wrong, format!("{}: {answer}", self.member)),
            }
            let_pass(PACE.saturating_sub(begun.elapsed()), "queries come at a steady pace");
        }
        seen
    }

    /// Values are written one after the other, each in the place of the one before.
    fn judge(&self, value: u64, seen: &mut Seen) {
        let begun = self.count.begun();
        if value < seen.last {
            tell(&mut seen.wrong, format!("{} went back from {} to {value}", self.member, seen.last));
        }
        if value > begun {
            tell(&mut seen.wrong, format!("{} answered {value} when {begun} was the newest", self.member));
        }
        seen.last = value;
    }
}

fn tell(wrong: &mut Vec<String>, what: String) {
    if wrong.len() < TOLD_MAX {
        wrong.push(what);
    }
}

enum Fault {
    NoReply,
    Other(String),
}

/// One query, and its reply while that is `expected`. Replies to earlier ones, which may come twice or late, are passed over.
fn ask(socket: &UdpSocket, expected: impl Fn() -> bool) -> Result<u64, Fault> {
    let name = format!("{}.{ZONE}.", register::name(Count::KEY));
    let (id, packet) = harness::dns::packet(&name, "TXT");
    // Nobody listens while the process is down: the system says so at the next call.
    socket.send(&packet).map_err(|_| Fault::NoReply)?;
    let mut reply = [0; 4_096];
    loop {
        match socket.recv(&mut reply) {
            Ok(length) => {
                let message = Message::from_vec(&reply[..length]);
                let message = message.map_err(|error| Fault::Other(error.to_string()))?;
                if message.metadata.id == id {
                    return value(&message);
                }
            }
            Err(_) if expected() => {}
            Err(_) => return Err(Fault::NoReply),
        }
    }
}

fn value(message: &Message) -> Result<u64, Fault> {
    let text = message.answers.first().map(|record| record.data.to_string());
    let value = text.as_deref().and_then(|text| text.trim_matches('"').parse().ok());
    value.ok_or_else(|| Fault::Other(format!("{:?} {text:?}", message.metadata.response_code)))
}
