//! Endpoints as they are shown.

use comfy_table::Cell;
use serde::Serialize;
use waymark_proto::admin::v1 as wire;

use crate::monitor::Header;
use crate::output::{Shown, Style, table, verdicts};
use crate::status::{Standing, missing};

/// An endpoint by itself.
#[derive(Debug, Serialize)]
pub(super) struct Endpoint {
    metadata: Metadata,
    spec: Spec,
    /// None if it was removed meanwhile.
    status: Option<Standing>,
    /// Members that did not tell all that their agents found last.
    incomplete: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Metadata {
    name: String,
    profile: String,
    revision: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(skip_serializing_if = "String::is_empty")]
    target: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    nested: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    service: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_child: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_child_ipv4: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_child_ipv6: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    geo: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subnets: Vec<String>,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    always_serve: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headers: Vec<Header>,
}

/// An endpoint among others of its profile.
#[derive(Debug, Serialize)]
pub(crate) struct Item {
    name: String,
    #[serde(flatten)]
    spec: Spec,
    revision: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct EndpointList {
    pub(super) profile: String,
    pub(super) endpoints: Vec<Item>,
}

impl From<wire::Endpoint> for Item {
    fn from(message: wire::Endpoint) -> Self {
        let wire::Endpoint {
            name,
            target,
            enabled,
            priority,
            weight,
            location,
            always_serve,
            headers,
            revision,
            check_revision: _,
            nested,
            service,
            endpoints_min,
            endpoints_min_v4,
            endpoints_min_v6,
            geo,
            subnets,
        } = message;
        let spec = Spec {
            target,
            nested,
            service,
            min_child: endpoints_min,
            min_child_ipv4: endpoints_min_v4,
            min_child_ipv6: endpoints_min_v6,
            geo,
            subnets,
            enabled: enabled.unwrap_or(true),
            priority,
            weight,
            location,
            always_serve: always_serve.unwrap_or(false),
            headers: headers.into_iter().map(Into::into).collect(),
        };
        Self { name, spec, revision }
    }
}

impl Endpoint {
    pub(super) fn new(
        profile: String,
        message: wire::Endpoint,
        standing: Option<(Standing, Vec<String>)>,
    ) -> Self {
        let Item { name, spec, revision } = message.into();
        let (status, incomplete) = standing.unzip();
        let incomplete = incomplete.unwrap_or_default();
        Self { metadata: Metadata { name, profile, revision }, spec, status, incomplete }
    }
}

impl Spec {
    /// The target itself, or what stands in its place.
    fn target(&self) -> String {
        match (self.nested.as_str(), self.service.as_str()) {
            ("", "") => self.target.clone(),
            ("", service) => format!("service '{service}'"),
            (nested, _) => format!("profile '{nested}'"),
        }
    }

    /// Whom it is for and what its child must have, if anything is said of it.
    fn rules(&self) -> impl Iterator<Item = (&'static str, String)> {
        let minima = [
            ("min child", self.min_child),
            ("min child ipv4", self.min_child_ipv4),
            ("min child ipv6", self.min_child_ipv6),
        ];
        let minima = minima.into_iter().filter_map(|(name, min)| Some((name, min?.to_string())));
        let mapped = [("geo", &self.geo), ("subnets", &self.subnets)];
        let mapped = mapped.into_iter().filter(|(_, values)| !values.is_empty());
        minima.chain(mapped.map(|(name, values)| (name, values.join(", "))))
    }

    fn weight_text(&self) -> String {
        self.weight.map_or_else(|| "1 (default)".to_owned(), |weight| weight.to_string())
    }

    /// What is not as usual: `disabled`, `always served`.
    fn switched(&self) -> &'static str {
        match (self.enabled, self.always_serve) {
            (false, _) => "disabled",
            (true, true) => "enabled, always served",
            (true, false) => "enabled",
        }
    }
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

/// The endpoints of one profile as a table.
pub(crate) fn items_table(items: &[Item], style: &Style) -> String {
    let mut shown =
        table::table(style, &["ENDPOINT", "TARGET", "PRIORITY", "WEIGHT", "LOCATION", "SWITCHED"]);
    for Item { name, spec, revision: _ } in items {
        shown.add_row([
            Cell::new(name),
            Cell::new(spec.target()),
            Cell::new(or_dash(spec.priority)),
            Cell::new(spec.weight_text()),
            Cell::new(or_dash(spec.location.as_ref())),
            Cell::new(spec.switched()),
        ]);
    }
    table::finish(shown)
}

impl Shown for Endpoint {
    const KIND: &'static str = "Endpoint";

    fn names(&self) -> Vec<String> {
        vec![self.metadata.name.clone()]
    }

    fn text(&self, style: &Style) -> String {
        let Self { metadata: Metadata { name, profile, revision }, spec, status, incomplete } = self;
        let mut pairs = vec![
            ("endpoint", format!("{profile}/{name}")),
            ("target", spec.target()),
            ("revision", revision.to_string()),
            ("priority", or_dash(spec.priority)),
            ("weight", spec.weight_text()),
            ("location", or_dash(spec.location.as_ref())),
            ("switched", spec.switched().to_owned()),
        ];
        pairs.extend(spec.rules());
        pairs.extend(spec.headers.iter().map(|header| ("header", header.line())));
        pairs.extend(status.iter().map(|standing| ("status", standing.line())));
        let told = status.iter().flat_map(|standing| verdicts::lines(&standing.regions));
        pairs.extend(told.map(|(region, agent)| ("region", format!("{region}: {agent}"))));
        pairs.extend(missing(incomplete).map(|missing| ("missing", missing)));
        table::pairs(style, &pairs)
    }
}

impl Shown for EndpointList {
    const KIND: &'static str = "EndpointList";

    fn names(&self) -> Vec<String> {
        self.endpoints.iter().map(|endpoint| endpoint.name.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        items_table(&self.endpoints, style)
    }
}
