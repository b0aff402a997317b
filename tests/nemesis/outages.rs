//! Endpoints that break and heal, and whether the cluster's events tell that and nothing else (STA-7, CLU-8).

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use harness::eventually::{claim, let_pass};
use harness::{Behaviour, Caller, FakeEndpoint, eventually, within};
use tokio::runtime::Handle;
use tonic::Request;
use waymark_proto::admin::v1::events_client::EventsClient;
use waymark_proto::admin::v1::{Event, ListEventsRequest, ReadOptions, Status};

use crate::host::{Host, address};
use crate::scene::{ENDPOINTS, Scene, ZONE};
use harness::chance::Chance;

const PROFILE: &str = "web";
const PORT: u16 = 8_080;

/// Failures in a row that an agent tolerates.
const TOLERATED: u32 = 3;

/// How long a change may take to become an event, whatever befalls the cluster meanwhile.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long one member may take to tell events.
const TELL: Duration = Duration::from_secs(2);

/// Between what befalls one endpoint and the next.
const PAUSE: Duration = Duration::from_secs(1);

/// What befell an endpoint, by the moments since 1970.
#[derive(Clone, Debug)]
pub(crate) struct Outage {
    endpoint: String,
    broken_ms: u64,
    healed_ms: u64,
    /// When the event of its recovery had been seen.
    seen_ms: u64,
}

/// What happened to the endpoints, and what the cluster tells of it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) outages: Vec<Outage>,
    /// Failed probes, each between good ones: no outages.
    pub(crate) blips: u64,
    /// Events of endpoints.
    pub(crate) events: Vec<Event>,
    pub(crate) wrong: Vec<String>,
}

/// Breaks endpoints until it is stopped.
pub(crate) struct Outages {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Told>,
}

impl Outages {
    /// Makes a profile of the endpoints, waits until all are online, and begins.
    pub(crate) fn start(scene: &mut Scene) -> Self {
        let cli = scene.cluster.cli();
        cli.ok(&format!(
            "profile create {PROFILE} --zone {ZONE} --relative-name {PROFILE} --port {PORT} --routing weighted \
             --interval 1s --timeout 500ms --tolerated-failures {TOLERATED}"
        ));
        let place = |(number, host)| {
            let host: Arc<Host> = scene.hosts[&host].clone();
            let endpoint = host.within(|| FakeEndpoint::http(SocketAddr::from((address(host.number), PORT))));
            cli.ok(&format!("endpoint add {PROFILE} e{number} --target {}", endpoint.ip()));
            (format!("e{number}"), host, endpoint)
        };
        let breaker = Breaker {
            endpoints: (1..).zip(ENDPOINTS).map(place).collect(),
            callers: scene.callers.clone(),
            runtime: scene.runtime.handle().clone(),
            chance: Chance::from_seed(scene.chance.draw()),
            told: Told::default(),
        };
        let online = |events: &[Event], name: &str| {
            events.iter().any(|event| event.endpoint == name && event.to() == Status::Online)
        };
        let before = eventually("every endpoint is online", || {
            let events = breaker.events("")?;
            let all = breaker.endpoints.iter().all(|(name, ..)| online(&events, name));
            claim(all, format!("{} events", events.len())).map(|()| events)
        });
        let begin = before.last().map(|event| event.id.clone()).unwrap_or_default();
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        let thread = std::thread::spawn(move || breaker.run(&told, &begin));
        Self { stop, thread }
    }

    /// Heals what is broken, waits until that is told, and compares.
    pub(crate) fn end(self) -> Told {
        self.stop.store(true, Ordering::Relaxed);
        let mut told = self.thread.join().expect("whoever breaks endpoints ends well");
        let wrong = compare(&told.outages, &told.events);
        told.wrong.extend(wrong);
        told
    }
}

struct Breaker {
    endpoints: Vec<(String, Arc<Host>, FakeEndpoint)>,
    callers: Vec<Caller>,
    runtime: Handle,
    chance: Chance,
    told: Told,
}

impl Breaker {
    fn run(mut self, stop: &AtomicBool, begin: &str) -> Told {
        let mut after = begin.to_owned();
        while !stop.load(Ordering::Relaxed) && self.told.wrong.is_empty() {
            let at = usize::try_from(self.chance.below(self.endpoints.len() as u64)).unwrap_or_default();
            if self.chance.one_in(3) {
                self.blip(at);
            } else if let Err(wrong) = self.outage(at, &mut after) {
                self.told.wrong.push(wrong);
            }
            let_pass(PAUSE, "endpoints are well in between");
        }
        match within(PATIENCE, || self.events(begin)) {
            Ok(events) => self.told.events = events,
            Err(error) => self.told.wrong.push(error),
        }
        self.told
    }

    /// An endpoint fails in one of three ways until an event says so, and is well until one says that.
    fn outage(&mut self, at: usize, after: &mut String) -> Result<(), String> {
        let broken_ms = now_ms();
        let manner = self.chance.below(3);
        let (name, _, endpoint) = &mut self.endpoints[at];
        let name = name.clone();
        match manner {
            0 => endpoint.stop(),
            1 => endpoint.behave(Behaviour::Status(503)),
            _ => endpoint.behave(Behaviour::Close),
        }
        let down = self.await_event(&name, Status::Degraded, after);
        let (_, host, endpoint) = &mut self.endpoints[at];
        endpoint.behave(Behaviour::Status(200));
        host.clone().within(|| endpoint.heal());
        let healed_ms = now_ms();
        down?;
        self.await_event(&name, Status::Online, after)?;
        self.told.outages.push(Outage { endpoint: name, broken_ms, healed_ms, seen_ms: now_ms() });
        Ok(())
    }

    /// An endpoint fails once: too little for any agent.
    fn blip(&mut self, at: usize) {
        let (_, _, endpoint) = &self.endpoints[at];
        let before = endpoint.requests();
        endpoint.behave(Behaviour::StatusOnce(503));
        match within(PATIENCE, || claim(endpoint.requests() > before, "no probe came")) {
            Ok(()) => self.told.blips += 1,
            Err(error) => self.told.wrong.push(format!("{}: {error}", endpoint.address())),
        }
    }

    fn await_event(&self, endpoint: &str, status: Status, after: &mut String) -> Result<(), String> {
        let what = format!("no event within {PATIENCE:?} that {endpoint} is {status:?}");
        let event = within(PATIENCE, || {
            let_pass(TELL / 10, "events are asked for at a pace that leaves members alone");
            let events = self.events(after)?;
            let found = events.into_iter().find(|event| event.endpoint == endpoint && event.to() == status);
            found.ok_or_else(|| what.clone())
        });
        *after = event?.id;
        Ok(())
    }

    /// The endpoints' events behind `after`, from the first member that tells: an event is the same wherever it is told.
    fn events(&self, after: &str) -> Result<Vec<Event>, String> {
        let mut last = Err("nobody was asked".to_owned());
        for caller in &self.callers {
            let asking = tell(caller.clone(), after.to_owned());
            let limited = async { tokio::time::timeout(TELL, asking).await };
            last = self.runtime.block_on(limited).unwrap_or_else(|_| Err("no events in time".to_owned()));
            if last.as_ref().is_ok_and(|events| !events.is_empty()) {
                break;
            }
        }
        last
    }
}

async fn tell(caller: Caller, after: String) -> Result<Vec<Event>, String> {
    let request = ListEventsRequest {
        profile: PROFILE.to_owned(),
        after,
        read: Some(ReadOptions { stale: true }),
        limit: 10_000,
        ..ListEventsRequest::default()
    };
    let mut client = EventsClient::new(caller.connect().await?);
    let told = client.list_events(Request::new(request)).await.map_err(|status| status.to_string())?;
    let mut events = told.into_inner().events;
    events.retain(|event| !event.endpoint.is_empty());
    Ok(events)
}

fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}

/// What events tell that did not happen, and what happened that they do not tell: for each outage one event that the endpoint is
/// down, while it was, and one that it is well, once it was.
fn compare(outages: &[Outage], events: &[Event]) -> Vec<String> {
    let mut by_endpoint: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in events {
        by_endpoint.entry(&event.endpoint).or_default().push(event);
    }
    let mut wrong = Vec::new();
    for outage in outages {
        let Outage { endpoint, broken_ms, healed_ms, seen_ms } = outage;
        let told = by_endpoint.entry(endpoint).or_default();
        let expected = [(Status::Degraded, *broken_ms..=*healed_ms), (Status::Online, *healed_ms..=*seen_ms)];
        for (status, span) in expected {
            // Events are in order, and so are the outages.
            match told.first() {
                Some(event) if event.to() == status && span.contains(&event.at_ms) => drop(told.remove(0)),
                first => wrong.push(format!("{outage:?}: expected {status:?} in {span:?}, told {first:?}")),
            }
        }
    }
    wrong.extend(by_endpoint.into_values().flatten().map(|event| format!("without a cause: {event:?}")));
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(to: Status, at_ms: u64) -> Event {
        Event { endpoint: "e1".into(), to: to.into(), at_ms, ..Event::default() }
    }

    #[test]
    fn sta_7_each_outage_is_told_once_and_nothing_else_is() {
        let outages = [Outage { endpoint: "e1".into(), broken_ms: 10, healed_ms: 20, seen_ms: 30 }];
        let told = [event(Status::Degraded, 15), event(Status::Online, 25)];
        assert!(compare(&outages, &told).is_empty());
        assert_eq!(compare(&outages, &told[..1]).len(), 1);
        assert_eq!(compare(&[], &told).len(), 2);
        assert_eq!(compare(&outages, &[event(Status::Degraded, 9), event(Status::Online, 25)]).len(), 4);
    }
}
