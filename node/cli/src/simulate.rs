//! `waymark simulate`: who would answer, if endpoints were down.

use clap::Args;
use comfy_table::Cell;
use serde::Serialize;
use waymark_proto::admin::v1::answers_client::AnswersClient;
use waymark_proto::admin::v1::{self as wire, ExplainRequest, SimulateRequest};

use crate::client::Attempt;
use crate::explain::Explanation;
use crate::failure::Failure;
use crate::output::{Shown, Style, table, words};
use crate::session::Session;

/// What is supposed, and who asks.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  waymark simulate web.tm.example.com --down web/eu\n  \
waymark simulate web.tm.example.com --down web/eu --from 198.51.100.7\n  \
waymark simulate web.tm.example.com --sample 5000 --seed 7 -o json")]
pub(crate) struct Supposition {
    /// The name that is asked for.
    name: String,
    /// The type that is asked for.
    #[arg(long = "type", value_name = "TYPE", default_value = "A")]
    record_type: String,
    /// An endpoint that all agents find down, once for each.
    #[arg(long, value_name = "PROFILE/ENDPOINT")]
    down: Vec<String>,
    /// Show what one client would be answered: an address, or a network that the resolver tells of.
    #[arg(long, value_name = "IP[/BITS]", conflicts_with_all = ["sample", "seed"])]
    from: Option<String>,
    /// How many clients are asked for, 1 to 10000 [default: 1000].
    #[arg(long, value_name = "N")]
    sample: Option<u32>,
    /// What the clients and their draws are made of, to repeat a sample; a random one if not given.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Asks and shows.
pub(crate) async fn run(supposition: Supposition, session: &Session) -> Result<String, Failure> {
    let Supposition { name, record_type, down, from, sample, seed } = supposition;
    let r#type = record_type.to_ascii_uppercase();
    if let Some(client) = from {
        let request = ExplainRequest { name, r#type, client, down, ..ExplainRequest::default() };
        let call = async |at: Attempt| {
            let request = at.request(&request);
            AnswersClient::new(at.channel).explain(request).await
        };
        return Ok(session.show(&Explanation::from(session.client.read(call).await?)));
    }
    let request = SimulateRequest { name, r#type, down, clients: sample, seed };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        AnswersClient::new(at.channel).simulate(request).await
    };
    Ok(session.show(&Simulation::from(session.client.read(call).await?)))
}

#[derive(Debug, Serialize)]
struct Simulation {
    name: String,
    r#type: String,
    member: String,
    applied: u64,
    clients: u32,
    seed: u64,
    shares: Vec<Share>,
    statuses: Vec<SupposedStatus>,
}

#[derive(Debug, Serialize)]
struct Share {
    label: String,
    now: u32,
    then: u32,
}

#[derive(Debug, Serialize)]
struct SupposedStatus {
    profile: String,
    /// Null for the profile's own status.
    endpoint: Option<String>,
    from: String,
    to: String,
}

impl From<wire::Simulation> for Simulation {
    fn from(message: wire::Simulation) -> Self {
        let wire::Simulation { name, r#type, member, applied, clients, seed, shares, statuses } = message;
        let share = |wire::Share { label, now, then }| Share { label, now, then };
        Self {
            name,
            r#type,
            member,
            applied,
            clients,
            seed,
            shares: shares.into_iter().map(share).collect(),
            statuses: statuses.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<wire::SupposedStatus> for SupposedStatus {
    fn from(message: wire::SupposedStatus) -> Self {
        let wire::SupposedStatus { profile, endpoint, from, to } = message;
        let endpoint = Some(endpoint).filter(|endpoint| !endpoint.is_empty());
        let word = |status| match &endpoint {
            Some(_) => words::endpoint_status(status),
            None => words::profile_status(status),
        };
        let (from, to) = (word(from), word(to));
        Self { profile, endpoint, from, to }
    }
}

impl Shown for Simulation {
    const KIND: &'static str = "Simulation";

    fn names(&self) -> Vec<String> {
        self.shares.iter().map(|share| share.label.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let percent = |count: u32| format!("{:.1} %", 100.0 * f64::from(count) / f64::from(self.clients));
        let mut shares = table::table(style, &["ANSWERED BY", "NOW", "THEN"]);
        for Share { label, now, then } in &self.shares {
            shares.add_row([Cell::new(label), Cell::new(percent(*now)), Cell::new(percent(*then))]);
        }
        let mut text = table::finish(shares);
        let Self { name, r#type, member, clients, seed, applied, .. } = self;
        text.push_str(&format!(
            "\n{name} {type}, {clients} clients, seed {seed}, by {member} at log entry {applied}\n"
        ));
        for SupposedStatus { profile, endpoint, from, to } in &self.statuses {
            let subject =
                endpoint.as_ref().map_or_else(|| profile.clone(), |name| format!("{profile}/{name}"));
            text.push_str(&format!("{subject} would be {to}, and is {from}\n"));
        }
        text
    }
}
