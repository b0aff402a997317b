//! The table as JSON, as `latency list -o json` prints it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use waymark_core::state::LatencyRow;

use super::{At, Reading};

#[derive(serde::Deserialize)]
struct Table {
    rows: Vec<Row>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    network: String,
    latencies: Latencies,
}

/// The regions with their times as they stand there, a region that is given twice included.
struct Latencies(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Latencies;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("regions with their milliseconds")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Latencies, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Latencies(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// Reads a whole table.
pub(super) fn read(text: &str, reading: &mut Reading) {
    let table: Table = match serde_json::from_str(text) {
        Ok(table) => table,
        Err(error) => {
            let told = error.to_string();
            // The place is told in front.
            let rule = told.rsplit_once(" at line ").map_or(told.as_str(), |(rule, _)| rule);
            return reading.fault(format!("line {}", error.line()), rule);
        }
    };
    for (number, Row { network, latencies: Latencies(latencies) }) in table.rows.into_iter().enumerate() {
        let at = At::Row(number);
        if latencies.is_empty() {
            reading
                .fault(at, format!("latencies: is empty; a row has 1–{} regions", LatencyRow::REGIONS_MAX));
        }
        for (region, milliseconds) in latencies {
            reading.add(at, &network, &region, &milliseconds.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn val_1_every_fault_of_a_table_is_told_with_its_row() {
        let text = r#"{"rows": [
            {"network": "10.0.0.0/8", "latencies": {}},
            {"network": "10.1.0.0/16", "latencies": {"eu": 1, "us": 2, "eu": 3}},
            {"network": "10.2.0.0/16", "latencies": {"eu": -1, "us": 1.5, "asia": "7"}}
        ]}"#;
        let mut reading = Reading::of("table.json".to_owned());
        read(text, &mut reading);
        let told: Vec<String> = reading.faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "table.json rows[0]: latencies: is empty; a row has 1–200 regions",
                "table.json rows[1]: region: 'eu' is given twice for 10.1.0.0/16, first in rows[1]",
                "table.json rows[2]: milliseconds: '-1' is no whole number of milliseconds, 0–60000",
                "table.json rows[2]: milliseconds: '1.5' is no whole number of milliseconds, 0–60000",
                "table.json rows[2]: milliseconds: '\\\"7\\\"' is no whole number of milliseconds, 0–60000",
            ]
        );
        let mut reading = Reading::of("table.json".to_owned());
        read("{\"rows\": [],\n\"rows\": []}", &mut reading);
        assert_eq!(reading.faults[0].to_string(), "table.json line 2: duplicate field `rows`");
    }
}
