//! From a target's name to the one address that is probed (PRB-10), and whose fault it is if there is none (PRB-9).
//!
//! Answers are kept for their TTL, as everybody's resolver does: a probe meets the address that clients meet.

use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::{Either, select};
use hickory_resolver::config::ResolverOpts;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::{Query, ResponseCode};
use hickory_resolver::proto::rr::{Name as DnsName, RecordType};
use hickory_resolver::{Hosts, TokioResolver};
use tokio::time::{Instant, timeout_at};
use waymark_core::health::OutcomeClass;
use waymark_core::model::Name;
use waymark_process::resolver::resolver;

use crate::probe::{Fault, may_come_from_afar};

/// Queries under way over one TCP connection to a resolver. Over UDP each has a socket of its own, and the probes that
/// may be under way bound them.
const TCP_QUERIES_MAX: usize = 1_024;
/// Most answers that are kept; beyond it the oldest are asked for again.
const CACHE_ANSWERS_MAX: u64 = 65_536;
/// "No such name" is believed no longer than the fastest check's interval, so that a name that comes back is found.
const NEGATIVE_TTL_MAX: Duration = Duration::from_secs(1);
/// How long the control question may take.
const CONTROL_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the control question's answer holds: many names fail together when a resolver does.
const CONTROL_TTL: Duration = Duration::from_secs(1);

/// Finds addresses by `/etc/hosts` and then by DNS.
#[derive(Debug)]
pub struct Resolver {
    hosts: Hosts,
    /// Nothing if the system names no resolver: then no name can be found, but addresses can be probed.
    dns: Result<Dns, String>,
}

#[derive(Debug)]
struct Dns {
    resolver: TokioResolver,
    /// The same servers without a cache.
    control: TokioResolver,
    /// A name that had an answer: the control question.
    known: Mutex<Option<DnsName>>,
    /// When the control question was last asked, and whether it was answered.
    controlled: tokio::sync::Mutex<Option<(Instant, bool)>>,
}

impl Resolver {
    /// Asks `server`, or else the resolvers of the system.
    pub fn new(server: Option<SocketAddr>) -> Self {
        Self { hosts: Hosts::from_system().unwrap_or_default(), dns: Dns::new(server) }
    }

    /// Why no name can be found, if that is so.
    pub fn trouble(&self) -> Option<&str> {
        self.dns.as_ref().err().map(String::as_str)
    }

    /// The IPv4 address of `name`, or if it has none its IPv6 address. Over by `deadline`.
    pub(crate) async fn resolve(&self, name: &Name, deadline: Instant) -> Result<IpAddr, Fault> {
        let dns_name = DnsName::from_labels(name.labels())
            .map_err(|error| Fault::new(OutcomeClass::Dns, format!("{name} is no DNS name: {error}")))?;
        if let Some(address) = self.in_hosts(&dns_name) {
            return Ok(address);
        }
        let dns = self.dns.as_ref().map_err(|trouble| Fault::agent(format!("no resolver: {trouble}")))?;
        match dns.ask_patiently(&dns_name, deadline).await {
            Ok(Some(address)) => Ok(address),
            Ok(None) => Err(Fault::new(OutcomeClass::Dns, format!("{name} has no address"))),
            Err(Silence::Name(why)) => Err(Fault::new(why.class(), format!("{name}: {why}"))),
            Err(Silence::Resolver(why)) => {
                Err(Fault::agent(format!("the resolver answers for no name: {why}")))
            }
            Err(Silence::Own(why)) => Err(Fault::agent(format!("the resolver cannot be asked: {why}"))),
        }
    }

    fn in_hosts(&self, name: &DnsName) -> Option<IpAddr> {
        [RecordType::A, RecordType::AAAA].into_iter().find_map(|kind| {
            let lookup = self.hosts.lookup_static_host(&Query::query(name.clone(), kind))?;
            lookup.answers().iter().find_map(|record| record.data.ip_addr())
        })
    }
}

/// Why a name got no answer.
#[derive(Clone, Debug, thiserror::Error)]
enum Why {
    #[error("the resolver says {0}")]
    Code(ResponseCode),
    #[error("no answer in time")]
    Late,
    #[error("{0}")]
    Other(String),
    /// This machine could not even ask.
    #[error("{0}")]
    Own(String),
}

impl Why {
    fn class(&self) -> OutcomeClass {
        if matches!(self, Self::Late) { OutcomeClass::Timeout } else { OutcomeClass::Dns }
    }
}

/// Whose fault it is: the name's, while others are answered for, the resolver's altogether, or this machine's own?
enum Silence {
    Name(Why),
    Resolver(Why),
    Own(Why),
}

impl Dns {
    fn new(server: Option<SocketAddr>) -> Result<Self, String> {
        let tune = |options: &mut ResolverOpts| {
            options.max_active_requests = TCP_QUERIES_MAX;
            options.cache_size = CACHE_ANSWERS_MAX;
            options.negative_max_ttl = Some(NEGATIVE_TTL_MAX);
        };
        let tune_control = |options: &mut ResolverOpts| {
            tune(options);
            options.cache_size = 0;
            options.attempts = 0;
        };
        Ok(Self {
            resolver: resolver(server, tune)?,
            control: resolver(server, tune_control)?,
            known: Mutex::new(None),
            controlled: tokio::sync::Mutex::new(None),
        })
    }

    /// Asks for the addresses of `name`; while the answer is late, and when there is none, finds out whether the
    /// resolver answers for any name at all.
    async fn ask_patiently(&self, name: &DnsName, deadline: Instant) -> Result<Option<IpAddr>, Silence> {
        let now = Instant::now();
        let half_time = now + deadline.saturating_duration_since(now) / 2;
        let mut asked = pin!(self.ask(name));
        let control = timeout_at(deadline, self.answers_at_all(name));
        let (end, answers) = match timeout_at(half_time, &mut asked).await {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(why)) => (Err(why), control.await),
            Err(_) => match select(asked, pin!(control)).await {
                Either::Left((Ok(found), _)) => return Ok(found),
                Either::Left((Err(why), control)) => (Err(why), control.await),
                Either::Right((answers, asked)) => {
                    (timeout_at(deadline, asked).await.unwrap_or(Err(Why::Late)), answers)
                }
            },
        };
        end.map_err(|why| match why {
            Why::Own(_) => Silence::Own(why),
            _ if answers.unwrap_or(false) => Silence::Name(why),
            _ => Silence::Resolver(why),
        })
    }

    async fn ask(&self, name: &DnsName) -> Result<Option<IpAddr>, Why> {
        let found = match self.ask_for(name, RecordType::A).await? {
            Some(address) => Some(address),
            None => self.ask_for(name, RecordType::AAAA).await?,
        };
        self.remember(name);
        Ok(found)
    }

    async fn ask_for(&self, name: &DnsName, kind: RecordType) -> Result<Option<IpAddr>, Why> {
        match self.resolver.lookup(name.clone(), kind).await {
            // A chain of CNAMEs comes with records of other types.
            Ok(lookup) => Ok(lookup.answers().iter().find_map(|record| record.data.ip_addr())),
            Err(NetError::Dns(DnsError::NoRecordsFound(_))) => Ok(None),
            Err(NetError::Dns(DnsError::ResponseCode(code))) => Err(Why::Code(code)),
            Err(NetError::Timeout) => Err(Why::Late),
            Err(NetError::Io(error)) if !may_come_from_afar(&error) => Err(Why::Own(error.to_string())),
            Err(error @ (NetError::Busy | NetError::NoConnections)) => Err(Why::Own(error.to_string())),
            Err(error) => Err(Why::Other(error.to_string())),
        }
    }

    fn remember(&self, name: &DnsName) {
        if let Ok(mut known) = self.known.lock()
            && known.as_ref() != Some(name)
        {
            *known = Some(name.clone());
        }
    }

    /// Does the resolver answer for any name: for one, other than `failing`, that it answered for before, or for the root?
    async fn answers_at_all(&self, failing: &DnsName) -> bool {
        let mut controlled = self.controlled.lock().await;
        if let Some((asked, answers)) = *controlled
            && asked.elapsed() < CONTROL_TTL
        {
            return answers;
        }
        let known = self.known.lock().ok().and_then(|known| known.clone()).filter(|known| known != failing);
        let by_known = async {
            match known {
                Some(known) => self.answers_for(known, RecordType::A).await,
                None => false,
            }
        };
        let by_root = self.answers_for(DnsName::root(), RecordType::NS);
        // The first yes is enough; a no waits for the other.
        let answers = match select(pin!(by_known), pin!(by_root)).await {
            Either::Left((first, by_root)) => first || by_root.await,
            Either::Right((first, by_known)) => first || by_known.await,
        };
        *controlled = Some((Instant::now(), answers));
        answers
    }

    async fn answers_for(&self, name: DnsName, kind: RecordType) -> bool {
        let end = tokio::time::timeout(CONTROL_TIMEOUT, self.control.lookup(name, kind)).await;
        matches!(end, Ok(Ok(_) | Err(NetError::Dns(DnsError::NoRecordsFound(_)))))
    }
}
