//! What would be answered if endpoints were down: on a state that is made up for the question and then forgotten.

use std::collections::BTreeSet;

use tonic::Status;
use waymark_core::answer::RecordType;
use waymark_core::health::{EndpointStatus, ProfileStatus};
use waymark_core::model::{Caseless, EndpointId, Name, Violations};
use waymark_core::simulate::{CLIENTS_MAX, sample};
use waymark_core::state::{Change, Context, EventStatus, Subject, View, suppose_down};
use waymark_process::chance;
use waymark_proto::admin::v1::{self as wire, Share, SimulateRequest, Simulation, SupposedStatus};

use super::answers::question_of;
use super::fault;
use crate::clock;

/// Clients in a sample, if the request does not say.
const CLIENTS: u32 = 1_000;

/// The view as it would be if all agents found `down` down, and whose status would then be another.
pub(super) fn suppose(view: &View, down: &[String]) -> Result<(View, Vec<SupposedStatus>), Status> {
    let mut violations = Violations::new();
    let endpoints: Vec<EndpointId> =
        down.iter().enumerate().filter_map(|(at, text)| probed(view, at, text, &mut violations)).collect();
    fault::refuse_if_any(violations)?;
    let context = Context { index: view.applied, at: clock::now() };
    let supposed = suppose_down(&view.state, context, &endpoints);
    let events = supposed.changes.iter().filter_map(|change| match change {
        Change::Event(id) => supposed.state.events.get(id),
        _ => None,
    });
    let statuses = events.map(|event| SupposedStatus {
        profile: event.profile_name.to_string(),
        endpoint: match &event.subject {
            Subject::Profile => String::new(),
            Subject::Endpoint { name, .. } => name.to_string(),
        },
        from: event.from.map(status).unwrap_or_default().into(),
        to: status(event.to).into(),
    });
    let statuses = statuses.collect();
    Ok((view.after(supposed.state, &supposed.changes, view.applied), statuses))
}

/// The endpoint that `text` names, if agents can find it down.
fn probed(view: &View, at: usize, text: &str, violations: &mut Violations) -> Option<EndpointId> {
    let field = format!("down[{at}]");
    let found = text.split_once('/').and_then(|(profile, endpoint)| {
        let profile = view.state.profile(&Caseless::new(profile))?;
        Some(profile.endpoint(&Caseless::new(endpoint))?.1)
    });
    match found {
        None => {
            violations.add(&field, format!("there is no endpoint '{text}'; one is named PROFILE/ENDPOINT"))
        }
        Some(endpoint) if endpoint.child().is_some() => {
            let rule = format!("'{text}' is nested: name the endpoints of its child that are down");
            violations.add(&field, rule);
        }
        Some(endpoint) => return Some(endpoint.id),
    }
    None
}

fn status(status: EventStatus) -> wire::Status {
    match status {
        EventStatus::Endpoint(status) => EndpointStatus::into(status),
        EventStatus::Profile(status) => ProfileStatus::into(status),
    }
}

/// A request that was read.
#[derive(Debug)]
pub(super) struct Wanted {
    name: Name,
    record_type: RecordType,
    down: Vec<String>,
    clients: u32,
    seed: u64,
}

impl Wanted {
    /// Reads a request; every fault of it is found at once.
    pub(super) fn of(request: SimulateRequest) -> Result<Self, Status> {
        let SimulateRequest { name, r#type, down, clients, seed } = request;
        let mut violations = Violations::new();
        let question = question_of(&name, &r#type, &mut violations);
        let clients = clients.unwrap_or(CLIENTS);
        violations.range("clients", u64::from(clients), 1, u64::from(CLIENTS_MAX));
        match question {
            Some((name, record_type)) if violations.is_empty() => {
                Ok(Self { name, record_type, down, clients, seed: seed.unwrap_or_else(chance::draw) })
            }
            _ => Err(fault::refuse(violations)),
        }
    }

    /// Carries it out on `view`, of the member of that name. It computes for up to some seconds.
    pub(super) fn simulate(self, view: &View, member: String) -> Result<Simulation, Status> {
        let Self { name, record_type, down, clients, seed } = self;
        let (supposed, statuses) = suppose(view, &down)?;
        let now = sample(view, &name, record_type, clients, seed);
        let then = sample(&supposed, &name, record_type, clients, seed);
        let labels: BTreeSet<&String> = now.keys().chain(then.keys()).collect();
        let count = |counts: &std::collections::BTreeMap<String, u32>, label: &String| {
            counts.get(label).copied().unwrap_or_default()
        };
        let share = |label: &String| Share {
            label: label.clone(),
            now: count(&now, label),
            then: count(&then, label),
        };
        Ok(Simulation {
            name: name.to_string(),
            r#type: record_type.to_string(),
            member,
            applied: view.applied.0,
            clients,
            seed,
            shares: labels.into_iter().map(share).collect(),
            statuses,
        })
    }
}
