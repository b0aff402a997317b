//! `waymark agent token`: how an agent without a certificate may join, once (SEC-1). The token is made here: the cluster is told its
//! hash and nothing else.

use std::path::PathBuf;

use clap::Subcommand;
use comfy_table::Cell;
use serde::Serialize;
use waymark_core::state::TokenHash;
use waymark_process::identity::{Identity, Role};
use waymark_process::join_token::JoinToken;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::agents_client::AgentsClient;
use waymark_proto::admin::v1::{self as wire, CreateJoinTokenRequest, DeleteRequest, ListRequest};

use crate::client::Attempt;
use crate::failure::{Exit, Failure};
use crate::flags::duration::{Millis, with_days};
use crate::output::{Shown, Style, table, time};
use crate::session::Session;

/// What is done to join tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Make a token by which an agent comes to its certificate, once; it is shown now and never again.
    #[command(
        after_help = "Examples:\n  waymark agent token create a1 --region eu-central --into a1.token\n  \
waymark agent token create a1 --region eu-central --for 10m -o json"
    )]
    Create {
        /// The agent's name.
        name: String,
        /// The region that it probes from.
        #[arg(long, value_name = "REGION")]
        region: String,
        /// How long it is good, 1s to 7d.
        #[arg(long = "for", value_name = "DURATION", value_parser = with_days, default_value = "1h")]
        span: Millis,
        /// Put it into this file, which there must not be yet, instead of showing it.
        #[arg(long, value_name = "FILE")]
        into: Option<PathBuf>,
    },
    /// List the tokens whose time is not up; what lets an agent in is not shown.
    #[command(after_help = "Examples:\n  waymark agent token list\n  waymark agent token list -o json")]
    List,
    /// Take a token back.
    #[command(after_help = "Examples:\n  waymark agent token delete 5f0c2f1e8a6b4d7c\n  \
waymark agent token delete 5f0c2f1e8a6b4d7c --wait all")]
    Delete {
        /// The token's id, as it is listed.
        id: String,
    },
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::Create { name, region, span, into } => create(name, region, span, into, session).await,
        Verb::List => list(session).await,
        Verb::Delete { id } => delete(id, session).await,
    }
}

async fn create(
    agent: String,
    region: String,
    Millis(span_ms): Millis,
    into: Option<PathBuf>,
    session: &Session,
) -> Result<String, Failure> {
    let refused = |reason: String| Failure::new(Exit::Refused, reason);
    let own = session.client.identity().ok_or_else(|| {
        refused("in plain text nobody has an identity: an agent joins a member that runs with --dev without a token".into())
    })?;
    let role = Role::new("agent", Some(&region), &agent).map_err(refused)?;
    let token = JoinToken::draw(Identity { trust_domain: own.trust_domain, role });
    // First, so that no token is outstanding that nobody has.
    if let Some(path) = &into {
        token.create(path).map_err(|error| refused(error.to_string()))?;
    }
    let hash = TokenHash::of(token.secret());
    let request = CreateJoinTokenRequest {
        hash: hash.0.to_vec().into(),
        agent: agent.clone(),
        region: region.clone(),
        span_ms,
        write: session.write(None),
    };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        AgentsClient::new(at.channel).create_join_token(request).await
    };
    // Whether it is good is not known then: it is listed if it is.
    session.client.write(call).await.inspect_err(|failure| {
        if let (Some(path), false) = (&into, failure.exit == Exit::TimedOut) {
            let _ = std::fs::remove_file(path);
        }
    })?;
    let (file, text) = match &into {
        Some(path) => (Some(path.display().to_string()), None),
        None => (None, Some(token.text())),
    };
    Ok(session.show(&Made { id: hash.id(), agent, region, token: text, file }))
}

async fn list(session: &Session) -> Result<String, Failure> {
    let tokens = session
        .pages(async |page| {
            let request = ListRequest { page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                AgentsClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_join_tokens(request)
                    .await
            };
            let wire::ListJoinTokensResponse { tokens, next_page_token } = session.client.read(call).await?;
            Ok((tokens, next_page_token))
        })
        .await?;
    Ok(session.show(&TokenList { tokens: tokens.into_iter().map(Into::into).collect() }))
}

async fn delete(id: String, session: &Session) -> Result<String, Failure> {
    let request = DeleteRequest { name: id.clone(), write: session.write(None) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        AgentsClient::new(at.channel).delete_join_token(request).await
    };
    Ok(session.written("join token", &id, "taken back", session.client.write(call).await?))
}

#[derive(Serialize)]
struct Made {
    id: String,
    agent: String,
    region: String,
    /// The token, unless it went into a file.
    token: Option<String>,
    file: Option<String>,
}

impl Shown for Made {
    const KIND: &'static str = "MadeJoinToken";

    fn names(&self) -> Vec<String> {
        vec![self.id.clone()]
    }

    fn text(&self, _: &Style) -> String {
        let Self { id, agent, region, token, file } = self;
        match (token, file) {
            (Some(token), _) => format!("{token}\n"),
            (None, file) => {
                let file = file.as_deref().unwrap_or_default();
                format!(
                    "made {file} with the join token {id}: it lets the agent '{agent}' in '{region}' join, once\n"
                )
            }
        }
    }
}

#[derive(Debug, Serialize)]
struct Token {
    id: String,
    agent: String,
    region: String,
    /// `outstanding`, or `redeemed`.
    state: &'static str,
    until: String,
    author: String,
    since: String,
}

impl From<wire::JoinToken> for Token {
    fn from(message: wire::JoinToken) -> Self {
        let wire::JoinToken { id, agent, region, author, at_ms, ends_ms, redeemed } = message;
        let state = if redeemed { "redeemed" } else { "outstanding" };
        let (until, since) = (time::rfc_3339(ends_ms), time::rfc_3339(at_ms));
        Self { id, agent, region, state, until, author, since }
    }
}

#[derive(Debug, Serialize)]
struct TokenList {
    tokens: Vec<Token>,
}

impl Shown for TokenList {
    const KIND: &'static str = "JoinTokenList";

    fn names(&self) -> Vec<String> {
        self.tokens.iter().map(|token| token.id.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["TOKEN", "AGENT", "REGION", "STATE", "UNTIL", "BY"]);
        for Token { id, agent, region, state, until, author, since: _ } in &self.tokens {
            shown.add_row([id, agent, region, *state, until, author].map(Cell::new));
        }
        table::finish(shown)
    }
}
