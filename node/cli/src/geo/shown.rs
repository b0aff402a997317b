//! Places, tables and overrides as they are shown.

use comfy_table::Cell;
use serde::Serialize;
use waymark_core::model;
use waymark_proto::admin::v1 as wire;

use crate::output::{Shown, Style, table, time};

/// Most places in one that are named in a table; JSON has all.
const WITHIN_MAX: usize = 12;

#[derive(Debug, Serialize)]
struct Named {
    code: &'static str,
    name: &'static str,
}

impl Named {
    fn of(place: model::Place) -> Self {
        Self { code: place.code(), name: place.name() }
    }
}

/// A place, what it lies in and what lies in it.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    code: &'static str,
    name: &'static str,
    /// From the next larger place up to the world.
    within: Vec<Named>,
    /// The places of the next smaller kind, by their codes.
    contains: Vec<Named>,
}

impl Place {
    pub(super) fn of(place: model::Place) -> Self {
        let mut contains: Vec<Named> =
            model::Place::all().filter(|other| other.parent() == Some(place)).map(Named::of).collect();
        contains.sort_by_key(|named| named.code);
        let within = place.ancestors().skip(1).map(Named::of).collect();
        Self { code: place.code(), name: place.name(), within, contains }
    }
}

impl Shown for Place {
    const KIND: &'static str = "Place";

    fn names(&self) -> Vec<String> {
        vec![self.code.to_owned()]
    }

    fn text(&self, style: &Style) -> String {
        let within: Vec<String> =
            self.within.iter().map(|named| format!("{} ({})", named.code, named.name)).collect();
        let mut contains: Vec<&str> = self.contains.iter().take(WITHIN_MAX).map(|named| named.code).collect();
        let more = format!("and {} more", self.contains.len().saturating_sub(WITHIN_MAX));
        if self.contains.len() > WITHIN_MAX {
            contains.push(&more);
        }
        let or_nothing = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
        table::pairs(
            style,
            &[
                ("place", format!("{} ({})", self.code, self.name)),
                ("within", or_nothing(within.join(", "))),
                ("contains", or_nothing(contains.join(", "))),
            ],
        )
    }
}

/// Where an address is.
#[derive(Debug, Serialize)]
pub(super) struct Location {
    address: String,
    /// Null if nobody knows.
    place: Option<String>,
    name: Option<&'static str>,
    /// `override` or `table`; null if nobody knows.
    by: Option<&'static str>,
    /// The network of the override.
    network: Option<String>,
    /// The table's digest.
    table: String,
    member: String,
}

impl From<wire::LookUpAddressResponse> for Location {
    fn from(message: wire::LookUpAddressResponse) -> Self {
        let wire::LookUpAddressResponse { address, place, r#override, digest, member } = message;
        let place = Some(place).filter(|code| !code.is_empty());
        let network = Some(r#override).filter(|network| !network.is_empty());
        let name = place.as_deref().and_then(|code| model::Place::parse(code).ok()).map(model::Place::name);
        let by = place.as_ref().map(|_| if network.is_some() { "override" } else { "table" });
        Self { address, place, name, by, network, table: digest, member }
    }
}

impl Shown for Location {
    const KIND: &'static str = "Location";

    fn names(&self) -> Vec<String> {
        self.place.iter().cloned().collect()
    }

    fn text(&self, style: &Style) -> String {
        let place =
            self.place.as_ref().map(|code| format!("{code} ({})", self.name.unwrap_or("unknown here")));
        let by = match &self.network {
            Some(network) => format!("the operator's override of {network}"),
            None => format!("the geo table {}", self.table),
        };
        table::pairs(
            style,
            &[
                ("address", self.address.clone()),
                ("place", place.unwrap_or_else(|| "unknown: only WORLD stands for it".to_owned())),
                ("by", by),
                ("member", self.member.clone()),
            ],
        )
    }
}

/// The tables of each member.
#[derive(Debug, Serialize)]
pub(super) struct GeoTableList {
    /// The table that the cluster goes by.
    digest: String,
    revision: u64,
    members: Vec<Member>,
}

#[derive(Debug, Serialize)]
struct Member {
    member: String,
    /// The table that it goes by; null if it does not answer.
    digest: Option<String>,
    tables: Vec<GeoTable>,
}

#[derive(Debug, Serialize)]
struct GeoTable {
    digest: String,
    source: String,
    built: String,
    newest: bool,
}

impl From<wire::ListGeoTablesResponse> for GeoTableList {
    fn from(message: wire::ListGeoTablesResponse) -> Self {
        let wire::ListGeoTablesResponse { digest, revision, members } = message;
        Self { digest, revision, members: members.into_iter().map(Into::into).collect() }
    }
}

impl From<wire::MemberGeoTables> for Member {
    fn from(message: wire::MemberGeoTables) -> Self {
        let wire::MemberGeoTables { member, digest, tables } = message;
        let digest = Some(digest).filter(|digest| !digest.is_empty());
        Self { member, digest, tables: tables.into_iter().map(Into::into).collect() }
    }
}

impl From<wire::GeoTable> for GeoTable {
    fn from(message: wire::GeoTable) -> Self {
        let wire::GeoTable { digest, source, built_s, newest } = message;
        Self { digest, source, built: time::rfc_3339(built_s.saturating_mul(1_000)), newest }
    }
}

impl Shown for GeoTableList {
    const KIND: &'static str = "GeoTableList";

    fn names(&self) -> Vec<String> {
        vec![self.digest.clone()]
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["MEMBER", "DIGEST", "STATE", "BUILT", "SOURCE"]);
        for Member { member, digest: used, tables } in &self.members {
            if used.is_none() {
                shown.add_row([member, "-", "no answer", "-", "-"].map(Cell::new));
            }
            for GeoTable { digest, source, built, newest } in tables {
                let state = match (used.as_ref() == Some(digest), newest) {
                    (true, _) => "in use",
                    (false, true) => "newest",
                    (false, false) => "kept",
                };
                shown.add_row([member, digest, state, built, source].map(Cell::new));
            }
        }
        let mut text = table::finish(shown);
        text.push_str(&format!("\nthe cluster goes by {}\n", self.digest));
        let lacks = |member: &&Member| {
            member.digest.is_some() && member.tables.iter().all(|table| table.digest != self.digest)
        };
        let lacking: Vec<&str> =
            self.members.iter().filter(lacks).map(|member| member.member.as_str()).collect();
        if !lacking.is_empty() {
            text.push_str(&format!("{} lack it and go by another\n", lacking.join(", ")));
        }
        text
    }
}

#[derive(Debug, Serialize)]
struct GeoOverride {
    network: String,
    place: String,
    revision: u64,
}

/// The overrides.
#[derive(Debug, Serialize)]
pub(super) struct GeoOverrideList {
    overrides: Vec<GeoOverride>,
}

impl GeoOverrideList {
    pub(super) fn of(overrides: Vec<wire::GeoOverride>) -> Self {
        let shown = |wire::GeoOverride { network, place, revision }| GeoOverride { network, place, revision };
        Self { overrides: overrides.into_iter().map(shown).collect() }
    }
}

impl Shown for GeoOverrideList {
    const KIND: &'static str = "GeoOverrideList";

    fn names(&self) -> Vec<String> {
        self.overrides.iter().map(|known| known.network.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["NETWORK", "PLACE", "REVISION"]);
        for GeoOverride { network, place, revision } in &self.overrides {
            shown.add_row([Cell::new(network), Cell::new(place), Cell::new(revision)]);
        }
        table::finish(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_15_a_place_is_shown_with_what_is_around_and_in_it() {
        let shown = |code| Place::of(model::Place::parse(code).unwrap()).text(&Style::default());
        let germany = shown("de");
        assert!(germany.contains("DE (Germany)") && germany.contains("GEO-EU") && germany.contains("WORLD"));
        assert!(germany.lines().any(|line| line == "contains  nothing"), "{germany}");
        assert!(shown("WORLD").contains("within    nothing"));
        assert!(shown("US").contains("US-AL") && shown("US").contains("more"), "{}", shown("US"));
    }

    #[test]
    fn rte_14_a_member_that_goes_by_another_table_is_named() {
        let table =
            |digest: &str, newest| wire::GeoTable { digest: digest.into(), newest, ..Default::default() };
        let member = |name: &str, used: &str, tables: Vec<wire::GeoTable>| wire::MemberGeoTables {
            member: name.into(),
            digest: used.into(),
            tables,
        };
        let members = vec![
            member("m1", "bb", vec![table("aa", false), table("bb", true)]),
            member("m2", "aa", vec![table("aa", false)]),
            member("m3", "", Vec::new()),
        ];
        let message = wire::ListGeoTablesResponse { digest: "bb".into(), revision: 7, members };
        let text = GeoTableList::from(message).text(&Style::default());
        let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[1][..3], ["m1", "aa", "kept"], "{text}");
        assert_eq!(words[2][..4], ["m1", "bb", "in", "use"]);
        assert_eq!(words[4][..4], ["m3", "-", "no", "answer"]);
        assert!(text.ends_with("\nthe cluster goes by bb\nm2 lack it and go by another\n"), "{text}");
    }
}
