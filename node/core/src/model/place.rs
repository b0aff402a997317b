//! Where a client is, or what an endpoint is mapped to: a place of the hierarchy world, grouping, country, state (SET-15).

mod rows;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::{Point, nearest, quote};
use rows::{ROWS, Row};

/// A place of the hierarchy. Its number holds within one build of the program only: outside, a place is its code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(u16);

/// A text is no code of a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is no code of a place{}", quote(.text), hint(.text).map(did_you_mean).unwrap_or_default())]
pub struct PlaceFault {
    /// The text.
    pub text: String,
}

impl PlaceFault {
    /// The place that was probably meant (VAL-3). Finding it is work.
    pub fn hint(&self) -> Option<Place> {
        hint(&self.text)
    }
}

fn did_you_mean(place: Place) -> String {
    format!(" (did you mean {}, {}?)", place.code(), place.name())
}

/// What is looked up by text: the codes, and the parents that the rows name by theirs.
struct Index {
    by_code: BTreeMap<&'static str, Place>,
    parents: Vec<Option<Place>>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let by_code: BTreeMap<_, _> = Place::all().map(|place| (place.code(), place)).collect();
    let parents = ROWS.iter().map(|row| by_code.get(row.parent).copied()).collect();
    Index { by_code, parents }
});

impl Place {
    /// Everywhere: the place in which all others lie.
    pub const WORLD: Self = Self(0);
    /// How many places there are.
    pub const COUNT: usize = ROWS.len();

    /// Every place, each behind the one that it lies in.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u16).map(Self)
    }

    /// The place with this code, in any letters.
    pub fn parse(code: &str) -> Result<Self, PlaceFault> {
        let found = INDEX.by_code.get(code.to_ascii_uppercase().as_str()).copied();
        found.ok_or_else(|| PlaceFault { text: code.to_owned() })
    }

    /// The place's number, below [`Place::COUNT`].
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// The place with this number.
    pub fn from_index(index: usize) -> Option<Self> {
        (index < Self::COUNT).then_some(Self(index as u16))
    }

    fn row(self) -> &'static Row {
        &ROWS[self.index()]
    }

    /// Its code, as in `DE` or `US-CA`.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Its name in English.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The place that it lies in; none for the world.
    pub fn parent(self) -> Option<Self> {
        INDEX.parents[self.index()]
    }

    /// The place itself and those that it lies in, up to the world (RTE-8).
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self), |place| place.parent())
    }

    /// The point that stands for a country or a state when distances are compared (RTE-7); none for anything larger.
    pub fn point(self) -> Option<Point> {
        /// The rows count hundredths of a degree, points count millionths.
        const E6: i32 = 10_000;
        let (latitude, longitude) = self.row().point?;
        Some(Point { latitude_e6: i32::from(latitude) * E6, longitude_e6: i32::from(longitude) * E6 })
    }
}

/// The place that `text` was probably meant for: the grouping without its `GEO-`, the name in place of the code, or a
/// slip in either.
fn hint(text: &str) -> Option<Place> {
    /// A text without a hyphen that is longer than this is rather a name: the codes of countries have two letters.
    const CODE_MAX: usize = 3;
    let grouping = INDEX.by_code.get(format!("GEO-{}", text.to_ascii_uppercase()).as_str()).copied();
    let by_name = || {
        let name = nearest(text, ROWS.iter().map(|row| row.name))?;
        Place::all().find(|place| place.name() == name)
    };
    let by_code = || INDEX.by_code.get(nearest(text, ROWS.iter().map(|row| row.code))?).copied();
    if text.len() > CODE_MAX && !text.contains('-') {
        grouping.or_else(by_name).or_else(by_code)
    } else {
        grouping.or_else(by_code).or_else(by_name)
    }
}

impl FromStr for Place {
    type Err = PlaceFault;

    fn from_str(code: &str) -> Result<Self, Self::Err> {
        Self::parse(code)
    }
}

/// Its code.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({})", self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(code: &str) -> Place {
        Place::parse(code).expect(code)
    }

    fn path(code: &str) -> Vec<&'static str> {
        place(code).ancestors().map(Place::code).collect()
    }

    #[test]
    fn set_15_every_place_is_found_by_its_code() {
        assert_eq!(Place::COUNT, 334);
        for each in Place::all() {
            assert_eq!(Place::parse(each.code()), Ok(each));
            assert_eq!(Place::parse(&each.code().to_lowercase()), Ok(each));
            assert_eq!(Place::from_index(each.index()), Some(each));
            assert!(!each.name().is_empty());
        }
        assert_eq!(Place::from_index(Place::COUNT), None);
        assert_eq!(place("world"), Place::WORLD);
    }

    #[test]
    fn rte_8_from_the_state_up_to_the_world() {
        assert_eq!(path("US-CA"), ["US-CA", "US", "GEO-NA", "WORLD"]);
        assert_eq!(path("UA-CR"), ["UA-CR", "UA", "GEO-EU", "WORLD"]);
        assert_eq!(path("TR"), ["TR", "GEO-ME", "WORLD"]);
        assert_eq!(path("CY"), ["CY", "GEO-EU", "WORLD"]);
        assert_eq!(path("EG"), ["EG", "GEO-AF", "WORLD"]);
        assert_eq!(path("WORLD"), ["WORLD"]);
        for each in Place::all() {
            assert_eq!(each.ancestors().last(), Some(Place::WORLD), "{each}");
            let above = if each.code().contains('-') { each.parent() } else { None };
            assert!(above.is_none_or(|above| above < each), "{each} stands in front of {above:?}");
        }
    }

    #[test]
    fn rte_7_countries_and_states_have_a_point() {
        for each in Place::all() {
            let is_large = each == Place::WORLD || each.code().starts_with("GEO-");
            assert_eq!(each.point().is_none(), is_large, "{each}");
            let on_earth = |point: Point| {
                point.latitude_e6.abs() <= 90_000_000 && point.longitude_e6.abs() <= 180_000_000
            };
            assert!(each.point().is_none_or(on_earth), "{each}");
        }
    }

    #[test]
    fn rte_7_a_state_lies_near_its_country_and_neighbours_near_each_other() {
        /// The farthest: Hawaii from the middle of the United States.
        const STATE_KM_MAX: u32 = 6_700;
        let distance = |one: Place, other: Place| one.point().unwrap().distance_km(other.point().unwrap());
        for state in Place::all().filter(|place| place.parent().is_some_and(|above| above.point().is_some()))
        {
            let country = state.parent().unwrap();
            assert!(distance(state, country) < STATE_KM_MAX, "{state}");
        }
        for (one, other, least, most) in [
            ("DE", "FR", 400, 800),
            ("NL", "BE", 100, 250),
            ("NZ", "AU", 2_000, 3_000),
            ("US-NY", "US-CA", 3_500, 4_200),
            ("JP", "KR", 700, 1_200),
            ("BR", "AR", 2_000, 2_800),
            ("ZA", "ZW", 800, 1_300),
            ("FJ", "TO", 500, 1_100),
        ] {
            let found = distance(place(one), place(other));
            assert!((least..=most).contains(&found), "{one} to {other}: {found} km");
        }
    }

    #[test]
    fn val_3_a_wrong_code_gets_a_hint() {
        for (text, hint) in [
            ("EU", Some("GEO-EU")),
            ("Germany", Some("DE")),
            ("Germny", Some("DE")),
            ("US-CAL", Some("US-CA")),
            ("GEO-EUR", Some("GEO-EU")),
            ("WORD", Some("WORLD")),
            ("DEU", Some("DE")),
            ("", None),
        ] {
            let fault = Place::parse(text).expect_err(text);
            assert_eq!(fault.hint().map(Place::code), hint, "{text}");
        }
        assert_eq!(
            Place::parse("EU").unwrap_err().to_string(),
            "'EU' is no code of a place (did you mean GEO-EU, Europe?)"
        );
        assert_eq!(Place::parse("12").unwrap_err().to_string(), "'12' is no code of a place");
    }
}
