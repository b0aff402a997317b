//! The methods that look at the client, multivalue and nested profiles, each row of their tables by whole decisions.

mod client;
mod multivalue;
mod nested;
mod performance;
mod scope;

use std::net::IpAddr;
use std::sync::Arc;

use crate::answer::{Answer, Query, Rcode};
use crate::explain::{Explanation, explain};
use crate::fixture::{
    add_profile, edit_profile, example_state, located, overridden, place, query, set_learned, set_region,
    set_row, span, view,
};
use crate::health::EndpointStatus;
use crate::model::{
    Caseless, Child, Endpoint, EndpointKind, Network, OverrideKind, Place, ProfileId, RecordType, Revision,
    Routing,
};
use crate::state::{State, View};

/// An endpoint to be made: its target, its status, and what else is set.
type Sketch<'a> = (&'a str, EndpointStatus, fn(&mut Endpoint));

/// A state with `web.example.com` under `routing`, with endpoints `e1`, `e2` …, each edited by its own function.
fn state_with(routing: Routing, endpoints: &[Sketch]) -> (State, ProfileId) {
    let mut state = example_state();
    let plain: Vec<_> = endpoints.iter().map(|(target, status, _)| (*target, *status)).collect();
    let id = add_profile(&mut state, "example.com", "web", &plain);
    edit_profile(&mut state, id, |profile| {
        profile.routing = routing;
        for (endpoint, (_, _, edit)) in profile.endpoints.iter_mut().zip(endpoints) {
            edit(endpoint);
        }
    });
    (state, id)
}

/// Adds nested endpoints, behind those that are there, each with a child and a status.
fn nest(state: &mut State, id: ProfileId, children: &[(&str, EndpointStatus)]) {
    for (child, status) in children {
        state.next_id += 1;
        let endpoint_id = crate::model::EndpointId(state.next_id);
        crate::fixture::set_status(state, id, endpoint_id, *status);
        edit_profile(state, id, |profile| {
            let template = Endpoint {
                id: endpoint_id,
                name: Caseless::new(&format!("n{}", profile.endpoints.len() + 1)),
                kind: EndpointKind::Nested(Child {
                    profile: Caseless::new(child),
                    endpoints_min: None,
                    endpoints_min_v4: None,
                    endpoints_min_v6: None,
                }),
                enabled: *status != EndpointStatus::Disabled,
                priority: profile.endpoints.len() as u32 + 1,
                weight: None,
                location: None,
                geo: Vec::new(),
                subnets: Vec::new(),
                always_serve: false,
                headers: Vec::new(),
                revision: Revision(0),
                check_revision: Revision(0),
            };
            profile.endpoints.push(template);
        });
    }
    state.rebuild_references().expect("children that exist");
}

fn asked_from(client: &str, record_type: RecordType) -> Query {
    let (source, subnet) = match client.parse::<IpAddr>() {
        Ok(source) => (source, None),
        Err(_) => (IpAddr::from([192, 0, 2, 200]), Some(client.parse().expect(client))),
    };
    Query { source, subnet, ..query("web.example.com", record_type) }
}

/// The decision for a client: an address, or a network that comes as a client subnet.
fn decide_for(view: &View, client: &str) -> Explanation {
    explain(view, &asked_from(client, RecordType::A), 7)
}

/// The answer's data in one line, or what it is instead.
fn shown(answer: &Answer) -> String {
    let data: Vec<String> = answer.answers.iter().map(|record| record.data.to_string()).collect();
    match answer.rcode {
        Rcode::NoError if data.is_empty() => "NODATA".to_owned(),
        Rcode::NoError => data.join(" "),
        other => other.as_str().to_owned(),
    }
}

fn answer_for(view: &View, client: &str) -> String {
    shown(&decide_for(view, client).answer)
}

/// The line that says which rule chose.
fn rule_for(view: &View, client: &str) -> String {
    decide_for(view, client).profiles[0].rule.clone()
}
