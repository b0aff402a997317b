//! Files of latency rows: what is wrong with the file itself is found at once, before anything is written (VAL-1), and
//! what the cluster finds wrong is led back to the place in the file.

mod json;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::fs;
use std::path::Path;

use waymark_core::model::{Network, Violation, quote};
use waymark_core::state::LatencyRow;

use crate::failure::{Exit, Failure};

/// Most faults that are told of.
const FAULTS_MAX: usize = 50;

/// A file that was read.
#[derive(Debug)]
pub(super) struct File {
    name: String,
    /// A network's milliseconds to each region.
    pub(super) rows: BTreeMap<Network, BTreeMap<String, Latency>>,
}

/// A time, and where it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub(super) milliseconds: u32,
    at: At,
}

/// A place in a file.
#[derive(Clone, Copy, Debug)]
enum At {
    /// A line of CSV, counted from 1.
    Line(usize),
    /// A row of JSON, counted from 0.
    Row(usize),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "rows[{row}]"),
        }
    }
}

/// Reads a file by its ending.
pub(super) fn read(path: &Path) -> Result<File, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(Exit::Refused, format!("{} cannot be read: {error}", path.display()))
    })?;
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let mut reading = Reading::of(path.display().to_string());
    if is_json {
        json::read(&text, &mut reading)
    } else {
        csv(&text, &mut reading)
    }
    reading.finish()
}

/// A file while it is read.
struct Reading {
    file: File,
    faults: Vec<Violation>,
}

impl Reading {
    fn of(name: String) -> Self {
        Self { file: File { name, rows: BTreeMap::new() }, faults: Vec::new() }
    }

    fn finish(mut self) -> Result<File, Failure> {
        if self.faults.is_empty() {
            return Ok(self.file);
        }
        self.faults.truncate(FAULTS_MAX);
        let message = format!("{} is no latency table", self.file.name);
        Err(Failure { exit: Exit::Refused, message, violations: self.faults })
    }

    fn fault(&mut self, at: impl fmt::Display, description: impl Into<String>) {
        let field = format!("{} {at}", self.file.name);
        self.faults.push(Violation { field, description: description.into() });
    }

    /// Takes one time, or notes every reason why not.
    fn add(&mut self, at: At, network: &str, region: &str, milliseconds: &str) {
        let parsed = milliseconds.parse::<u32>().ok().filter(|ms| *ms <= LatencyRow::LATENCY_MS_MAX);
        if parsed.is_none() {
            let rule = format!("is no whole number of milliseconds, 0–{}", LatencyRow::LATENCY_MS_MAX);
            self.fault(at, format!("milliseconds: {} {rule}", quote(milliseconds)));
        }
        if region.is_empty() {
            self.fault(at, "region: is empty");
        }
        match (network.parse::<Network>(), parsed) {
            (Err(fault), _) => self.fault(at, format!("network: {fault}")),
            (Ok(network), Some(milliseconds)) => {
                match self.file.rows.entry(network).or_default().entry(region.to_owned()) {
                    Entry::Vacant(free) => {
                        free.insert(Latency { milliseconds, at });
                    }
                    Entry::Occupied(taken) => {
                        let first = taken.get().at;
                        let rule = format!("is given twice for {network}, first in {first}");
                        self.fault(at, format!("region: {} {rule}", quote(region)));
                    }
                }
            }
            (Ok(_), None) => {}
        }
    }
}

/// The columns of a file.
const COLUMNS: [&str; 3] = ["network", "region", "milliseconds"];

/// One line is one record, since no network and no region has a line break in it; so each fault has the line on which it
/// stands. Blank lines and lines that begin with `#` are passed over.
fn csv(text: &str, reading: &mut Reading) {
    let text = text.trim_start_matches('\u{feff}');
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    // Without this a file of another kind would be an empty table, which takes every row away.
    if lines.next().is_none_or(|(_, line)| fields(line).iter().ne(COLUMNS)) {
        reading.fault("line 1", format!("the first line names the columns {}", COLUMNS.join(", ")));
        return;
    }
    for (number, line) in lines {
        let at = At::Line(number);
        match fields(line).iter().collect::<Vec<_>>().as_slice() {
            [network, region, milliseconds] => reading.add(at, network, region, milliseconds),
            fields => {
                let rule = format!("a line has {}: {}", COLUMNS.len(), COLUMNS.join(", "));
                reading.fault(at, format!("has {} of the columns; {rule}", fields.len()));
            }
        }
    }
}

/// The fields of a line; one that is no record has none.
fn fields(line: &str) -> csv::StringRecord {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).trim(csv::Trim::All).buffer_capacity(line.len() + 1);
    let record = reader.from_reader(line.as_bytes()).into_records().next();
    record.and_then(Result::ok).unwrap_or_default()
}

impl File {
    /// The cluster's refusal of `sent`, some of the file's rows, with each fault led back to its place in the file.
    pub(super) fn locate(&self, sent: &[String], mut failure: Failure) -> Failure {
        for violation in &mut failure.violations {
            if let Some((at, network, region)) = self.place(sent, &violation.field) {
                let of_region = region.map(|region| format!(", {region}")).unwrap_or_default();
                violation.field = format!("{} {at}", self.name);
                violation.description = format!("{network}{of_region}: {}", violation.description);
            }
        }
        failure
    }

    /// What `rows[3].latencies['eu']` stands for: a place in the file, the network, and the region if it is about one.
    fn place(&self, sent: &[String], field: &str) -> Option<(At, &Network, Option<&String>)> {
        let (number, rest) = field.strip_prefix("rows[")?.split_once(']')?;
        let network: Network = sent.get(number.parse::<usize>().ok()?)?.parse().ok()?;
        let (network, row) = self.rows.get_key_value(&network)?;
        let named = |region: &&String| rest.contains(&format!("[{}]", quote(region)));
        match row.keys().find(named) {
            Some(region) => Some((row[region].at, network, Some(region))),
            None => Some((row.values().next()?.at, network, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let mut reading = Reading::of("table.csv".to_owned());
        csv(text, &mut reading);
        reading.faults.iter().map(ToString::to_string).collect()
    }

    fn table(lines: &str) -> String {
        format!("network,region,milliseconds\n{lines}")
    }

    #[test]
    fn rte_7_rows_come_from_csv_and_json_alike() {
        let mut from_csv = Reading::of("table.csv".to_owned());
        let text = table("# measured\r\n10.0.0.0/8, eu ,12\r\n\n\"10.0.0.0/8\",us,90\n2001:db8::/32,eu,7\n");
        csv(&text, &mut from_csv);
        let text = r#"{"rows": [{"network": "10.0.0.0/8", "latencies": {"eu": 12, "us": 90}},
            {"network": "2001:db8::/32", "latencies": {"eu": 7}}], "digest": "whatever"}"#;
        let mut from_json = Reading::of("table.json".to_owned());
        json::read(text, &mut from_json);
        let plain = |reading: Reading| -> Vec<(Network, Vec<(String, u32)>)> {
            let row = |row: BTreeMap<String, Latency>| {
                row.into_iter().map(|(region, latency)| (region, latency.milliseconds)).collect()
            };
            let rows = reading.finish().expect("a table").rows;
            rows.into_iter().map(|(network, latencies)| (network, row(latencies))).collect()
        };
        let rows = plain(from_csv);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows, plain(from_json));
    }

    #[test]
    fn val_1_every_fault_of_a_file_is_told_with_its_line() {
        let lines = "10.0.0.1/8,eu,12\n# a remark\n10.0.0.0/8,eu,-1\n10.0.0.0/8,eu,70000\n10.0.0.0/8,eu,1\n\
                     10.0.0.0/8,eu,2\n10.0.0.0/8\n10.0.0.0/8,,1\n10.0.0.0/8,us,1,2\n";
        let told = faults(&table(lines));
        assert_eq!(told.len(), 7, "{told:?}");
        assert!(told[0].starts_with("table.csv line 2: network: "), "{told:?}");
        assert!(told[0].contains("did you mean 10.0.0.0/8"), "{told:?}");
        assert_eq!(
            told[1..],
            [
                "table.csv line 4: milliseconds: '-1' is no whole number of milliseconds, 0–60000",
                "table.csv line 5: milliseconds: '70000' is no whole number of milliseconds, 0–60000",
                "table.csv line 7: region: 'eu' is given twice for 10.0.0.0/8, first in line 6",
                "table.csv line 8: has 1 of the columns; a line has 3: network, region, milliseconds",
                "table.csv line 9: region: is empty",
                "table.csv line 10: has 4 of the columns; a line has 3: network, region, milliseconds",
            ]
        );
        let first = "table.csv line 1: the first line names the columns network, region, milliseconds";
        assert_eq!(faults("")[0], first);
        assert!(faults("\u{feff}# from a spreadsheet\nnetwork,region,milliseconds\n").is_empty());
        assert_eq!(faults("10.0.0.0/8,eu,1\n"), [first], "a file without the first line takes nothing away");
        assert_eq!(faults("net,region,milliseconds\n10.0.0.0/8,eu,1\n"), [first]);
    }

    #[test]
    fn val_1_what_the_cluster_refuses_is_led_back_to_the_file() {
        let mut reading = Reading::of("table.csv".to_owned());
        csv(&table("10.0.0.0/8,eu,12\n10.0.0.0/8,asai,90\n192.0.2.0/24,eu,7\n"), &mut reading);
        let file = reading.finish().expect("a table");
        let sent = ["192.0.2.0/24".to_owned(), "10.0.0.0/8".to_owned()];
        let refusal = Failure {
            violations: vec![
                Violation::new("rows[1].latencies['asai']", "there is no such region; did you mean 'asia'?"),
                Violation::new("rows[0].latencies", "is odd"),
                Violation::new("rows", "too many"),
            ],
            ..Failure::new(Exit::Refused, "3 rules")
        };
        let told: Vec<String> =
            file.locate(&sent, refusal).violations.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "table.csv line 3: 10.0.0.0/8, asai: there is no such region; did you mean 'asia'?",
                "table.csv line 4: 192.0.2.0/24: is odd",
                "rows: too many",
            ]
        );
    }
}
