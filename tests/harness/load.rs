//! A steady stream of queries, of which every one is accounted for.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
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
    /// When each good answer came and how long it took, those of one member behind those of another.
    pub latencies: Latencies,
}

/// Many durations, of which failed tests print no more than how many there are.
#[derive(Clone, Default)]
pub struct Latencies(pub Vec<Latency>);

impl std::fmt::Debug for Latencies {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} of them", self.0.len())
    }
}

/// How long an answer took, from the moment at which its question was due.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    /// Milliseconds from the load's start to the question.
    pub due_ms: u32,
    /// Microseconds to the answer.
    pub took_us: u32,
}

/// A load that runs until it is stopped or for [`Load::LIMIT`].
#[derive(Debug)]
pub struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Tallied>>,
    /// Held while a member is asked.
    gates: Vec<Arc<Mutex<()>>>,
}

impl Load {
    /// No load runs longer than this, unless it is told how long.
    pub const LIMIT: Duration = Duration::from_secs(120);

    /// Asks each of `members` for `name` and `kind`, `per_second` times a second each.
    pub fn start(members: &[SocketAddr], name: &str, kind: &str, per_second: u32) -> Self {
        Self::asking(members, &[(name, kind)], per_second, Self::LIMIT)
    }

    /// Asks each of `members` for names and types in turn, for at most so long.
    pub fn asking(
        members: &[SocketAddr],
        questions: &[(&str, &str)],
        per_second: u32,
        limit: Duration,
    ) -> Self {
        let owned = |(name, kind): &(&str, &str)| ((*name).to_owned(), (*kind).to_owned());
        let questions: Vec<_> = questions.iter().map(owned).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let gates: Vec<Arc<Mutex<()>>> = members.iter().map(|_| Arc::default()).collect();
        let asker = |(&member, gate): (&SocketAddr, &Arc<Mutex<()>>)| {
            let (questions, gate, stop) = (questions.clone(), gate.clone(), stop.clone());
            let asker = Asker { member, questions, pace: Duration::from_secs(1) / per_second, limit };
            std::thread::spawn(move || asker.ask_steadily(&gate, &stop))
        };
        let threads = members.iter().zip(&gates).map(asker).collect();
        Self { stop, threads, gates }
    }

    /// Waits for the reply that the member at this place owes, and asks it nothing until what is returned is dropped.
    ///
    /// # Panics
    /// When its thread did.
    pub fn without(&self, member: usize) -> MutexGuard<'_, ()> {
        self.gates[member].lock().expect("an asker ends well")
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
            sum.latencies.0.extend(part.latencies.0);
        }
        sum
    }
}

/// Asks one member.
struct Asker {
    member: SocketAddr,
    questions: Vec<(String, String)>,
    pace: Duration,
    limit: Duration,
}

impl Asker {
    /// One query at a time, each with two seconds for its reply; the next starts when it is due.
    #[expect(clippy::disallowed_methods, reason = "a load is paced by the clock")]
    fn ask_steadily(&self, gate: &Mutex<()>, stop: &AtomicBool) -> Tallied {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket can be had on loopback");
        socket.connect(self.member).expect("a UDP socket can be connected");
        socket.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout can be set");
        let (start, mut tallied, mut reply) = (Instant::now(), Tallied::default(), [0; 4096]);
        let mut due = Duration::ZERO;
        for (name, kind) in self.questions.iter().cycle() {
            std::thread::sleep(due.saturating_sub(start.elapsed()));
            let before = start.elapsed();
            let open = gate.lock().expect("whoever closes it ends well");
            // What was not to be asked while the gate was closed is not made up for.
            due += start.elapsed().saturating_sub(before);
            if stop.load(Ordering::Relaxed) || start.elapsed() > self.limit {
                break;
            }
            let (id, packet) = super::dns::packet(name, kind);
            tallied.sent += 1;
            let received = socket.send(&packet).and_then(|_| socket.recv(&mut reply));
            drop(open);
            match received.ok().and_then(|length| Message::from_vec(&reply[..length]).ok()) {
                Some(message) if message.metadata.id == id => {
                    note(&mut tallied, &message, due, start.elapsed());
                }
                _ => tallied.lost += 1,
            }
            due += self.pace;
        }
        tallied
    }
}

fn note(tallied: &mut Tallied, message: &Message, due: Duration, now: Duration) {
    match message.answers.first() {
        Some(record) if message.metadata.response_code == ResponseCode::NoError => {
            *tallied.answers.entry(record.data.to_string()).or_default() += 1;
            let due_ms = u32::try_from(due.as_millis()).unwrap_or(u32::MAX);
            let took_us = u32::try_from(now.saturating_sub(due).as_micros()).unwrap_or(u32::MAX);
            tallied.latencies.0.push(Latency { due_ms, took_us });
        }
        _ => tallied.bad += 1,
    }
}
