//! Measuring how far resolvers are, for members that ask for it and operators who allow it (RTE-7): a query over UDP to
//! each, whose name says what it is for. Any reply will do, a refusal too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use hickory_resolver::proto::op::{Message, MessageType, OpCode, Query};
use hickory_resolver::proto::rr::{Name, RecordType};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};
use waymark_process::chance;
use waymark_proto::agent::v1::{AgentMessage, Measure};

use crate::guard::Guard;
use crate::uplink::message;

/// Queries to one resolver; the shortest round trip counts.
const QUERIES: u32 = 3;

/// How long a reply may take. Nobody whom this agent is near takes longer.
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest reply; more would be cut, and the header is enough.
const REPLY_MAX: usize = 512;

/// What the operator allows.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// Queries in a minute; 0: nothing is measured.
    pub queries_per_minute: u32,
    /// Who is never asked.
    pub guard: Guard,
    /// Where resolvers are asked.
    pub port: u16,
}

impl Allowance {
    /// The highest number of queries in a minute: ten in a second.
    pub const QUERIES_PER_MINUTE_MAX: u32 = 600;
    /// Where resolvers listen.
    pub const PORT: u16 = 53;
}

/// Measures for one stream, one request at a time; ends with it.
#[derive(Debug)]
pub(crate) struct Surveyor {
    allowance: Allowance,
    running: JoinSet<()>,
}

impl Surveyor {
    pub(crate) fn new(allowance: Allowance) -> Self {
        Self { allowance, running: JoinSet::new() }
    }

    /// Begins with what a member asks for, unless the last request is still under way: the budget is the operator's.
    pub(crate) fn begin(&mut self, request: Measure, outbox: mpsc::Sender<AgentMessage>) {
        while self.running.try_join_next().is_some() {}
        if self.allowance.queries_per_minute > 0 && self.running.is_empty() {
            self.running.spawn(measure_all(self.allowance.clone(), request, outbox));
        }
    }
}

async fn measure_all(allowance: Allowance, request: Measure, outbox: mpsc::Sender<AgentMessage>) {
    let Ok(name) = Name::from_ascii(&request.name) else {
        tracing::warn!(name = request.name, "a member asks to measure by a name that is none");
        return;
    };
    let mut turns = interval(Duration::from_secs(60) / allowance.queries_per_minute);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let resolvers = request.resolvers.iter().filter_map(|text| text.parse::<IpAddr>().ok());
    for resolver in resolvers.filter(|resolver| allowance.guard.admit(*resolver).is_ok()) {
        let mut found = Vec::new();
        for _ in 0..QUERIES {
            turns.tick().await;
            // Who does not answer is not asked again: a filter is no resolver.
            match ask(SocketAddr::new(resolver, allowance.port), &name).await {
                Some(round_trip) => found.push(round_trip),
                None => break,
            }
        }
        let samples = u32::try_from(found.len()).unwrap_or(QUERIES);
        if let Some(shortest) = found.into_iter().min()
            && outbox.send(message::measured(resolver, shortest, samples)).await.is_err()
        {
            return;
        }
    }
}

/// How long a reply took, if one came.
async fn ask(resolver: SocketAddr, name: &Name) -> Option<Duration> {
    let id = chance::draw() as u16;
    let mut query = Message::new(id, MessageType::Query, OpCode::Query);
    query.add_query(Query::query(name.clone(), RecordType::TXT));
    let query = query.to_vec().ok()?;
    let any = match resolver {
        SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    let socket = UdpSocket::bind((any, 0)).await.ok()?;
    // Only this resolver's datagrams come to a socket that is connected to it.
    socket.connect(resolver).await.ok()?;
    let asked = Instant::now();
    socket.send(&query).await.ok()?;
    let mut reply = [0; REPLY_MAX];
    loop {
        let length = timeout_at(asked + REPLY_TIMEOUT, socket.recv(&mut reply)).await.ok()?.ok()?;
        if reply[..length].starts_with(&id.to_be_bytes()) {
            return Some(asked.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use waymark_proto::agent::v1::agent_message::Kind;

    fn allowance(port: u16, queries_per_minute: u32) -> Allowance {
        let deny = vec!["127.0.0.9/32".parse().expect("a network")];
        Allowance { queries_per_minute, guard: Guard::new(true, vec![], deny), port }
    }

    fn request(resolvers: &[&str]) -> Measure {
        let resolvers = resolvers.iter().map(ToString::to_string).collect();
        Measure { resolvers, name: "latency-measurement.example.com".into() }
    }

    /// RTE-7: a refusal will do, who is silent is asked once, who is denied never; the name says what it is for.
    #[tokio::test]
    async fn rte_7_whoever_answers_is_measured() {
        let resolver = UdpSocket::bind("0.0.0.0:0").await.expect("a free port");
        let port = resolver.local_addr().expect("it has one").port();
        let mut surveyor = Surveyor::new(allowance(port, Allowance::QUERIES_PER_MINUTE_MAX));
        let (outbox, mut queue) = mpsc::channel(1);
        surveyor.begin(request(&["127.0.0.9", "no address", "127.0.0.1"]), outbox.clone());
        surveyor.begin(request(&["127.0.0.2"]), outbox);
        let answer = async {
            let mut packet = [0; REPLY_MAX];
            loop {
                let (length, source) = resolver.recv_from(&mut packet).await.expect("a query");
                let query = Message::from_vec(&packet[..length]).expect("a message");
                assert_eq!(query.queries[0].name().to_string(), "latency-measurement.example.com.");
                assert!(!query.metadata.recursion_desired, "nobody is to look it up");
                // Not the reply: another's number.
                let [high, low] = (!query.metadata.id).to_be_bytes();
                resolver.send_to(&[high, low], source).await.expect("sent");
                resolver.send_to(&packet[..length], source).await.expect("sent");
            }
        };
        let measured = tokio::select! {
            measured = queue.recv() => measured,
            () = answer => None,
        };
        let Some(AgentMessage { kind: Some(Kind::Measured(measured)) }) = measured else {
            panic!("something else: {measured:?}")
        };
        assert_eq!((measured.resolver.as_str(), measured.samples), ("127.0.0.1", QUERIES));
        assert!(measured.microseconds > 0);
        assert!(queue.recv().await.is_none(), "the second request came too early, and its outbox is gone");
    }

    #[tokio::test]
    async fn rte_7_nothing_is_measured_unless_the_operator_allows_it() {
        let resolver = UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
        let port = resolver.local_addr().expect("it has one").port();
        let (outbox, mut queue) = mpsc::channel(1);
        Surveyor::new(allowance(port, 0)).begin(request(&["127.0.0.1"]), outbox);
        assert!(queue.recv().await.is_none());
    }
}
