//! A point on the earth and how far it is to another (RTE-7).

use std::f64::consts::{FRAC_PI_2, PI};

/// A point on the earth, in millionths of a degree, so that points compare exactly on every member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// North, -90 000 000 … 90 000 000.
    pub latitude_e6: i32,
    /// East, -180 000 000 … 180 000 000.
    pub longitude_e6: i32,
}

impl Point {
    /// The distance along the surface, in whole kilometres, by the haversine formula.
    ///
    /// Members must agree on it to the last bit (RTE-14), and the sine of one platform's library may differ from
    /// another's. So this is made of `+ - * /` and the square root alone, which IEEE 754 rounds in one way.
    pub fn distance_km(self, other: Self) -> u32 {
        /// The earth's mean radius.
        const EARTH_KM: f64 = 6371.0;
        let radians = |degrees_e6: i32| f64::from(degrees_e6) / 1e6 * (PI / 180.0);
        let half = |one: i32, other: i32| sine(radians(one) / 2.0 - radians(other) / 2.0);
        let cosine = |latitude_e6: i32| sine(FRAC_PI_2 - radians(latitude_e6));
        let (up, along) =
            (half(self.latitude_e6, other.latitude_e6), half(self.longitude_e6, other.longitude_e6));
        let haversine = up * up + cosine(self.latitude_e6) * cosine(other.latitude_e6) * along * along;
        (2.0 * EARTH_KM * arcsine_of_root(haversine)).round() as u32
    }
}

/// The sine of an angle within ±π, by Taylor's series to within 1e-12.
fn sine(angle: f64) -> f64 {
    // Nearer to 0 the series is shorter: sin x = sin (π - x).
    let angle = if angle > FRAC_PI_2 {
        PI - angle
    } else if angle < -FRAC_PI_2 {
        -PI - angle
    } else {
        angle
    };
    let square = angle * angle;
    let (mut term, mut sum) = (angle, angle);
    for step in 1..=10 {
        let odd = f64::from(2 * step);
        term *= -square / (odd * (odd + 1.0));
        sum += term;
    }
    sum
}

/// The arcsine of the root of `square`, which lies within 0 … 1.
fn arcsine_of_root(square: f64) -> f64 {
    let square = square.clamp(0.0, 1.0);
    if square > 0.5 {
        // Newton's steps are poor near 1: asin √x = π/2 - asin √(1 - x).
        return FRAC_PI_2 - arcsine_of_root(1.0 - square);
    }
    let root = square.sqrt();
    // Each step doubles the digits that are right; the root itself is off by a tenth at most.
    (0..4).fold(root, |angle, _| angle - (sine(angle) - root) / sine(FRAC_PI_2 - angle))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point(latitude_e6: i32, longitude_e6: i32) -> Point {
        Point { latitude_e6, longitude_e6 }
    }

    #[test]
    fn rte_7_known_distances() {
        let frankfurt = point(50_110_000, 8_680_000);
        let sydney = point(-33_870_000, 151_210_000);
        for (one, other, km) in [
            (frankfurt, frankfurt, 0),
            (frankfurt, point(51_510_000, -130_000), 638),
            (frankfurt, point(39_040_000, -77_490_000), 6_549),
            (frankfurt, sydney, 16_483),
            (point(0, 0), point(0, 180_000_000), 20_015),
            (point(90_000_000, 0), point(-90_000_000, 77_000_000), 20_015),
            (point(0, 179_000_000), point(0, -179_000_000), 222),
            (point(0, 0), point(0, 1_000_000), 111),
        ] {
            assert_eq!(one.distance_km(other), km, "{one:?} to {other:?}");
            assert_eq!(other.distance_km(one), km, "{other:?} to {one:?}");
        }
    }

    fn any_point() -> impl Strategy<Value = Point> {
        (-90_000_000..=90_000_000, -180_000_000..=180_000_000)
            .prop_map(|(latitude, longitude)| point(latitude, longitude))
    }

    proptest! {
        #[test]
        fn rte_7_as_the_library_reckons(one in any_point(), other in any_point()) {
            let radians = |degrees_e6: i32| (f64::from(degrees_e6) / 1e6).to_radians();
            let half = |one: i32, other: i32| ((radians(one) - radians(other)) / 2.0).sin();
            let (up, along) =
                (half(one.latitude_e6, other.latitude_e6), half(one.longitude_e6, other.longitude_e6));
            let cosines = radians(one.latitude_e6).cos() * radians(other.latitude_e6).cos();
            let km = 2.0 * 6371.0 * (up * up + cosines * along * along).clamp(0.0, 1.0).sqrt().asin();
            prop_assert!((f64::from(one.distance_km(other)) - km).abs() <= 0.501, "{} is not {km}", one.distance_km(other));
        }
    }
}
