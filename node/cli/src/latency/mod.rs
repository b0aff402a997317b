//! `waymark latency`: how far clients are from regions, for the routing `performance` (RTE-7).

mod file;
mod learned;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::Subcommand;
use comfy_table::Cell;
use serde::Serialize;
use waymark_core::geo::RangeMap;
use waymark_core::model::Network;
use waymark_core::state::LatencyTable;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::latencies_client::LatenciesClient;
use waymark_proto::admin::v1::{self as wire, ListRequest, UpdateLatenciesRequest};

use crate::client::Attempt;
use crate::failure::{Exit, Failure};
use crate::output::{Shown, Style, table, time};
use crate::session::Session;
use file::Latency;

/// What is done to the latency table.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List all rows, with the table's digest and date.
    #[command(after_help = "Examples:\n  waymark latency list\n  waymark latency list -o json")]
    List,
    /// Make the table equal to a file: CSV with the columns network, region and milliseconds, or JSON as `latency list -o json` prints it.
    #[command(
        after_help = "Examples:\n  waymark latency import latency.csv\n  waymark latency import measured.json --merge"
    )]
    Import {
        /// The file; one that ends in `.json` is JSON, any other is CSV.
        file: PathBuf,
        /// Keep rows of networks that the file does not name.
        #[arg(long)]
        merge: bool,
    },
    /// List what members and agents measured, for clients that no row holds.
    #[command(after_help = "Examples:\n  waymark latency learned\n  waymark latency learned -o json")]
    Learned,
    /// Show the row that counts for a client.
    #[command(
        after_help = "Examples:\n  waymark latency show --from 198.51.100.7\n  waymark latency show --from 2001:db8::7 -o json"
    )]
    Show {
        /// The client's address.
        #[arg(long, value_name = "IP")]
        from: IpAddr,
    },
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::List => Ok(session.show(&list(session).await?)),
        Verb::Learned => Ok(session.show(&learned::list(session).await?)),
        Verb::Import { file, merge } => import(&file, merge, session).await,
        Verb::Show { from } => show(from, session).await,
    }
}

async fn show(from: IpAddr, session: &Session) -> Result<String, Failure> {
    let Latencies { rows, digest, changed, .. } = list(session).await?;
    let rows =
        RangeMap::new(rows.into_iter().filter_map(|row| Some((row.network.parse::<Network>().ok()?, row))));
    match rows.get(from).1 {
        Some(row) => Ok(session.show(&Latencies { rows: vec![row.clone()], digest, changed })),
        None => match learned::list(session).await?.of(from) {
            Some(learned) => Ok(session.show(&learned)),
            None => Err(Failure::new(Exit::NotFound, format!("no row of the latency table holds {from}"))),
        },
    }
}

/// Most rows that a batch sets and most that it removes: as many go as come, so that a full table can be replaced.
const BATCH_MAX: usize = LatencyTable::BATCH_MAX / 2;

/// Most times in a batch, so that it fits into a log entry of 2 MiB with the longest names of regions.
const BATCH_LATENCIES_MAX: usize = 10_000;

/// Sets what is different and, unless rows are to be merged, removes what the file lacks, batch by batch: each batch is
/// carried out as a whole, and a repetition goes on where a failure ended it.
async fn import(file: &std::path::Path, merge: bool, session: &Session) -> Result<String, Failure> {
    let file = file::read(file)?;
    let wished = &file.rows;
    let present: BTreeMap<Network, BTreeMap<String, u32>> =
        list(session).await?.rows.into_iter().filter_map(Row::parts).collect();
    let others = present.keys().filter(|network| !wished.contains_key(network));
    let gone: Vec<String> = others.clone().filter(|_| !merge).map(ToString::to_string).collect();
    let count = wished.len() + others.count() - gone.len();
    if count > LatencyTable::ROWS_MAX {
        let rule = format!("{count} would be too many; the table has at most {}", LatencyTable::ROWS_MAX);
        return Err(Failure::new(Exit::Refused, format!("rows: {rule}")));
    }
    let is_other = |(network, row): &(&Network, &BTreeMap<String, Latency>)| {
        !present.get(network).is_some_and(|present| {
            row.len() == present.len()
                && row.iter().all(|(region, latency)| present.get(region) == Some(&latency.milliseconds))
        })
    };
    let set: Vec<_> = wished.iter().filter(is_other).map(|(network, row)| message(network, row)).collect();
    let (changed, removed) = (set.len(), gone.len());
    for (rows, remove) in batches(set, gone) {
        let sent: Vec<String> = rows.iter().map(|row| row.network.clone()).collect();
        update(rows, remove, session).await.map_err(|failure| file.locate(&sent, failure))?;
    }
    let after = list(session).await?;
    Ok(session.show(&Imported {
        set: changed,
        removed,
        unchanged: wished.len() - changed,
        rows: after.rows.len(),
        digest: after.digest,
    }))
}

/// The changes, cut into what one command takes.
fn batches(set: Vec<wire::LatencyRow>, gone: Vec<String>) -> Vec<(Vec<wire::LatencyRow>, Vec<String>)> {
    let (mut set, mut gone) = (set.into_iter().peekable(), gone.into_iter().peekable());
    let mut batches = Vec::new();
    while set.peek().is_some() || gone.peek().is_some() {
        let (mut rows, mut latencies) = (Vec::new(), 0);
        while let Some(row) = set.next_if(|row| {
            rows.is_empty()
                || rows.len() < BATCH_MAX && latencies + row.latencies.len() <= BATCH_LATENCIES_MAX
        }) {
            latencies += row.latencies.len();
            rows.push(row);
        }
        batches.push((rows, gone.by_ref().take(BATCH_MAX).collect()));
    }
    batches
}

fn message(network: &Network, row: &BTreeMap<String, Latency>) -> wire::LatencyRow {
    let latency = |(region, latency): (&String, &Latency)| wire::RegionLatency {
        region: region.clone(),
        milliseconds: latency.milliseconds,
    };
    wire::LatencyRow { network: network.to_string(), latencies: row.iter().map(latency).collect() }
}

async fn update(rows: Vec<wire::LatencyRow>, remove: Vec<String>, session: &Session) -> Result<(), Failure> {
    let request = UpdateLatenciesRequest { rows, remove, write: session.write(None) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        LatenciesClient::new(at.channel).update_latencies(request).await
    };
    session.client.write(call).await.map(|_| ())
}

async fn list(session: &Session) -> Result<Latencies, Failure> {
    let told = std::cell::RefCell::new((String::new(), 0));
    let rows = session
        .pages(async |page| {
            let request = ListRequest { page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                LatenciesClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_latencies(request)
                    .await
            };
            let wire::ListLatenciesResponse { rows, next_page_token, digest, changed_at_ms, revision: _ } =
                session.client.read(call).await?;
            told.replace((digest, changed_at_ms));
            Ok((rows, next_page_token))
        })
        .await?;
    let (digest, changed_at_ms) = told.into_inner();
    let changed = (changed_at_ms > 0).then(|| time::rfc_3339(changed_at_ms));
    Ok(Latencies { rows: rows.into_iter().map(Into::into).collect(), digest, changed })
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    network: String,
    latencies: BTreeMap<String, u32>,
}

impl Row {
    fn parts(self) -> Option<(Network, BTreeMap<String, u32>)> {
        Some((self.network.parse().ok()?, self.latencies))
    }
}

impl From<wire::LatencyRow> for Row {
    fn from(message: wire::LatencyRow) -> Self {
        let wire::LatencyRow { network, latencies } = message;
        let latency = |latency: wire::RegionLatency| (latency.region, latency.milliseconds);
        Self { network, latencies: latencies.into_iter().map(latency).collect() }
    }
}

#[derive(Debug, Serialize)]
struct Latencies {
    rows: Vec<Row>,
    digest: String,
    /// Null if no row was ever set.
    changed: Option<String>,
}

impl Shown for Latencies {
    const KIND: &'static str = "Latencies";

    fn names(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.network.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["NETWORK", "MILLISECONDS"]);
        for Row { network, latencies } in &self.rows {
            let regions: Vec<String> =
                latencies.iter().map(|(region, ms)| format!("{region} {ms}")).collect();
            shown.add_row([Cell::new(network), Cell::new(regions.join(", "))]);
        }
        let changed = self.changed.as_deref().unwrap_or("never");
        if self.rows.is_empty() {
            return format!("no rows, changed {changed}\n");
        }
        format!("{}\ndigest {}, changed {changed}\n", table::finish(shown), self.digest)
    }
}

#[derive(Debug, Serialize)]
struct Imported {
    set: usize,
    removed: usize,
    unchanged: usize,
    rows: usize,
    digest: String,
}

impl Shown for Imported {
    const KIND: &'static str = "Imported";

    fn names(&self) -> Vec<String> {
        vec![self.digest.clone()]
    }

    fn text(&self, _style: &Style) -> String {
        let Self { set, removed, unchanged, rows, digest } = self;
        let digest = if *rows == 0 { String::new() } else { format!(", digest {digest}") };
        format!(
            "latency table: {set} rows set, {removed} removed, {unchanged} unchanged; {rows} in all{digest}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rte_7_a_batch_is_never_too_much_for_a_command() {
        let row = |latencies| wire::LatencyRow {
            network: String::new(),
            latencies: vec![wire::RegionLatency::default(); latencies],
        };
        let sizes = |set, gone| -> Vec<(usize, usize)> {
            let batches = batches(set, vec![String::new(); gone]);
            batches.iter().map(|(rows, remove)| (rows.len(), remove.len())).collect()
        };
        assert_eq!(sizes(Vec::new(), 0), []);
        assert_eq!(sizes(vec![row(1); 501], 1_001), [(500, 500), (1, 500), (0, 1)]);
        assert_eq!(sizes(vec![row(200); 101], 0), [(50, 0), (50, 0), (1, 0)]);
        assert_eq!(
            sizes(vec![row(20_000); 2], 1),
            [(1, 1), (1, 0)],
            "the member judges a row that is too long"
        );
    }
}
