//! `waymark explain`: what a query would be answered, and why (RTE-15).

mod profile;
mod shown;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use waymark_proto::admin::v1::ExplainRequest;
use waymark_proto::admin::v1::answers_client::AnswersClient;

use crate::client::{Attempt, Client};
use crate::cluster;
use crate::failure::{Exit, Failure};
use crate::flags;
use crate::session::Session;
pub(crate) use shown::Explanation;

/// A query as a resolver would send it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  waymark explain web.tm.example.com\n  \
waymark explain web.tm.example.com --type AAAA --from 198.51.100.7 --member m2\n  \
waymark explain web.tm.example.com --at 2h")]
pub(crate) struct Question {
    /// The name that is asked for.
    name: String,
    /// The type that is asked for, as in A, AAAA, NS or TYPE65.
    #[arg(long = "type", value_name = "TYPE", default_value = "A", value_parser = NonEmptyStringValueParser::new())]
    record_type: String,
    /// The client: an address, or a network that the resolver tells of (EDNS client subnet) [default: 127.0.0.1].
    #[arg(long, value_name = "IP[/BITS]", value_parser = NonEmptyStringValueParser::new())]
    from: Option<String>,
    /// Ask this member, by its name or number; else the first that answers.
    #[arg(long, value_name = "M")]
    member: Option<String>,
    /// As it was then: how long ago, or a moment as in 2026-01-31T12:00:00Z. Seven days are kept.
    #[arg(long, value_name = "TIME", value_parser = flags::moment)]
    at: Option<flags::Moment>,
    /// The draw that decides; a random one if not given.
    #[arg(long, value_name = "N")]
    draw: Option<u64>,
}

/// Asks and shows the trace.
pub(crate) async fn run(question: Question, session: &Session) -> Result<String, Failure> {
    let Question { name, record_type, from, member, at, draw } = question;
    let client = from.unwrap_or_default();
    let at_ms = at.map(|at| at.0);
    let request = ExplainRequest {
        name,
        r#type: record_type.to_ascii_uppercase(),
        client,
        draw,
        at_ms,
        down: Vec::new(),
    };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        AnswersClient::new(at.channel).explain(request).await
    };
    let explanation = match member {
        None => session.client.read(call).await?,
        Some(member) => client_of(&member, session).await?.read(call).await?,
    };
    Ok(session.show(&Explanation::from(explanation)))
}

/// A client of the one member that is named, at the address that the cluster knows.
async fn client_of(wanted: &str, session: &Session) -> Result<Client, Failure> {
    let members = cluster::status(session).await?.members;
    let is_wanted = |member: &waymark_proto::admin::v1::Member| {
        member.name.eq_ignore_ascii_case(wanted) || member.id.to_string() == wanted
    };
    match members.iter().find(|member| is_wanted(member)) {
        Some(member) => session.client.at(&member.grpc),
        None => {
            let known: Vec<_> = members.iter().map(|member| member.name.as_str()).collect();
            let message = format!("there is no member '{wanted}'; members are {}", known.join(", "));
            Err(Failure::new(Exit::NotFound, message))
        }
    }
}
