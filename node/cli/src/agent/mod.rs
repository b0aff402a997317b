//! `waymark agent`: the agents that probe.

mod token;

use clap::Subcommand;
use comfy_table::Cell;
use serde::Serialize;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::agents_client::AgentsClient;
use waymark_proto::admin::v1::{self as wire, DeleteRequest, GetRequest, ListRequest};

use crate::client::Attempt;
use crate::failure::Failure;
use crate::output::{Shown, Style, table, time};
use crate::session::Session;

/// What is done to agents.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List all agents.
    #[command(after_help = "Examples:\n  waymark agent list\n  waymark agent list --stale -o json")]
    List,
    /// Show one agent.
    #[command(after_help = "Examples:\n  waymark agent show eu-1\n  waymark agent show eu-1 -o json")]
    Show {
        /// The agent's name.
        name: String,
    },
    /// Take an agent that is lost out of the list.
    #[command(after_help = "Examples:\n  waymark agent forget eu-1\n  waymark agent forget eu-1 --wait all")]
    Forget {
        /// The agent's name.
        name: String,
    },
    /// Let agents without a certificate join.
    #[command(subcommand)]
    Token(token::Verb),
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::List => list(session).await,
        Verb::Show { name } => show(name, session).await,
        Verb::Forget { name } => forget(name, session).await,
        Verb::Token(verb) => token::run(verb, session).await,
    }
}

async fn show(name: String, session: &Session) -> Result<String, Failure> {
    let request = GetRequest { name, read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        AgentsClient::new(at.channel).max_decoding_message_size(RESPONSE_BYTES_MAX).get_agent(request).await
    };
    Ok(session.show(&Agent::from(session.client.read(call).await?)))
}

async fn forget(name: String, session: &Session) -> Result<String, Failure> {
    let request = DeleteRequest { name: name.clone(), write: session.write(None) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        AgentsClient::new(at.channel).delete_agent(request).await
    };
    Ok(session.written("agent", &name, "forgotten", session.client.write(call).await?))
}

async fn list(session: &Session) -> Result<String, Failure> {
    let agents = session
        .pages(async |page| {
            let request = ListRequest { page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                AgentsClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_agents(request)
                    .await
            };
            let wire::ListAgentsResponse { agents, next_page_token } = session.client.read(call).await?;
            Ok((agents, next_page_token))
        })
        .await?;
    Ok(session.show(&AgentList { agents: agents.into_iter().map(Into::into).collect() }))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Agent {
    name: String,
    region: String,
    /// `connected`, `blind` or `lost`.
    state: &'static str,
    since: String,
    /// The member that holds its stream, or held it last.
    member: String,
    version: String,
    session: u64,
    #[serde(skip)]
    since_ms: u64,
}

#[derive(Debug, Serialize)]
struct AgentList {
    agents: Vec<Agent>,
}

impl From<wire::Agent> for Agent {
    fn from(message: wire::Agent) -> Self {
        let wire::Agent { name, region, member, version, lost, since_ms, run: _, session, member_id, blind } =
            message;
        let member = if member.is_empty() { format!("member {member_id}") } else { member };
        let state = match (lost, blind) {
            (true, _) => "lost",
            (false, true) => "blind",
            (false, false) => "connected",
        };
        Self { name, region, state, since: time::rfc_3339(since_ms), member, version, session, since_ms }
    }
}

impl Agent {
    fn since_text(&self) -> String {
        format!("{} ({} ago)", time::readable(self.since_ms), time::age(self.since_ms, time::now_ms()))
    }
}

impl Shown for Agent {
    const KIND: &'static str = "Agent";

    fn names(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn text(&self, style: &Style) -> String {
        let pairs = [
            ("agent", self.name.clone()),
            ("region", self.region.clone()),
            ("state", self.state.to_owned()),
            ("since", self.since_text()),
            ("member", self.member.clone()),
            ("version", self.version.clone()),
            ("session", self.session.to_string()),
        ];
        table::pairs(style, &pairs)
    }
}

impl Shown for AgentList {
    const KIND: &'static str = "AgentList";

    fn names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["AGENT", "REGION", "STATE", "SINCE", "MEMBER", "VERSION"]);
        for agent in &self.agents {
            shown.add_row([
                Cell::new(&agent.name),
                Cell::new(&agent.region),
                table::judged(agent.state, style),
                Cell::new(agent.since_text()),
                Cell::new(&agent.member),
                Cell::new(&agent.version),
            ]);
        }
        table::finish(shown)
    }
}
