//! The regions of the large clouds, which are known by name without being declared (OBJ-9, SET-14).

mod rows;

use crate::model::{Caseless, Place, Point};
use rows::{ROWS, Row};

/// A region of a cloud, as in `aws:eu-central-1`.
#[derive(Clone, Copy)]
pub struct CloudRegion(&'static Row);

impl CloudRegion {
    /// Every one, in the order of their names.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(Self)
    }

    /// The one with this name, in any letters.
    pub fn find(name: &Caseless) -> Option<Self> {
        let name = name.as_str().to_lowercase();
        ROWS.binary_search_by(|row| row.name.cmp(name.as_str())).ok().map(|at| Self(&ROWS[at]))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The town or the part of the country in which it is.
    pub fn town(self) -> &'static str {
        self.0.town
    }

    /// The country in which it is.
    pub fn country(self) -> Place {
        Place::parse(self.0.country).expect("the countries of cloud regions are in the hierarchy")
    }

    /// Where it is.
    pub fn point(self) -> Point {
        /// The rows count hundredths of a degree, points count millionths.
        const E6: i32 = 10_000;
        Point { latitude_e6: i32::from(self.0.latitude) * E6, longitude_e6: i32::from(self.0.longitude) * E6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_14_cloud_regions_are_found_by_name() {
        assert_eq!(CloudRegion::all().count(), 134);
        for region in CloudRegion::all() {
            let found = CloudRegion::find(&Caseless::new(&region.name().to_uppercase())).unwrap();
            assert_eq!(found.name(), region.name());
            assert_eq!(region.name().matches(':').count(), 1);
        }
        let frankfurt = CloudRegion::find(&"aws:eu-central-1".into()).unwrap();
        assert_eq!((frankfurt.town(), frankfurt.country().code()), ("Frankfurt", "DE"));
        assert_eq!(frankfurt.point(), Point { latitude_e6: 50_110_000, longitude_e6: 8_680_000 });
        for name in ["aws:eu-central-9", "eu-central-1", "", "aws:"] {
            assert!(CloudRegion::find(&name.into()).is_none(), "{name}");
        }
    }

    #[test]
    fn rte_7_they_lie_in_their_countries() {
        for region in CloudRegion::all() {
            /// Between the middle of the United States' people and the farthest of their regions.
            const KM_MAX: u32 = 2_700;
            let middle = region.country().point().unwrap();
            assert!(region.point().distance_km(middle) < KM_MAX, "{}", region.name());
        }
    }
}
