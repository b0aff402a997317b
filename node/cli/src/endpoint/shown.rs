//! Endpoints as they are shown.

use comfy_table::Cell;
use serde::Serialize;
use waymark_proto::admin::v1 as wire;

use crate::monitor::Header;
use crate::output::overridden::Override;
use crate::output::{Shown, Style, table, verdicts};
use crate::status::{Standing, missing};

/// An endpoint by itself.
#[derive(Debug, Serialize)]
pub(super) struct Endpoint {
    metadata: Metadata,
    spec: Spec,
    effective: Effective,
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

/// Its target and its region, its own or its service's.
#[derive(Debug, Serialize)]
struct Effective {
    /// None if it is nested.
    target: Option<String>,
    location: Option<String>,
}

/// An endpoint among others of its profile.
#[derive(Debug, Serialize)]
pub(crate) struct Item {
    pub(super) name: String,
    #[serde(flatten)]
    spec: Spec,
    revision: u64,
    /// What an operator put over what probes find, where that was asked for.
    #[serde(rename = "override", skip_serializing_if = "Option::is_none")]
    pub(super) overridden: Option<Override>,
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
        Self { name, spec, revision, overridden: None }
    }
}

impl Endpoint {
    pub(super) fn new(
        profile: String,
        message: wire::Endpoint,
        service: Option<wire::Service>,
        standing: Option<(Standing, Vec<String>)>,
    ) -> Self {
        let Item { name, spec, revision, overridden: _ } = message.into();
        let (status, incomplete) = standing.unzip();
        let incomplete = incomplete.unwrap_or_default();
        let effective = match service {
            Some(service) => Effective { target: Some(service.target), location: service.location },
            None => Effective {
                target: Some(spec.target.clone()).filter(|target| !target.is_empty()),
                location: spec.location.clone(),
            },
        };
        Self { metadata: Metadata { name, profile, revision }, spec, effective, status, incomplete }
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

    /// How many of its child's endpoints must be available, as in `2, IPv4 1`.
    fn minima(&self) -> String {
        let minima = [("", self.min_child), ("IPv4 ", self.min_child_ipv4), ("IPv6 ", self.min_child_ipv6)];
        let given = minima.into_iter().filter_map(|(of, min)| Some(format!("{of}{}", min?)));
        given.collect::<Vec<_>>().join(", ")
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

/// A column that is shown if anybody has something in it: its heading, whether an endpoint has, and what.
type Column = (&'static str, fn(&Spec) -> bool, fn(&Spec) -> String);

const RARE: [Column; 3] = [
    ("GEO", |spec| !spec.geo.is_empty(), |spec| table::few(&spec.geo)),
    ("SUBNETS", |spec| !spec.subnets.is_empty(), |spec| table::few(&spec.subnets)),
    (
        "MIN CHILD",
        |spec| spec.min_child.or(spec.min_child_ipv4).or(spec.min_child_ipv6).is_some(),
        Spec::minima,
    ),
];

/// The endpoints of one profile as a table.
pub(crate) fn items_table(items: &[Item], style: &Style) -> String {
    let is_had = |(_, has, _): &&Column| items.iter().any(|item| has(&item.spec));
    let rare: Vec<&Column> = RARE.iter().filter(is_had).collect();
    let mut headings = vec!["ENDPOINT", "TARGET", "PRIORITY", "WEIGHT", "LOCATION"];
    headings.extend(rare.iter().map(|(heading, ..)| *heading));
    headings.push("SWITCHED");
    let has_override = items.iter().any(|item| item.overridden.is_some());
    headings.extend(has_override.then_some("OVERRIDE"));
    let mut shown = table::table(style, &headings);
    for Item { name, spec, revision: _, overridden } in items {
        let mut row = vec![
            Cell::new(name),
            Cell::new(spec.target()),
            Cell::new(or_dash(spec.priority)),
            Cell::new(spec.weight_text()),
            Cell::new(or_dash(spec.location.as_ref())),
        ];
        row.extend(rare.iter().map(|(_, has, text)| Cell::new(or_dash(has(spec).then(|| text(spec))))));
        row.push(Cell::new(spec.switched()));
        row.extend(has_override.then(|| Cell::new(or_dash(overridden.as_ref().map(Override::line)))));
        shown.add_row(row);
    }
    table::finish(shown)
}

impl Shown for Endpoint {
    const KIND: &'static str = "Endpoint";

    fn names(&self) -> Vec<String> {
        vec![self.metadata.name.clone()]
    }

    fn text(&self, style: &Style) -> String {
        let Self { metadata: Metadata { name, profile, revision }, spec, effective, status, incomplete } =
            self;
        let (target, location) = match spec.service.as_str() {
            "" => (spec.target(), or_dash(spec.location.as_ref())),
            _ => {
                let whose = |value: &Option<String>| or_dash(value.as_ref());
                let (target, location) = (whose(&effective.target), whose(&effective.location));
                (format!("{}, which is {target}", spec.target()), format!("{location} (the service's)"))
            }
        };
        let mut pairs = vec![
            ("endpoint", format!("{profile}/{name}")),
            ("target", target),
            ("revision", revision.to_string()),
            ("priority", or_dash(spec.priority)),
            ("weight", spec.weight_text()),
            ("location", location),
            ("switched", spec.switched().to_owned()),
        ];
        pairs.extend(spec.rules());
        pairs.extend(spec.headers.iter().map(|header| ("header", header.line())));
        pairs.extend(status.iter().map(|standing| ("status", standing.line())));
        let overridden = status.iter().filter_map(|standing| standing.overridden.as_ref());
        pairs.extend(overridden.map(|overridden| ("override", overridden.line())));
        let unprobed = status.iter().filter(|standing| !standing.probed);
        pairs.extend(unprobed.map(|_| ("regions", verdicts::NOT_PROBED.to_owned())));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn item(message: wire::Endpoint) -> Item {
        Item::from(message)
    }

    #[test]
    fn what_somebody_has_is_a_column() {
        let plain = wire::Endpoint { name: "a".into(), target: "192.0.2.1".into(), ..Default::default() };
        let text = items_table(&[item(plain.clone())], &Style::default());
        assert!(!text.contains("GEO") && !text.contains("SUBNETS") && !text.contains("MIN CHILD"), "{text}");
        let rich = wire::Endpoint {
            name: "b".into(),
            nested: "web".into(),
            geo: ["DE", "FR", "IT", "ES"].map(str::to_owned).to_vec(),
            subnets: vec!["10.0.0.0/8".into()],
            endpoints_min: Some(2),
            endpoints_min_v6: Some(0),
            ..Default::default()
        };
        let text = items_table(&[item(plain), item(rich)], &Style::default());
        for word in ["GEO", "SUBNETS", "MIN CHILD", "DE, FR, IT and more", "10.0.0.0/8", "2, IPv6 0"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn obj_6_a_service_endpoint_shows_its_services_target_and_location() {
        let endpoint = wire::Endpoint { name: "a".into(), service: "shop".into(), ..Default::default() };
        let service = wire::Service {
            name: "shop".into(),
            target: "192.0.2.1".into(),
            location: Some("eu".into()),
            ..Default::default()
        };
        let shown = Endpoint::new("web".into(), endpoint, Some(service), None);
        let text = shown.text(&Style::default());
        assert!(text.contains("service 'shop', which is 192.0.2.1"), "{text}");
        assert!(text.contains("eu (the service's)"), "{text}");
        let json = serde_json::to_value(&shown).unwrap();
        assert_eq!(json["effective"], serde_json::json!({ "target": "192.0.2.1", "location": "eu" }));
    }
}
