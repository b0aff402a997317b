//! Which version this is, and what the licences of others ask to be shown.

use serde::Serialize;

use crate::output::{Shown, Style};

/// What comes from others and asks to be named: the table of countries that members carry along.
const NOTICE: &str = include_str!("../../data/NOTICE");

/// The version, as it is shown.
#[derive(Debug, Serialize)]
pub(crate) struct Version {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    licenses: Option<&'static str>,
}

impl Version {
    /// The version, and what the licences of others ask to be shown, if that is wanted.
    pub(crate) fn new(licenses: bool) -> Self {
        Self { version: env!("CARGO_PKG_VERSION"), licenses: licenses.then_some(NOTICE) }
    }
}

impl Shown for Version {
    const KIND: &'static str = "Version";

    fn names(&self) -> Vec<String> {
        vec![self.version.to_owned()]
    }

    fn text(&self, _: &Style) -> String {
        let version = format!("waymark {}\n", self.version);
        match self.licenses {
            Some(notice) => format!("{version}Waymark itself is under the Apache License 2.0.\n\n{notice}"),
            None => version,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attribution_is_shown_when_it_is_wanted() {
        let with = Version::new(true).text(&Style::default());
        assert!(with.starts_with(&Version::new(false).text(&Style::default())));
        for wanted in
            ["IP Geolocation by DB-IP", "https://db-ip.com", "Creative Commons Attribution 4.0", "Apache"]
        {
            assert!(with.contains(wanted), "{wanted} is missing in {with}");
        }
    }
}
