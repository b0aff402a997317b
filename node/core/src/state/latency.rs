//! How far networks of clients are from regions, in milliseconds (RTE-7).

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use crate::geo::{Fnv, NetworkMap};
use crate::model::{Caseless, Network, Revision, Timestamp};

/// What is known of one network of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyRow {
    /// The network.
    pub network: Network,
    /// Milliseconds to each region that was measured, in the order of the regions' names.
    pub latencies: Vec<(Caseless, u32)>,
}

impl LatencyRow {
    /// The longest time, in milliseconds: what takes longer is no answer.
    pub const LATENCY_MS_MAX: u32 = 60_000;
    /// Most regions in a row.
    pub const REGIONS_MAX: usize = 200;

    /// Milliseconds to `region`, if it was measured.
    pub fn latency_ms(&self, region: &Caseless) -> Option<u32> {
        let found = self.latencies.binary_search_by(|(known, _)| known.cmp(region)).ok()?;
        Some(self.latencies[found].1)
    }

    /// What the row adds to its table's digest.
    fn digest(&self) -> u128 {
        let mut digest = Fnv::default();
        digest.add(self.network.to_string().as_bytes());
        for (region, ms) in &self.latencies {
            digest.add(format!(" {}={ms}", region.as_str().to_lowercase()).as_bytes());
        }
        digest.summand()
    }
}

/// A row as it is wished: raw text, judged by `apply`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyRowDraft {
    /// See [`LatencyRow::network`].
    pub network: String,
    /// Regions' names, each with milliseconds.
    pub latencies: Vec<(String, u32)>,
}

/// All rows, and what tells one table from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyTable {
    /// The rows by their networks.
    pub rows: NetworkMap<Arc<LatencyRow>>,
    /// The state's counter at the last change of a row.
    pub revision: Revision,
    /// When that was.
    pub at: Timestamp,
    digest: u128,
}

impl LatencyTable {
    /// Most rows; an operator's measurements of every /24 that matters fit many times.
    pub const ROWS_MAX: usize = 200_000;
    /// Most rows that one command changes. Rows of many regions need smaller commands to fit into a log entry.
    pub const BATCH_MAX: usize = 1_000;

    /// The row of the longest network that holds `client`, if there is one, and the largest network around the client for
    /// all of which that very row counts, or none.
    pub fn row_of(&self, client: IpAddr) -> (Network, Option<&Arc<LatencyRow>>) {
        self.rows.longest(client)
    }

    /// Puts a row in the place of the one with its network; true if it is another.
    pub fn insert(&mut self, row: LatencyRow) -> bool {
        let before = self.rows.get(&row.network);
        if before.is_some_and(|before| **before == row) {
            return false;
        }
        let gone = before.map_or(0, |before| before.digest());
        self.digest = self.digest.wrapping_sub(gone).wrapping_add(row.digest());
        self.rows.insert(row.network, Arc::new(row));
        true
    }

    /// Takes a row out; true if there was one.
    pub(super) fn remove(&mut self, network: &Network) -> bool {
        let Some(row) = self.rows.remove(network) else { return false };
        self.digest = self.digest.wrapping_sub(row.digest());
        true
    }

    /// The digest of the rows: equal for equal tables, in whatever order they were made.
    pub fn digest(&self) -> impl fmt::Display + use<> {
        format!("{:032x}", self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize, ms: u32) -> LatencyTable {
        let mut table = LatencyTable::default();
        for third in 0..rows {
            let network = format!("11.0.{third}.0/24").parse().expect("a network");
            table.insert(LatencyRow { network, latencies: vec![("here".into(), ms)] });
        }
        table
    }

    /// All rows a millisecond longer is another table, and the way to a table does not matter.
    #[test]
    fn rte_7_the_digest_tells_tables_apart() {
        for rows in [1, 2, 100] {
            let digests: std::collections::BTreeSet<String> =
                (0..30).map(|ms| table(rows, ms).digest().to_string()).collect();
            assert_eq!(digests.len(), 30, "{rows} rows");
        }
        let mut changed = table(100, 7);
        for network in changed.rows.iter().map(|(network, _)| *network).collect::<Vec<_>>() {
            changed.insert(LatencyRow { network, latencies: vec![("HERE".into(), 8)] });
        }
        assert_eq!(changed.digest().to_string(), table(100, 8).digest().to_string());
        changed.remove(&"11.0.99.0/24".parse().expect("a network"));
        assert_eq!(changed.digest().to_string(), table(99, 8).digest().to_string());
    }
}
