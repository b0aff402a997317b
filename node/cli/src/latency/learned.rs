//! `waymark latency learned`: what members and agents measured.

use std::collections::BTreeMap;
use std::net::IpAddr;

use comfy_table::Cell;
use serde::Serialize;
use waymark_core::state::LearnedTable;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::latencies_client::LatenciesClient;
use waymark_proto::admin::v1::{self as wire, ListRequest};

use crate::client::Attempt;
use crate::failure::Failure;
use crate::output::{Shown, Style, table, time};
use crate::session::Session;

pub(super) async fn list(session: &Session) -> Result<Learned, Failure> {
    let rows = session
        .pages(async |page| {
            let request = ListRequest { page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                LatenciesClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_learned_latencies(request)
                    .await
            };
            let wire::ListLearnedLatenciesResponse { rows, next_page_token } =
                session.client.read(call).await?;
            Ok((rows, next_page_token))
        })
        .await?;
    Ok(Learned { rows: rows.into_iter().map(Into::into).collect() })
}

#[derive(Debug, Serialize)]
pub(super) struct Learned {
    rows: Vec<Row>,
}

impl Learned {
    /// The row of `client` alone, if there is one.
    pub(super) fn of(self, client: IpAddr) -> Option<Self> {
        let network = LearnedTable::network_of(client).to_string();
        let row = self.rows.into_iter().find(|row| row.network == network)?;
        Some(Self { rows: vec![row] })
    }
}

#[derive(Debug, Serialize)]
struct Row {
    network: String,
    latencies: BTreeMap<String, Measured>,
}

#[derive(Debug, Serialize)]
struct Measured {
    milliseconds: u32,
    confirmed: String,
}

impl From<wire::LearnedLatencyRow> for Row {
    fn from(message: wire::LearnedLatencyRow) -> Self {
        let wire::LearnedLatencyRow { network, latencies } = message;
        let each = |latency: wire::LearnedLatency| {
            let wire::LearnedLatency { region, milliseconds, confirmed_at_ms } = latency;
            (region, Measured { milliseconds, confirmed: time::rfc_3339(confirmed_at_ms) })
        };
        Self { network, latencies: latencies.into_iter().map(each).collect() }
    }
}

impl Shown for Learned {
    const KIND: &'static str = "LearnedLatencies";

    fn names(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.network.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        if self.rows.is_empty() {
            return "nothing is learned yet; members learn with --region, agents with --measure-per-minute\n"
                .to_owned();
        }
        let mut shown = table::table(style, &["NETWORK", "MILLISECONDS", "CONFIRMED"]);
        for Row { network, latencies } in &self.rows {
            let regions: Vec<String> =
                latencies.iter().map(|(region, found)| format!("{region} {}", found.milliseconds)).collect();
            let last = latencies.values().map(|found| found.confirmed.as_str()).max().unwrap_or_default();
            shown.add_row([Cell::new(network), Cell::new(regions.join(", ")), Cell::new(last)]);
        }
        table::finish(shown)
    }
}
