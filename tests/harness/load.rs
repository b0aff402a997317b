//! A steady stream of queries, of which every one is accounted for.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, ResponseCode};

/// What became of the queries.
#[derive(Clone, Debug, Default)]
pub struct Tallied {
    /// How many were sent.
    pub sent: u64,
    /// How many got no reply.
    pub lost: u64,
    /// How many got a reply other than NOERROR with an answer.
    pub bad: u64,
    /// How often each answer was given.
    pub answers: BTreeMap<String, u64>,
}

/// A load that runs until it is stopped or for [`Load::LIMIT`].
#[derive(Debug)]
pub struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Tallied>>,
}

impl Load {
    /// No load runs longer than this.
    pub const LIMIT: Duration = Duration::from_secs(120);

    /// Asks each of `members` for `name` and `kind`, `per_second` times a second each.
    pub fn start(members: &[SocketAddr], name: &str, kind: &str, per_second: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = members
            .iter()
            .map(|&member| {
                let (stop, name, kind) = (stop.clone(), name.to_owned(), kind.to_owned());
                std::thread::spawn(move || ask_steadily(member, &name, &kind, per_second, &stop))
            })
            .collect();
        Self { stop, threads }
    }

    /// Ends the load and sums up.
    ///
    /// # Panics
    /// When one of its threads did.
    pub fn stop(self) -> Tallied {
        self.stop.store(true, Ordering::Relaxed);
        let mut sum = Tallied::default();
        for thread in self.threads {
            let part = thread.join().expect("a load thread ends well");
            sum.sent += part.sent;
            sum.lost += part.lost;
            sum.bad += part.bad;
            for (answer, count) in part.answers {
                *sum.answers.entry(answer).or_default() += count;
            }
        }
        sum
    }
}

/// One query at a time, each with two seconds for its reply; the next starts when it is due.
#[expect(clippy::disallowed_methods, reason = "a load is paced by the clock")]
fn ask_steadily(member: SocketAddr, name: &str, kind: &str, per_second: u32, stop: &AtomicBool) -> Tallied {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket can be had on loopback");
    socket.connect(member).expect("a UDP socket can be connected");
    socket.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout can be set");
    let (start, pace) = (Instant::now(), Duration::from_secs(1) / per_second);
    let (mut tallied, mut reply) = (Tallied::default(), [0; 4096]);
    while !stop.load(Ordering::Relaxed) && start.elapsed() < Load::LIMIT {
        let due = pace * u32::try_from(tallied.sent).unwrap_or(u32::MAX);
        std::thread::sleep(due.saturating_sub(start.elapsed()));
        let (id, packet) = super::dns::packet(name, kind);
        tallied.sent += 1;
        let received = socket.send(&packet).and_then(|_| socket.recv(&mut reply));
        match received.ok().and_then(|length| Message::from_vec(&reply[..length]).ok()) {
            Some(message) if message.metadata.id == id => note(&mut tallied, &message),
            _ => tallied.lost += 1,
        }
    }
    tallied
}

fn note(tallied: &mut Tallied, message: &Message) {
    match message.answers.first() {
        Some(record) if message.metadata.response_code == ResponseCode::NoError => {
            *tallied.answers.entry(record.data.to_string()).or_default() += 1;
        }
        _ => tallied.bad += 1,
    }
}
