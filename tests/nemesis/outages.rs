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
use waymark_proto::admin::v1::statuses_client::StatusesClient;
use waymark_proto::admin::v1::{Event, ListEventsRequest, ListStatusesRequest, ReadOptions, Status, Verdict};

use crate::excuse::Excuse;
use crate::inside::CLOCK_OFF_MAX;
use crate::scene::{AGENTS, ENDPOINTS, Scene, ZONE};
use harness::chance::Chance;
use harness::net::{Host, address};

const PROFILE: &str = "web";
const PORT: u16 = 8_080;

/// Failures in a row that an agent tolerates.
const TOLERATED: u32 = 3;

/// How long a change may take to become an event, whatever befalls the cluster meanwhile.
const PATIENCE: Duration = Duration::from_secs(180);

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
    /// How far what is stamped may be off.
    off_ms: u64,
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
             --interval 1s --timeout 1s --tolerated-failures {TOLERATED}"
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
            clocks: scene.clocks.clone(),
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
    clocks: Arc<Excuse>,
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

    /// An endpoint fails in one of three ways until an event and all regions say so, and is well until they say that.
    fn outage(&mut self, at: usize, after: &mut String) -> Result<(), String> {
        let (clocks, broken_ms) = (self.clocks.number(), now_ms());
        let manner = self.chance.below(3);
        let (name, _, endpoint) = &mut self.endpoints[at];
        let name = name.clone();
        match manner {
            0 => endpoint.stop(),
            1 => endpoint.behave(Behaviour::Status(503)),
            _ => endpoint.behave(Behaviour::Close),
        }
        // Regions' news do not arrive in the order in which it happened: it stays as it is until it is known everywhere.
        let down = self.await_event(&name, Status::Degraded, after);
        let down = down.and_then(|()| self.await_verdicts(&name, Verdict::Down));
        let (_, host, endpoint) = &mut self.endpoints[at];
        endpoint.behave(Behaviour::Status(200));
        host.clone().within(|| endpoint.heal());
        let healed_ms = now_ms();
        down?;
        self.await_event(&name, Status::Online, after)?;
        let seen_ms = now_ms();
        self.await_verdicts(&name, Verdict::Up)?;
        let off = if self.clocks.none_since(clocks) { Duration::ZERO } else { CLOCK_OFF_MAX };
        let off_ms = u64::try_from(off.as_millis()).unwrap_or(u64::MAX);
        self.told.outages.push(Outage { endpoint: name, broken_ms, healed_ms, seen_ms, off_ms });
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

    fn await_verdicts(&self, endpoint: &str, verdict: Verdict) -> Result<(), String> {
        let all = within(PATIENCE, || {
            let_pass(TELL / 10, "statuses are asked for at a pace that leaves members alone");
            let verdicts =
                self.ask(|caller| verdicts(caller, endpoint.to_owned()), |told| !told.is_empty())?;
            let all = verdicts.len() == AGENTS.len() && verdicts.iter().all(|told| *told == verdict);
            claim(all, format!("{verdicts:?}"))
        });
        all.map_err(|told| {
            format!("{endpoint} is not {verdict:?} in every region within {PATIENCE:?}: {told}")
        })
    }

    /// The endpoints' events behind `after`, from the first member that tells: an event is the same wherever it is told.
    fn events(&self, after: &str) -> Result<Vec<Event>, String> {
        self.ask(|caller| tell(caller, after.to_owned()), |events| !events.is_empty())
    }

    /// What the first member says that says enough, or the last one.
    fn ask<T, A: Future<Output = Result<T, String>>>(
        &self,
        ask: impl Fn(Caller) -> A,
        is_enough: impl Fn(&T) -> bool,
    ) -> Result<T, String> {
        let mut last = Err("nobody was asked".to_owned());
        for caller in &self.callers {
            let asking = ask(caller.clone());
            let limited = async { tokio::time::timeout(TELL, asking).await };
            last = self.runtime.block_on(limited).unwrap_or_else(|_| Err("nothing in time".to_owned()));
            if last.as_ref().is_ok_and(&is_enough) {
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

/// What each region says of an endpoint, with the leader's consent: a member that is behind would tell of an earlier outage.
async fn verdicts(caller: Caller, endpoint: String) -> Result<Vec<Verdict>, String> {
    let request = ListStatusesRequest { profile: PROFILE.to_owned(), ..ListStatusesRequest::default() };
    let mut client = StatusesClient::new(caller.connect().await?);
    let told = client.list_statuses(Request::new(request)).await.map_err(|status| status.to_string())?;
    let endpoints = told.into_inner().profiles.into_iter().flat_map(|profile| profile.endpoints);
    let regions = endpoints.filter(|told| told.name == endpoint).flat_map(|told| told.regions);
    Ok(regions.map(|region| region.verdict()).collect())
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
        let Outage { endpoint, broken_ms, healed_ms, seen_ms, off_ms } = outage;
        let told = by_endpoint.entry(endpoint).or_default();
        let span = |from: &u64, to: &u64| from.saturating_sub(*off_ms)..=to.saturating_add(*off_ms);
        let expected =
            [(Status::Degraded, span(broken_ms, healed_ms)), (Status::Online, span(healed_ms, seen_ms))];
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
        let outage =
            |off_ms| [Outage { endpoint: "e1".into(), broken_ms: 10, healed_ms: 20, seen_ms: 30, off_ms }];
        let outages = outage(0);
        let told = [event(Status::Degraded, 15), event(Status::Online, 25)];
        assert!(compare(&outages, &told).is_empty());
        assert_eq!(compare(&outages, &told[..1]).len(), 1);
        assert_eq!(compare(&[], &told).len(), 2);
        let early = [event(Status::Degraded, 9), event(Status::Online, 25)];
        assert_eq!(compare(&outages, &early).len(), 4);
        assert!(compare(&outage(1), &early).is_empty());
    }
}
