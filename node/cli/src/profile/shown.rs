//! Profiles as they are shown: `spec` as it was given, `effective` with the defaults filled in.

use comfy_table::Cell;
use serde::Serialize;
use waymark_core::model::{Monitor, Routing, profile_limits};
use waymark_proto::admin::v1 as wire;

use crate::endpoint::Item;
use crate::failure::{Exit, Failure};
use crate::flags::duration;
use crate::monitor::{self, Effective, Given};
use crate::output::{Shown, Style, table, words};

#[derive(Debug, Serialize)]
pub(super) struct Profile {
    metadata: Metadata,
    spec: Spec,
    effective: EffectiveSpec,
}

#[derive(Debug, Serialize)]
struct Metadata {
    name: String,
    revision: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    zone: String,
    relative_name: String,
    routing: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_return: Option<u32>,
    flatten: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_removal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removal_window: Option<String>,
    enabled: bool,
    monitor: Given,
    endpoints: Vec<Item>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct EffectiveSpec {
    ttl: String,
    max_return: u32,
    max_removal: String,
    removal_window: String,
    monitor: Effective,
}

#[derive(Debug, Serialize)]
pub(super) struct ProfileList {
    pub(super) profiles: Vec<Profile>,
}

impl TryFrom<wire::Profile> for Profile {
    type Error = Failure;

    fn try_from(message: wire::Profile) -> Result<Self, Failure> {
        let wire::Profile {
            name,
            zone,
            relative_name,
            routing,
            ttl_seconds,
            enabled,
            monitor,
            endpoints,
            revision,
            max_return,
            flatten,
            max_removal_percent,
            removal_window_ms,
        } = message;
        let given = monitor.unwrap_or_default();
        let core = Monitor::try_from(given.clone()).map_err(|malformed| {
            Failure::new(Exit::Refused, format!("the member sent what this CLI can't read: {malformed}"))
        })?;
        let seconds = |seconds| format!("{seconds}s");
        let share = |percent: u32| format!("{percent}%");
        let effective = EffectiveSpec {
            ttl: seconds(ttl_seconds.unwrap_or(profile_limits::TTL_DEFAULT)),
            max_return: max_return.unwrap_or(profile_limits::RETURN_DEFAULT),
            max_removal: max_removal_percent.map_or_else(|| "off".to_owned(), share),
            removal_window: duration::text(
                removal_window_ms.unwrap_or(profile_limits::REMOVAL_WINDOW_MS_DEFAULT),
            ),
            monitor: Effective::from(&core),
        };
        let spec = Spec {
            zone,
            relative_name,
            routing: words::routing(routing),
            ttl: ttl_seconds.map(seconds),
            max_return,
            flatten: flatten.unwrap_or(false),
            max_removal: max_removal_percent.map(share),
            removal_window: removal_window_ms.map(duration::text),
            enabled: enabled.unwrap_or(true),
            monitor: given.into(),
            endpoints: endpoints.into_iter().map(Into::into).collect(),
        };
        Ok(Self { metadata: Metadata { name, revision }, spec, effective })
    }
}

impl Profile {
    fn full_name(&self) -> String {
        match self.spec.relative_name.as_str() {
            "@" => self.spec.zone.clone(),
            relative_name => format!("{relative_name}.{}", self.spec.zone),
        }
    }

    fn switched(&self) -> &'static str {
        if self.spec.enabled { "enabled" } else { "disabled" }
    }
}

impl Shown for Profile {
    const KIND: &'static str = "Profile";

    fn names(&self) -> Vec<String> {
        vec![self.metadata.name.clone()]
    }

    fn text(&self, style: &Style) -> String {
        let default = if self.spec.ttl.is_none() { " (default)" } else { "" };
        let mut pairs = vec![
            ("profile", self.metadata.name.clone()),
            ("answers for", self.full_name()),
            ("zone", self.spec.zone.clone()),
            ("revision", self.metadata.revision.to_string()),
            ("routing", self.spec.routing.clone()),
            ("ttl", format!("{}{default}", self.effective.ttl)),
            ("switched", self.switched().to_owned()),
        ];
        if self.spec.flatten {
            pairs.push(("flatten", "names are answered by their addresses".to_owned()));
        }
        if self.spec.routing == Routing::Multivalue.as_str() || self.spec.max_return.is_some() {
            let default = if self.spec.max_return.is_none() { " (default)" } else { "" };
            pairs.push(("max return", format!("{}{default}", self.effective.max_return)));
        }
        if self.spec.max_removal.is_some() || self.spec.removal_window.is_some() {
            let default = if self.spec.removal_window.is_none() { " (default)" } else { "" };
            let window = &self.effective.removal_window;
            pairs.push(("max removal", format!("{} within {window}{default}", self.effective.max_removal)));
        }
        pairs.extend(monitor::pairs(&self.spec.monitor, &self.effective.monitor));
        let endpoints = match self.spec.endpoints.as_slice() {
            [] => format!("no endpoints yet; 'waymark endpoint add {} …' adds one\n", self.metadata.name),
            endpoints => crate::endpoint::items_table(endpoints, style),
        };
        format!("{}\n{endpoints}", table::pairs(style, &pairs))
    }
}

impl Shown for ProfileList {
    const KIND: &'static str = "ProfileList";

    fn names(&self) -> Vec<String> {
        self.profiles.iter().map(|profile| profile.metadata.name.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let headings = ["PROFILE", "ANSWERS FOR", "ROUTING", "TTL", "SWITCHED", "ENDPOINTS", "REVISION"];
        let mut shown = table::table(style, &headings);
        for profile in &self.profiles {
            shown.add_row([
                Cell::new(&profile.metadata.name),
                Cell::new(profile.full_name()),
                Cell::new(&profile.spec.routing),
                Cell::new(&profile.effective.ttl),
                Cell::new(profile.switched()),
                Cell::new(profile.spec.endpoints.len()),
                Cell::new(profile.metadata.revision),
            ]);
        }
        table::finish(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Format, render};

    #[test]
    fn cli_7_a_profile_has_the_shape_of_its_file() {
        let message = wire::Profile {
            name: "web".into(),
            zone: "tm.example.com".into(),
            relative_name: "web".into(),
            routing: wire::Routing::Priority.into(),
            ttl_seconds: Some(5),
            endpoints: vec![wire::Endpoint {
                name: "eu".into(),
                target: "192.0.2.1".into(),
                ..Default::default()
            }],
            revision: 7,
            ..Default::default()
        };
        let profile = Profile::try_from(message).unwrap();
        let json: serde_json::Value =
            serde_json::from_str(&render(&profile, Format::Json, &Style::default())).unwrap();
        assert_eq!(json["metadata"], serde_json::json!({ "name": "web", "revision": 7 }));
        assert_eq!((&json["spec"]["relativeName"], &json["spec"]["ttl"]), (&"web".into(), &"5s".into()));
        assert_eq!(json["spec"]["endpoints"][0]["target"], "192.0.2.1");
        assert_eq!(json["effective"]["monitor"]["interval"], "30s");
        let text = profile.text(&Style::default());
        assert!(text.contains("web.tm.example.com") && text.contains("30s (default)"), "{text}");
    }
}
