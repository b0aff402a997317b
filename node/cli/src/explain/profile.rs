//! How one profile chose, as it is shown.

use comfy_table::Cell;
use serde::Serialize;
use waymark_proto::admin::v1 as wire;

use crate::output::overridden::Override;
use crate::output::verdicts::{self, Region};
use crate::output::{Style, table, time, words};
use crate::status::HELD;

#[derive(Debug, Serialize)]
pub(super) struct Profile {
    profile: String,
    revision: u64,
    routing: String,
    status: String,
    pool: String,
    /// How many nested levels below the profile that answers for the name.
    depth: u32,
    /// In the order in which they are answered.
    chosen: Vec<String>,
    rule: String,
    draw: u64,
    endpoints: Vec<Endpoint>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Endpoint {
    name: String,
    target: String,
    in_pool: bool,
    reason: String,
    status: String,
    priority: u32,
    weight: u32,
    /// Empty unless the routing looks at places, subnets or the region; of long lists the first ten.
    geo: Vec<String>,
    subnets: Vec<String>,
    location: Option<String>,
    probed: bool,
    /// What the name of a flattened profile's endpoint was resolved to.
    addresses: Vec<String>,
    /// Since when; null unless there are any.
    addresses_since: Option<String>,
    regions: Vec<Region>,
    /// What an operator put over what probes find; null if nobody did.
    #[serde(rename = "override")]
    overridden: Option<Override>,
    /// Since when the removal brake holds it in the pool; null if it does not.
    held_since: Option<String>,
}

impl From<wire::ProfileExplanation> for Profile {
    fn from(message: wire::ProfileExplanation) -> Self {
        let wire::ProfileExplanation {
            profile,
            revision,
            routing,
            status,
            pool,
            endpoints,
            chosen,
            rule,
            draw,
            depth,
        } = message;
        Self {
            profile,
            revision,
            routing: words::routing(routing),
            status: words::profile_status(status),
            pool,
            depth,
            chosen,
            rule,
            draw,
            endpoints: endpoints.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<wire::EndpointExplanation> for Endpoint {
    fn from(message: wire::EndpointExplanation) -> Self {
        let wire::EndpointExplanation {
            name,
            target,
            in_pool,
            reason,
            status,
            regions,
            priority,
            weight,
            geo,
            subnets,
            location,
            unprobed,
            addresses,
            addresses_since_ms,
            overridden,
            held,
        } = message;
        Self {
            name,
            target,
            in_pool,
            reason,
            status: words::endpoint_status(status),
            priority,
            weight,
            geo,
            subnets,
            location: Some(location).filter(|location| !location.is_empty()),
            probed: !unprobed,
            addresses,
            addresses_since: addresses_since_ms.map(time::rfc_3339),
            regions: regions.into_iter().map(Into::into).collect(),
            overridden: overridden.map(Into::into),
            held_since: held.map(|held| time::rfc_3339(held.since_ms)),
        }
    }
}

impl Profile {
    pub(super) fn text(&self, style: &Style) -> String {
        let pairs = [
            ("profile", self.heading()),
            ("routing", self.routing.clone()),
            ("status", self.status.clone()),
            ("pool", self.pool.clone()),
            ("rule", self.rule.clone()),
            ("draw", self.draw.to_string()),
            ("chosen", if self.chosen.is_empty() { "none".to_owned() } else { self.chosen.join(", ") }),
        ];
        let reasons: String = self
            .endpoints
            .iter()
            .map(|endpoint| {
                let (overridden, flattened) = (endpoint.overridden(), endpoint.flattened());
                let held = endpoint.held();
                format!("{} is {}\n{overridden}{held}{flattened}", endpoint.name, endpoint.reason)
            })
            .collect();
        let table = self.endpoints_table(style);
        format!("{}\n{table}\n{reasons}", table::pairs(style, &pairs))
    }

    fn heading(&self) -> String {
        let level = if self.depth == 0 { String::new() } else { format!(", nested {} deep", self.depth) };
        format!("{} (revision {}{level})", self.profile, self.revision)
    }

    /// Beside the status, only what the routing looks at is shown.
    fn endpoints_table(&self, style: &Style) -> String {
        let deciders = self.deciders();
        let mut headings = vec!["", "ENDPOINT", "TARGET"];
        headings.extend(deciders.iter().map(|(heading, _)| *heading));
        headings.extend(["STATUS", "REGIONS"]);
        let mut shown = table::table(style, &headings);
        for endpoint in &self.endpoints {
            let is_chosen = self.chosen.contains(&endpoint.name);
            let mut row = vec![
                Cell::new(if is_chosen { "→" } else { "" }),
                Cell::new(&endpoint.name),
                Cell::new(&endpoint.target),
            ];
            row.extend(deciders.iter().map(|(_, text)| Cell::new(text(endpoint))));
            row.push(table::judged(&endpoint.status, style));
            row.push(Cell::new(verdicts::line(&endpoint.regions, endpoint.probed)));
            shown.add_row(row);
        }
        table::finish(shown)
    }

    /// The columns for what the routing decides by.
    fn deciders(&self) -> Vec<Decider> {
        let subnets: Decider = ("SUBNETS", |endpoint| table::few(&endpoint.subnets));
        // Where subnets are exceptions, their column is there only if somebody has any.
        let has_exceptions = self.endpoints.iter().any(|endpoint| !endpoint.subnets.is_empty());
        let exceptions = has_exceptions.then_some(subnets);
        let location: Decider = ("LOCATION", |endpoint| endpoint.location.clone().unwrap_or_default());
        let geo: Decider = ("GEO", |endpoint| table::few(&endpoint.geo));
        match self.routing.as_str() {
            "priority" => vec![("PRIORITY", |endpoint| endpoint.priority.to_string())],
            "weighted" => vec![("WEIGHT", |endpoint| endpoint.weight.to_string())],
            "performance" => [location].into_iter().chain(exceptions).collect(),
            "geographic" => [geo].into_iter().chain(exceptions).collect(),
            "subnet" => vec![subnets],
            _ => Vec::new(),
        }
    }
}

impl Endpoint {
    /// What an operator put over what probes find, in one line, if anybody did.
    fn overridden(&self) -> String {
        self.overridden.iter().map(|over| format!("{} is {}\n", self.name, over.line())).collect()
    }

    /// That it is held in the pool, in one line, if it is (FAIL-2).
    fn held(&self) -> String {
        self.held_since.iter().map(|since| format!("{} is {HELD} since {since}\n", self.name)).collect()
    }

    /// What its name is answered by, in one line, if it is flattened and that is known.
    fn flattened(&self) -> String {
        let Self { name, target, addresses, .. } = self;
        let line =
            |since| format!("{name} is flattened: {target} is {} since {since}\n", addresses.join(", "));
        self.addresses_since.iter().map(line).collect()
    }
}

/// A column: its heading, and what it says of an endpoint.
type Decider = (&'static str, fn(&Endpoint) -> String);

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(routing: wire::Routing) -> String {
        let endpoint = wire::EndpointExplanation {
            name: "eu".into(),
            target: "192.0.2.1".into(),
            reason: "not asked: DE is not where the client is".into(),
            priority: 7,
            weight: 77,
            geo: ["DE", "FR", "IT", "ES", "PL"].map(str::to_owned).to_vec(),
            subnets: vec!["10.0.0.0/8".into()],
            location: "frankfurt".into(),
            unprobed: true,
            held: Some(wire::Held { since_ms: 1_700_000_060_000 }),
            ..Default::default()
        };
        let profile = wire::ProfileExplanation {
            routing: routing.into(),
            endpoints: vec![endpoint],
            ..Default::default()
        };
        Profile::from(profile).text(&Style::default())
    }

    #[test]
    fn rte_15_each_method_shows_what_it_decides_by() {
        for (routing, columns) in [
            (wire::Routing::Priority, "ENDPOINT TARGET PRIORITY STATUS REGIONS"),
            (wire::Routing::Weighted, "ENDPOINT TARGET WEIGHT STATUS REGIONS"),
            (wire::Routing::Performance, "ENDPOINT TARGET LOCATION SUBNETS STATUS REGIONS"),
            (wire::Routing::Geographic, "ENDPOINT TARGET GEO SUBNETS STATUS REGIONS"),
            (wire::Routing::Multivalue, "ENDPOINT TARGET STATUS REGIONS"),
            (wire::Routing::Subnet, "ENDPOINT TARGET SUBNETS STATUS REGIONS"),
        ] {
            let text = shown(routing);
            let headings = text.lines().find(|line| line.contains("ENDPOINT")).expect("a table");
            assert_eq!(headings.split_whitespace().collect::<Vec<_>>().join(" "), columns, "{routing:?}");
            assert!(text.contains("not probed"), "PRB-11: {text}");
        }
        let text = shown(wire::Routing::Geographic);
        assert!(text.contains("DE, FR, IT and more") && text.contains("10.0.0.0/8"), "{text}");
        assert!(text.contains("eu is not asked: DE is not where the client is"), "{text}");
        assert!(text.contains("eu is held by brake since 2023-11-14T22:14:20Z"), "FAIL-2: {text}");
    }
}
