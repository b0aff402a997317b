//! Files of latency rows: what is wrong with the file itself is found at once, before anything is written (VAL-1).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use waymark_core::model::{Network, Violation};
use waymark_core::state::LatencyRow;

use super::Rows;
use crate::failure::{Exit, Failure};

/// Most faults that are told of.
const FAULTS_MAX: usize = 50;

/// Reads a file by its ending.
pub(super) fn read(path: &Path) -> Result<Rows, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(Exit::Refused, format!("{} cannot be read: {error}", path.display()))
    })?;
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let mut faults = Vec::new();
    let rows = if is_json { json(&text, &mut faults) } else { csv(&text, &mut faults) };
    if faults.is_empty() {
        return Ok(rows);
    }
    faults.truncate(FAULTS_MAX);
    let message = format!("{} is no latency table", path.display());
    Err(Failure { exit: Exit::Refused, message, violations: faults })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    network: String,
    region: String,
    milliseconds: String,
}

fn csv(text: &str, faults: &mut Vec<Violation>) -> Rows {
    let mut rows = Rows::new();
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    // Without this a file of another kind would be an empty table, which takes every row away.
    if !reader.headers().is_ok_and(|columns| columns.iter().eq(["network", "region", "milliseconds"])) {
        let rule = "the first line names the columns network, region, milliseconds".to_owned();
        faults.push(Violation { field: "line 1".to_owned(), description: rule });
        return rows;
    }
    for line in reader.deserialize::<Line>() {
        match line {
            Ok(Line { network, region, milliseconds }) => {
                let at = format!("line of {network} and {region}");
                let milliseconds = match milliseconds.parse() {
                    Ok(milliseconds) => milliseconds,
                    Err(_) => {
                        let rule =
                            format!("'{milliseconds}' is no number from 0 to {}", LatencyRow::LATENCY_MS_MAX);
                        faults.push(Violation { field: format!("{at}: milliseconds"), description: rule });
                        continue;
                    }
                };
                add(&mut rows, &at, &network, region, milliseconds, faults);
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                let rule = format!("the columns are network, region, milliseconds: {error}");
                faults.push(Violation { field: format!("line {line}"), description: rule });
            }
        }
    }
    rows
}

#[derive(Deserialize)]
struct Table {
    rows: Vec<TableRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableRow {
    network: String,
    latencies: BTreeMap<String, u32>,
}

fn json(text: &str, faults: &mut Vec<Violation>) -> Rows {
    let mut rows = Rows::new();
    match serde_json::from_str::<Table>(text) {
        Ok(table) => {
            for (at, TableRow { network, latencies }) in table.rows.into_iter().enumerate() {
                if latencies.is_empty() {
                    let rule = format!("is empty; a row has 1–{} regions", LatencyRow::REGIONS_MAX);
                    faults.push(Violation { field: format!("rows[{at}]: latencies"), description: rule });
                }
                for (region, milliseconds) in latencies {
                    add(&mut rows, &format!("rows[{at}]"), &network, region, milliseconds, faults);
                }
            }
        }
        Err(error) => {
            faults.push(Violation { field: format!("line {}", error.line()), description: error.to_string() })
        }
    }
    rows
}

fn add(
    rows: &mut Rows,
    at: &str,
    network: &str,
    region: String,
    milliseconds: u32,
    faults: &mut Vec<Violation>,
) {
    let mut refuse = |what: &str, description: String| {
        faults.push(Violation { field: format!("{at}: {what}"), description });
    };
    if milliseconds > LatencyRow::LATENCY_MS_MAX {
        refuse("milliseconds", format!("{milliseconds} is outside 0–{}", LatencyRow::LATENCY_MS_MAX));
    }
    match network.parse::<Network>() {
        Err(fault) => refuse("network", fault.to_string()),
        Ok(network) => {
            if rows.entry(network).or_default().insert(region, milliseconds).is_some() {
                refuse("region", "is given twice for this network".to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let mut faults = Vec::new();
        csv(text, &mut faults);
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rte_7_rows_come_from_csv_and_json_alike() {
        let mut faults = Vec::new();
        let text = "network,region,milliseconds\n# measured\n10.0.0.0/8, eu ,12\n10.0.0.0/8,us,90\n2001:db8::/32,eu,7\n";
        let from_csv = csv(text, &mut faults);
        let text = r#"{"rows": [{"network": "10.0.0.0/8", "latencies": {"eu": 12, "us": 90}},
            {"network": "2001:db8::/32", "latencies": {"eu": 7}}], "digest": "whatever"}"#;
        assert_eq!(json(text, &mut faults), from_csv);
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(from_csv.len(), 2);
    }

    #[test]
    fn val_1_every_fault_of_a_file_is_told_at_once() {
        let text = "network,region,milliseconds\n10.0.0.1/8,eu,12\n10.0.0.0/8,eu,-1\n10.0.0.0/8,eu,70000\n10.0.0.0/8,eu,1\n10.0.0.0/8,eu,2\n";
        let told = faults(text);
        assert_eq!(faults("")[0], "line 1: the first line names the columns network, region, milliseconds");
        assert_eq!(faults("10.0.0.0/8,eu,1\n").len(), 1, "a file without the first line takes nothing away");
        assert_eq!(told.len(), 5, "{told:?}");
        assert!(told[0].contains("did you mean 10.0.0.0/8"), "{told:?}");
        assert!(told[1].contains("'-1' is no number from 0 to 60000"), "{told:?}");
        assert!(
            faults("net,region,milliseconds\n10.0.0.0/8,eu,1\n")[0].contains("network, region, milliseconds")
        );
        let mut empty = Vec::new();
        json(r#"{"rows": [{"network": "10.0.0.0/8", "latencies": {}}]}"#, &mut empty);
        assert_eq!(empty[0].to_string(), "rows[0]: latencies: is empty; a row has 1–200 regions");
    }
}
