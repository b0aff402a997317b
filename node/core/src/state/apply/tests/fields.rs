//! Every field of spec §1.1 and §1.2, value by value: what is taken, and with which words the rest is refused (VAL-1).
//!
//! One file a kind of object, one test a rule, one row a value. A row says what is special about its value, what is
//! wished, and what the author is told: one violation a line, nothing if the wish is taken. That a refused wish stores
//! nothing is looked at after every command, by `invariants`.

mod child;
mod client;
mod endpoint;
mod method;
mod monitor;
mod place;
mod profile;
mod warning;
mod zone;

use super::*;
use crate::model::ServicePatch;

/// What is special about the value, the wish as an edit of one that is good, and what its author is told.
type Row<'a, W> = (&'a str, fn(&mut W), &'a str);

/// What the author of a good wish is told.
const TAKEN: &str = "";

/// Carries each row out on a copy of `cluster`.
#[track_caller]
fn check<W: Clone>(cluster: &Cluster, good: &W, action: impl Fn(&W) -> Action, rows: &[Row<'_, W>]) {
    let mut wrong = Vec::new();
    for (value, edit, told) in rows {
        let mut wish = good.clone();
        edit(&mut wish);
        let found = match cluster.clone().apply(action(&wish)) {
            Ok(_) => String::new(),
            Err(Rejection::Invalid(found)) => {
                found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            }
            Err(other) => other.to_string(),
        };
        if found != *told {
            wrong.push(format!("{value}\n  expected: {told}\n  found:    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A new profile that is good as it is: `web` at `web.example.com` under `priority`, with one endpoint.
#[derive(Clone)]
struct NewProfile {
    name: String,
    relative_name: String,
    fields: ProfilePatch,
    endpoints: Vec<(String, EndpointPatch)>,
}

impl NewProfile {
    fn good() -> Self {
        Self {
            name: "web".into(),
            relative_name: "web".into(),
            fields: priority_routing(),
            endpoints: vec![("e1".into(), target("192.0.2.1"))],
        }
    }

    fn action(&self) -> Action {
        let Self { name, relative_name, fields, endpoints } = self.clone();
        create_in("example.com", &name, &relative_name, fields, endpoints)
    }
}

/// A new endpoint of the profile `web`, which has `e1` with 192.0.2.1 and priority 1; good as it is.
#[derive(Clone)]
struct NewEndpoint {
    name: String,
    fields: EndpointPatch,
}

impl NewEndpoint {
    fn good() -> Self {
        Self { name: "e2".into(), fields: target("192.0.2.2") }
    }

    fn action(&self) -> Action {
        add_endpoint(&self.name, self.fields.clone())
    }
}

/// `web` with `e1`; beside it the profile `child` with one endpoint, the service `db` without a location, and the
/// service `cdn` with one.
fn furnished() -> Cluster {
    let mut cluster = Cluster::with_web(1);
    let below = vec![("c1".to_owned(), target("192.0.2.101"))];
    cluster.apply(create_profile("child", "child", below)).unwrap();
    for (name, address, location) in [("db", "192.0.2.9", None), ("cdn", "192.0.2.10", Some("r1"))] {
        let location = location.map_or(Edit::Keep, |region: &str| Edit::Set(region.into()));
        let fields = ServicePatch { target: Edit::Set(address.into()), location };
        cluster.apply(Action::RegisterService { name: name.into(), fields, if_revision: None }).unwrap();
    }
    cluster
}

/// A text that is longer than a row should be.
fn long(length: usize) -> String {
    "a".repeat(length)
}
