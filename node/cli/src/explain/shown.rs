//! The trace as it is shown.

use std::fmt::Write;

use serde::Serialize;
use waymark_proto::admin::v1 as wire;

use super::profile::Profile;
use crate::output::{Shown, Style, table, time};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explanation {
    name: String,
    r#type: String,
    rcode: String,
    reason: String,
    /// Null if no zone of ours encloses the name.
    zone: Option<String>,
    member: String,
    applied: u64,
    client: String,
    client_from: String,
    /// Why the client subnet that was asked with does not count; null if it does, or if there was none.
    subnet_ignored: Option<String>,
    /// Null if nobody knows where the client is.
    location: Option<String>,
    /// The moment that was asked about; null for now.
    at: Option<String>,
    /// The digest of the table that the member goes by.
    geo_table: String,
    /// The one that the cluster goes by, if the member lacks it.
    geo_table_missing: Option<String>,
    /// Null if no row of the latency table holds the client.
    latency_row: Option<String>,
    /// Null if the question came without a client subnet.
    scope: Option<u32>,
    draw: u64,
    answers: Vec<Record>,
    authority: Vec<Record>,
    additional: Vec<Record>,
    profiles: Vec<Profile>,
}

#[derive(Debug, Serialize)]
struct Record {
    name: String,
    ttl: u32,
    r#type: String,
    data: String,
}

impl From<wire::Explanation> for Explanation {
    fn from(message: wire::Explanation) -> Self {
        let wire::Explanation {
            zone,
            member,
            applied,
            client,
            client_from,
            draw,
            rcode,
            answers,
            authority,
            additional,
            profiles,
            reason,
            r#type,
            name,
            location,
            latency_row,
            scope,
            subnet_ignored,
            geo_table,
            geo_table_missing,
            at_ms,
        } = message;
        let filled = |text: String| Some(text).filter(|text| !text.is_empty());
        let records = |records: Vec<wire::AnswerRecord>| records.into_iter().map(Into::into).collect();
        Self {
            name,
            r#type,
            rcode,
            reason,
            zone: filled(zone),
            member,
            applied,
            client,
            client_from,
            subnet_ignored: filled(subnet_ignored),
            location: filled(location),
            at: at_ms.map(time::rfc_3339),
            geo_table,
            geo_table_missing: filled(geo_table_missing),
            latency_row: filled(latency_row),
            scope,
            draw,
            answers: records(answers),
            authority: records(authority),
            additional: records(additional),
            profiles: profiles.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<wire::AnswerRecord> for Record {
    fn from(message: wire::AnswerRecord) -> Self {
        let wire::AnswerRecord { name, ttl, r#type, data } = message;
        Self { name, ttl, r#type, data }
    }
}

/// Records as a zone file has them.
fn section(text: &mut String, title: &str, records: &[Record]) {
    if records.is_empty() {
        return;
    }
    // Writing to a string never fails.
    let _ = writeln!(text, "\n{title}");
    for Record { name, ttl, r#type, data } in records {
        let _ = writeln!(text, "  {name} {ttl} {type} {data}", r#type = r#type);
    }
}

impl Explanation {
    /// The client, where it comes from, and why not from the client subnet that was asked with.
    fn client(&self) -> String {
        let ignored = self.subnet_ignored.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        format!("{} ({}{ignored})", self.client, self.client_from)
    }

    /// Whose state it is, and of when.
    fn moment(&self) -> String {
        let at = self.at.as_ref().map(|at| format!(", as it was at {at}")).unwrap_or_default();
        format!("{}, at log entry {}{at}", self.member, self.applied)
    }

    fn geo_table(&self) -> String {
        let used = &self.geo_table;
        match &self.geo_table_missing {
            Some(missing) => format!("{used}; the cluster goes by {missing}, which {} lacks", self.member),
            None => used.clone(),
        }
    }

    /// The response code and the reason, which names the code itself where nothing is answered.
    fn answer(&self) -> String {
        let (rcode, reason) = (&self.rcode, &self.reason);
        if reason.starts_with(rcode.as_str()) { reason.clone() } else { format!("{rcode}: {reason}") }
    }
}

impl Shown for Explanation {
    const KIND: &'static str = "Explanation";

    fn names(&self) -> Vec<String> {
        self.answers.iter().map(|record| record.data.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let pairs = [
            ("question", format!("{} {}", self.name, self.r#type)),
            ("answer", self.answer()),
            ("zone", self.zone.clone().unwrap_or_else(|| "none of ours".to_owned())),
            ("member", self.moment()),
            ("client", self.client()),
            ("location", self.location.clone().unwrap_or_else(|| "unknown".to_owned())),
            ("geo table", self.geo_table()),
            ("latency row", self.latency_row.clone().unwrap_or_else(|| "none".to_owned())),
            ("scope", self.scope.map_or_else(|| "not asked for".to_owned(), |scope| format!("/{scope}"))),
            ("draw", self.draw.to_string()),
        ];
        let mut text = table::pairs(style, &pairs);
        for profile in &self.profiles {
            text.push('\n');
            text.push_str(&profile.text(style));
        }
        section(&mut text, "answers", &self.answers);
        section(&mut text, "authority", &self.authority);
        section(&mut text, "additional", &self.additional);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rte_15_the_trace_names_everything_that_led_to_the_answer() {
        let endpoint = |name: &str, in_pool, reason: &str| wire::EndpointExplanation {
            name: name.into(),
            target: "192.0.2.1".into(),
            in_pool,
            reason: reason.into(),
            status: wire::Status::Online.into(),
            priority: 1,
            weight: 1,
            ..Default::default()
        };
        let profile = wire::ProfileExplanation {
            profile: "web".into(),
            revision: 12,
            routing: wire::Routing::Priority.into(),
            status: wire::Status::Online.into(),
            pool: "healthy".into(),
            endpoints: vec![endpoint("eu", true, "in: Online"), endpoint("us", false, "out: Disabled")],
            chosen: vec!["eu".into()],
            rule: "the lowest priority".into(),
            draw: 77,
            depth: 0,
        };
        let record = wire::AnswerRecord {
            name: "web.tm.example.com".into(),
            ttl: 5,
            r#type: "A".into(),
            data: "192.0.2.1".into(),
        };
        let explanation = Explanation::from(wire::Explanation {
            zone: "tm.example.com".into(),
            member: "m1".into(),
            applied: 34,
            client: "198.51.100.7".into(),
            client_from: "source".into(),
            subnet_ignored: "client subnet 10.2.3.0/24 ignored: the zone has --ecs off".into(),
            rcode: "NOERROR".into(),
            answers: vec![record],
            profiles: vec![profile],
            ..Default::default()
        });
        let text = explanation.text(&Style::default());
        for word in [
            "tm.example.com",
            "m1, at log entry 34",
            "198.51.100.7 (source; client subnet 10.2.3.0/24 ignored: the zone has --ecs off)",
            "web (revision 12)",
            "the lowest priority",
            "77",
            "us is out: Disabled",
            "web.tm.example.com 5 A 192.0.2.1",
        ] {
            assert!(text.contains(word), "'{word}' is missing in\n{text}");
        }
        assert!(text.lines().any(|line| line.trim_start().starts_with("→") && line.contains("eu")), "{text}");
    }
}
