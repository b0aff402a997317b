//! What a query would be answered on this member, and why (RTE-15): by the function that answers queries.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use tonic::{Request, Response, Status};
use waymark_core::answer::{Answer, Query, Rcode, Record, RecordData};
use waymark_core::explain::{self, explain};
use waymark_core::geo::{LocatedBy, Location};
use waymark_core::model::{Name, Network, RecordType, Routing, Timestamp, Violations};
use waymark_core::routing::{Client, ClientFrom};
use waymark_core::state::{Forgotten, History, LatencyRow, PlannedEndpoint, View};
use waymark_proto::admin::v1::{
    self, AnswerRecord, EndpointExplanation, ExplainRequest, Explanation, ProfileExplanation,
    SimulateRequest, Simulation, answers_server,
};

use super::fault;
use super::handles::Handles;
use super::shown::Shown;
use super::simulation::{self, Wanted};
use super::workshop::Workshop;
use crate::clock;
use crate::publication;
use crate::record_text;
use waymark_process::chance;

/// The service.
#[derive(Clone)]
pub(super) struct AnswersService {
    handles: Handles,
    workshop: Workshop,
}

impl AnswersService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles, workshop: Workshop::new() }
    }

    /// The view as it was at a moment. It looks at every profile: not for a task that others wait for.
    async fn past(&self, moment: Timestamp) -> Result<Arc<View>, Status> {
        let now = clock::now();
        if moment > now {
            let ahead = Duration::from_millis(moment.0 - now.0);
            return Err(refuse_moment(format!("{ahead:?} from now is yet to come")));
        }
        let reader = self.handles.reader.clone();
        let rebuild = move || {
            let view = reader.view();
            let (state, applied) = view.state.at(moment, view.applied)?;
            Ok::<_, Forgotten>(Arc::new(reader.anew(state, applied)))
        };
        self.workshop.run(rebuild).await?.map_err(|Forgotten { begins }| {
            let (ago, kept) = (now.0 - moment.0, now.0.saturating_sub(begins.0));
            refuse_moment(format!(
                "{} s ago is before the kept history, which begins {} s ago; seven days are kept, of {} MiB at most",
                ago / 1_000,
                kept / 1_000,
                History::WEIGHT_MAX >> 20
            ))
        })
    }
}

#[tonic::async_trait]
impl answers_server::Answers for AnswersService {
    async fn explain(&self, request: Request<ExplainRequest>) -> Result<Response<Explanation>, Status> {
        let request = request.into_inner();
        let (moment, down) = (request.at_ms, request.down.clone());
        // What is supposed is asked about for what it says, whoever would be told so.
        let is_stale = moment.is_none() && down.is_empty() && self.handles.reader.is_stale();
        let (query, draw) = query_of(request)?;
        let view = match moment {
            None => self.handles.reader.view(),
            Some(moment) => self.past(Timestamp(moment)).await?,
        };
        let view = if down.is_empty() { view } else { Arc::new(simulation::suppose(&view, &down)?.0) };
        let mut explained = explain(&view, &query, draw);
        let rcode = if is_stale { refuse_service(&mut explained) } else { explained.answer.rcode.as_str() };
        let shown = Shown::of(&view.state);
        let client = explained.client.as_ref().map(|asker| asker.client);
        let records = |records: &[Record]| records.iter().map(record_message).collect();
        Ok(Response::new(Explanation {
            zone: explained.zone.as_ref().map(Name::to_string).unwrap_or_default(),
            member: self.handles.consensus.name(),
            applied: view.applied.0,
            client: client.map_or(query.source, |client| client.address).to_string(),
            client_from: client.map_or_else(|| "source".to_owned(), whence),
            draw,
            rcode: rcode.to_owned(),
            answers: records(&explained.answer.answers),
            authority: records(&explained.answer.authority),
            additional: records(&explained.answer.additional),
            profiles: explained.profiles.iter().map(|profile| profile_message(profile, &shown)).collect(),
            reason: explained.reason,
            r#type: query.record_type.to_string(),
            name: query.name.to_string(),
            location: explained
                .client
                .as_ref()
                .and_then(|asker| asker.location)
                .map(location)
                .unwrap_or_default(),
            latency_row: explained
                .client
                .and_then(|asker| Some(latency(&asker.latency?, asker.is_learned)))
                .unwrap_or_default(),
            scope: explained.answer.scope.map(u32::from),
            subnet_ignored: query.subnet.and_then(|subnet| ignored(subnet, client)).unwrap_or_default(),
            geo_table: view.locator.geo_table().digest.to_string(),
            geo_table_missing: missing_table(&view),
            at_ms: moment,
        }))
    }

    async fn simulate(&self, request: Request<SimulateRequest>) -> Result<Response<Simulation>, Status> {
        let wanted = Wanted::of(request.into_inner())?;
        let (view, member) = (self.handles.reader.view(), self.handles.consensus.name());
        Ok(Response::new(self.workshop.run(move || wanted.simulate(&view, member)).await??))
    }
}

/// What a member tells that is cut off for longer than it may be (DNS-21), in the place of its answer; the response code.
fn refuse_service(explained: &mut explain::Explanation) -> &'static str {
    let rest = std::mem::take(&mut explained.reason);
    explained.reason = format!(
        "SERVFAIL: this member is cut off from the cluster for longer than max_stale; from its last state it would be: {} {rest}",
        explained.answer.rcode.as_str()
    );
    explained.answer = Answer::empty(Rcode::NoError);
    "SERVFAIL"
}

fn refuse_moment(rule: String) -> Status {
    let mut violations = Violations::new();
    violations.add("at_ms", rule);
    fault::refuse(violations)
}

/// The geo table that the cluster goes by and this member lacks.
fn missing_table(view: &View) -> String {
    let wanted = view.state.geography.table.filter(|_| publication::lacks(view));
    wanted.map(|digest| digest.to_string()).unwrap_or_default()
}

fn whence(client: Client) -> String {
    match client.from {
        ClientFrom::Source => "source".to_owned(),
        ClientFrom::Subnet(prefix) => format!("client subnet /{prefix}"),
    }
}

/// Why `subnet` is not where the answer's client is: the rows of [`Client::of`] in words.
fn ignored(subnet: Network, client: Option<Client>) -> Option<String> {
    let why = match client.map(|client| client.from) {
        Some(ClientFrom::Subnet(_)) => return None,
        None => "no zone here encloses the name",
        Some(ClientFrom::Source) if subnet.prefix() == 0 => {
            "by /0 a resolver says that it keeps its client to itself"
        }
        Some(ClientFrom::Source) => "the zone has --ecs off",
    };
    Some(format!("client subnet {subnet} ignored: {why}"))
}

fn location(location: Location) -> String {
    let by = match location.by {
        LocatedBy::Database => "the database",
        LocatedBy::Override => "the operator",
    };
    format!("{} ({}), by {by}", location.place, location.place.name())
}

fn latency(row: &LatencyRow, is_learned: bool) -> String {
    let regions: Vec<String> = row.latencies.iter().map(|(region, ms)| format!("{region} {ms} ms")).collect();
    let learned = if is_learned { " (learned)" } else { "" };
    format!("{}: {}{learned}", row.network, regions.join(", "))
}

/// The query and the draw; every fault of the request is found at once.
fn query_of(request: ExplainRequest) -> Result<(Query, u64), Status> {
    let ExplainRequest { name, r#type, client, draw, at_ms: _, down: _ } = request;
    let mut violations = Violations::new();
    let question = question_of(&name, &r#type, &mut violations);
    let client = client_of(&client).map_err(|fault| violations.add("client", fault)).ok();
    match (question, client) {
        (Some((name, record_type)), Some((source, subnet))) => {
            Ok((Query { name, record_type, source, subnet }, draw.unwrap_or_else(chance::draw)))
        }
        _ => Err(fault::refuse(violations)),
    }
}

/// What is asked for: A where no type is given. Faults are noted.
pub(super) fn question_of(name: &str, kind: &str, violations: &mut Violations) -> Option<(Name, RecordType)> {
    let parsed = Name::parse(name).map_err(|fault| violations.add("name", format!("'{name}' {fault}"))).ok();
    let record_type = if kind.is_empty() { Ok(RecordType::A) } else { kind.parse::<RecordType>() };
    let record_type = record_type.map_err(|fault| violations.add("type", fault.to_string())).ok();
    parsed.zip(record_type)
}

/// The packet's source and the client subnet that `text` stands for. An IPv4 client behind an IPv6 socket is an IPv4
/// client (RTE-1).
fn client_of(text: &str) -> Result<(IpAddr, Option<Network>), String> {
    let localhost = IpAddr::V4(Ipv4Addr::LOCALHOST);
    if text.is_empty() {
        Ok((localhost, None))
    } else if text.contains('/') {
        let subnet = text.parse::<Network>().map_err(|fault| fault.to_string())?;
        Ok((localhost, Some(subnet)))
    } else {
        let source: IpAddr =
            text.parse().map_err(|_| format!("'{text}' is no IPv4 or IPv6 address or network"))?;
        Ok((source.to_canonical(), None))
    }
}

fn profile_message(explained: &explain::ProfileExplanation, shown: &Shown<'_>) -> ProfileExplanation {
    let explain::ProfileExplanation { depth, plan, pool, endpoints, chosen, rule, draw } = explained;
    let chosen = chosen.iter().filter_map(|position| plan.endpoints.get(*position));
    let endpoints = plan.endpoints.iter().zip(endpoints);
    ProfileExplanation {
        profile: plan.profile.name.to_string(),
        revision: plan.profile.revision.0,
        routing: v1::Routing::from(plan.profile.routing).into(),
        status: shown.profile_status(plan.profile.id).into(),
        pool: pool.as_str().to_owned(),
        endpoints: endpoints
            .map(|(planned, explained)| endpoint_message(plan.profile.routing, planned, explained, shown))
            .collect(),
        chosen: chosen.map(|planned| planned.endpoint.name.to_string()).collect(),
        rule: rule.clone(),
        draw: *draw,
        depth: *depth,
    }
}

/// Most places and most subnets that are told of an endpoint: it may have hundreds, and 256 profiles may be asked.
const DECIDERS_MAX: usize = 10;

fn endpoint_message(
    routing: Routing,
    planned: &PlannedEndpoint,
    explained: &explain::EndpointExplanation,
    shown: &Shown<'_>,
) -> EndpointExplanation {
    let PlannedEndpoint { endpoint, location, flattened, .. } = planned;
    let flattened = flattened.as_deref();
    let explain::EndpointExplanation { status, standing, reason, overridden, held, is_probed, regions } =
        explained;
    let by_place = routing == Routing::Geographic;
    let by_region = routing == Routing::Performance;
    let by_subnet = by_place || by_region || routing == Routing::Subnet;
    EndpointExplanation {
        name: endpoint.name.to_string(),
        target: endpoint.kind.to_string(),
        in_pool: standing.is_in(),
        reason: reason.clone(),
        status: v1::Status::from(*status).into(),
        regions: shown.regions(regions.clone(), *is_probed),
        priority: endpoint.priority,
        weight: endpoint.effective_weight(),
        geo: if by_place { first(&endpoint.geo) } else { Vec::new() },
        subnets: if by_subnet { first(&endpoint.subnets) } else { Vec::new() },
        location: location.iter().filter(|_| by_region).map(ToString::to_string).collect(),
        unprobed: !is_probed,
        addresses: flattened.iter().flat_map(|known| known.addresses()).map(ToString::to_string).collect(),
        addresses_since_ms: flattened.map(|known| known.since().0),
        overridden: overridden.as_deref().map(Into::into),
        held: held.as_ref().map(Into::into),
    }
}

fn first<T: ToString>(deciders: &[T]) -> Vec<String> {
    deciders.iter().take(DECIDERS_MAX).map(ToString::to_string).collect()
}

/// A record as `dig` shows it: names end with a dot.
fn record_message(record: &Record) -> AnswerRecord {
    let Record { name, ttl, data } = record;
    AnswerRecord {
        name: format!("{name}."),
        ttl: *ttl,
        r#type: data.record_type().to_string(),
        data: match data {
            RecordData::Opaque { record_type, data } => record_text::show(*record_type, data),
            known => known.to_string(),
        },
    }
}
