//! What a database's record says of where its addresses are.

use serde::Deserialize;
use waymark_core::model::Place;

/// A record, of either schema. Whatever else is in it is left unread.
#[derive(Debug, Deserialize)]
pub(super) struct Record<'a> {
    /// The nested schema, as MaxMind has it.
    #[serde(borrow)]
    country: Option<Coded<'a>>,
    /// The nested schema: states, the largest first.
    #[serde(borrow)]
    subdivisions: Option<Vec<Coded<'a>>>,
    /// The flat schema.
    country_code: Option<&'a str>,
    /// The flat schema.
    state: Option<&'a str>,
}

/// A part of the nested schema.
#[derive(Debug, Deserialize)]
struct Coded<'a> {
    iso_code: Option<&'a str>,
}

/// Subdivisions that the hierarchy has under a code of its own: their country, their code in ISO 3166-2, and ours.
const RENAMED: [(&str, &str, &str); 4] =
    [("UA", "43", "UA-CR"), ("BQ", "SA", "XS"), ("BQ", "SE", "XE"), ("SJ", "22", "XJ")];

impl<'a> Record<'a> {
    /// The code of the country, if the record names one.
    pub(super) fn country(&self) -> Option<&'a str> {
        self.country.as_ref().and_then(|country| country.iso_code).or(self.country_code)
    }

    /// The smallest place of the hierarchy that the record names: the state, where there are states, or the country.
    pub(super) fn place(&self) -> Option<Place> {
        let country = self.country()?;
        let nested = self.subdivisions.iter().flatten().find_map(|state| state.iso_code);
        let state = nested.or(self.state).and_then(|state| state_of(country, state));
        state.or_else(|| Place::parse(country).ok())
    }
}

/// The state of `country` with the code `state`, which may have the country's in front, as in `US-CA`.
fn state_of(country: &str, state: &str) -> Option<Place> {
    let short = state.strip_prefix(country).and_then(|rest| rest.strip_prefix('-')).unwrap_or(state);
    let renamed = RENAMED.iter().find(|(of, code, _)| *of == country && *code == short);
    match renamed {
        Some((_, _, ours)) => Place::parse(ours).ok(),
        None => Place::parse(&format!("{country}-{short}")).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(country: &'static str, states: &[&'static str]) -> Record<'static> {
        let coded = |code| Coded { iso_code: Some(code) };
        Record {
            country: Some(coded(country)),
            subdivisions: Some(states.iter().copied().map(coded).collect()),
            country_code: None,
            state: None,
        }
    }

    fn flat(country_code: Option<&'static str>, state: Option<&'static str>) -> Record<'static> {
        Record { country: None, subdivisions: None, country_code, state }
    }

    #[test]
    fn rte_8_either_schema_names_a_place() {
        for (record, code) in [
            (nested("US", &["CA"]), Some("US-CA")),
            (nested("AU", &["NSW", "X"]), Some("AU-NSW")),
            (nested("DE", &["HE"]), Some("DE")),
            (nested("CA", &[]), Some("CA")),
            (nested("UA", &["43"]), Some("UA-CR")),
            (nested("UA", &["40"]), Some("UA")),
            (nested("BQ", &["SE"]), Some("XE")),
            (nested("BQ", &["BO"]), Some("BQ")),
            (nested("ZZ", &[]), None),
            (flat(Some("US"), Some("US-NY")), Some("US-NY")),
            (flat(Some("CA"), Some("QC")), Some("CA-QC")),
            (flat(Some("US"), Some("New York")), Some("US")),
            (flat(Some("de"), None), Some("DE")),
            (flat(None, Some("CA")), None),
        ] {
            assert_eq!(record.place().map(Place::code), code, "{record:?}");
        }
    }
}
