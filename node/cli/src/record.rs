//! `waymark record`: static records beside profiles, a name's of one type at a time (DNS-17).

use clap::{Args, Subcommand};
use comfy_table::Cell;
use serde::Serialize;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::records_client::RecordsClient;
use waymark_proto::admin::v1::{
    self as wire, DeleteRecordSetRequest, GetRecordSetRequest, ListRecordSetsRequest, SetRecordSetRequest,
};

use crate::client::Attempt;
use crate::confirm;
use crate::failure::Failure;
use crate::flags;
use crate::output::{Shown, Style, table};
use crate::session::Session;

/// What is done to static records.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Put records in the place of those of that name and type, if there are any.
    #[command(after_help = "Examples:\n  \
waymark record set tm.example.com @ MX '10 mx1.example.net' '20 mx2.example.net'\n  \
waymark record set tm.example.com @ TXT '\"v=spf1 mx -all\"' --ttl 1h\n  \
waymark record set tm.example.com _sip._tcp SRV '0 5 5060 sip.example.net'\n  \
waymark record set tm.example.com odd TYPE65280 '\\# 3 0a0b0c'")]
    Set {
        #[command(flatten)]
        place: Place,
        /// The records, each as in a zone file; names are whole, with or without the final dot. As bytes: '\# LENGTH HEX'.
        #[arg(required = true)]
        data: Vec<String>,
        /// Their time to live [default: 3600].
        #[arg(long, value_name = "SECONDS", value_parser = flags::ttl, allow_hyphen_values = true)]
        ttl: Option<u32>,
        /// Only if they are there and at this revision.
        #[arg(long, value_name = "R", value_parser = flags::revision)]
        if_revision: Option<u64>,
    },
    /// List the static records of a zone, or of all.
    #[command(after_help = "Examples:\n  waymark record list tm.example.com\n  waymark record list -o json")]
    List {
        /// The zone's name.
        zone: Option<String>,
    },
    /// Show the records of one name and type.
    #[command(
        after_help = "Examples:\n  waymark record show tm.example.com @ MX\n  waymark record show tm.example.com www TXT -o json"
    )]
    Show(Place),
    /// Remove the records of one name and type.
    #[command(
        after_help = "Examples:\n  waymark record delete tm.example.com @ MX\n  waymark record delete tm.example.com @ MX --yes"
    )]
    Delete {
        #[command(flatten)]
        place: Place,
        /// Only if they are at this revision.
        #[arg(long, value_name = "R", value_parser = flags::revision)]
        if_revision: Option<u64>,
    },
}

/// Which records.
#[derive(Args, Debug)]
pub(crate) struct Place {
    /// The zone's name.
    zone: String,
    /// Where they stand in the zone: '@', or one or more labels.
    name: String,
    /// Their type, as in 'TXT' or 'TYPE65280'.
    r#type: String,
}

impl Place {
    /// What the records are called: `www.tm.example.com TXT`.
    fn title(&self) -> String {
        title(&self.zone, &self.name, &self.r#type.to_uppercase())
    }
}

fn title(zone: &str, name: &str, r#type: &str) -> String {
    let prefix = if name == "@" { String::new() } else { format!("{name}.") };
    format!("{prefix}{zone} {type}")
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::Set { place, data, ttl, if_revision } => set(place, data, ttl, if_revision, session).await,
        Verb::List { zone } => list(zone.unwrap_or_default(), session).await,
        Verb::Show(place) => show(place, session).await,
        Verb::Delete { place, if_revision } => delete(place, if_revision, session).await,
    }
}

async fn set(
    place: Place,
    data: Vec<String>,
    ttl_seconds: Option<u32>,
    if_revision: Option<u64>,
    session: &Session,
) -> Result<String, Failure> {
    let title = place.title();
    let Place { zone, name, r#type } = place;
    let wished = wire::RecordSet { zone, relative_name: name, r#type, ttl_seconds, data, revision: 0 };
    let request = SetRecordSetRequest { record_set: Some(wished), write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        RecordsClient::new(at.channel).set_record_set(request).await
    };
    Ok(session.written("record set", &title, "set", session.client.write(call).await?))
}

async fn delete(place: Place, if_revision: Option<u64>, session: &Session) -> Result<String, Failure> {
    let title = place.title();
    confirm::removal(session.yes, &format!("the record set '{title}'"))?;
    let Place { zone, name, r#type } = place;
    let write = session.write(if_revision);
    let request = DeleteRecordSetRequest { zone, relative_name: name, r#type, write };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        RecordsClient::new(at.channel).delete_record_set(request).await
    };
    Ok(session.written("record set", &title, "deleted", session.client.write(call).await?))
}

async fn show(place: Place, session: &Session) -> Result<String, Failure> {
    let Place { zone, name, r#type } = place;
    let request = GetRecordSetRequest { zone, relative_name: name, r#type, read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        RecordsClient::new(at.channel).get_record_set(request).await
    };
    let set = session.client.read(call).await?;
    Ok(session.show(&RecordSetList { record_sets: vec![set.into()] }))
}

async fn list(zone: String, session: &Session) -> Result<String, Failure> {
    let sets = session
        .pages(async |page| {
            let request =
                ListRecordSetsRequest { zone: zone.clone(), page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                RecordsClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_record_sets(request)
                    .await
            };
            let wire::ListRecordSetsResponse { record_sets, next_page_token } =
                session.client.read(call).await?;
            Ok((record_sets, next_page_token))
        })
        .await?;
    Ok(session.show(&RecordSetList { record_sets: sets.into_iter().map(Into::into).collect() }))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordSet {
    zone: String,
    relative_name: String,
    r#type: String,
    ttl: String,
    data: Vec<String>,
    revision: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordSetList {
    record_sets: Vec<RecordSet>,
}

impl From<wire::RecordSet> for RecordSet {
    fn from(message: wire::RecordSet) -> Self {
        let wire::RecordSet { zone, relative_name, r#type, ttl_seconds, data, revision } = message;
        let ttl = format!("{}s", ttl_seconds.unwrap_or_default());
        Self { zone, relative_name, r#type, ttl, data, revision }
    }
}

impl Shown for RecordSetList {
    const KIND: &'static str = "RecordSetList";

    /// The three words that `show` and `delete` take.
    fn names(&self) -> Vec<String> {
        let words = |set: &RecordSet| format!("{} {} {}", set.zone, set.relative_name, set.r#type);
        self.record_sets.iter().map(words).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["ZONE", "NAME", "TYPE", "TTL", "DATA", "REVISION"]);
        for RecordSet { zone, relative_name, r#type, ttl, data, revision } in &self.record_sets {
            for data in data {
                shown.add_row([
                    Cell::new(zone),
                    Cell::new(relative_name),
                    Cell::new(r#type),
                    Cell::new(ttl),
                    Cell::new(data),
                    Cell::new(revision),
                ]);
            }
        }
        table::finish(shown)
    }
}
