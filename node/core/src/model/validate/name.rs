//! What objects may be called (OBJ-2, OBJ-4, OBJ-9), and the regions and agents, which are little more than names.

use crate::model::{Agent, Region, Violations, profile_limits as limits, quote};

/// Judges a region, as it would be stored.
pub fn validate_region(region: &Region, violations: &mut Violations) {
    validate_place_name("name", region.name.as_str(), violations);
    check_degrees("latitude", region.latitude_e6, 90, violations);
    check_degrees("longitude", region.longitude_e6, 180, violations);
}

/// Judges an agent's own words of itself. Its region is looked up, not judged.
pub fn validate_agent(name: &str, version: &str, violations: &mut Violations) {
    validate_place_name("agent", name, violations);
    let length = version.chars().count();
    if length > Agent::VERSION_MAX {
        violations.add(
            "version",
            format!("is {length} characters long; at most {} are allowed", Agent::VERSION_MAX),
        );
    }
    if version.chars().any(char::is_control) {
        violations.add("version", "has a control character");
    }
}

/// OBJ-2: 1–63 of letters, digits, `-`, `.`; first and last alphanumeric.
pub(super) fn check_profile_name(field: &str, name: &str, violations: &mut Violations) {
    if !check_length(field, name, limits::NAME_MAX, violations) {
        return;
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')) {
        let shown = quote(name);
        violations.add(field, format!("{shown} has a character other than letters, digits, '-' and '.'"));
    } else if !(is_alphanumeric(name.chars().next()) && is_alphanumeric(name.chars().next_back())) {
        violations.add(field, format!("'{name}' must begin and end with a letter or a digit"));
    }
}

/// OBJ-4: 1–260 printable characters without `/`; blanks inside only, as nobody sees the others.
pub(super) fn check_endpoint_name(field: &str, name: &str, violations: &mut Violations) {
    if !check_length(field, name, limits::ENDPOINT_NAME_MAX, violations) {
        return;
    }
    if name.contains('/') {
        let shown = quote(name);
        violations.add(field, format!("{shown} has a '/', which divides profile and endpoint elsewhere"));
    }
    if name.starts_with(' ') || name.ends_with(' ') {
        violations.add(field, format!("{} begins or ends with a blank", quote(name)));
    }
    if !name.chars().all(is_printable) {
        violations.add(field, format!("{} has a character that cannot be seen", quote(name)));
    }
}

/// OBJ-9: 1–63 of letters, digits, `-`, `.`, `_`, and one `:` behind a provider's prefix.
pub fn validate_place_name(field: &str, name: &str, violations: &mut Violations) {
    if !check_length(field, name, limits::NAME_MAX, violations) {
        return;
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':')) {
        violations.add(
            field,
            format!("{} has a character other than letters, digits, '-', '.', '_' and ':'", quote(name)),
        );
    } else if name.matches(':').count() > 1 || name.starts_with(':') || name.ends_with(':') {
        violations.add(field, format!("'{name}' may have one ':', between a provider and a name"));
    }
}

/// Notes a name that is empty or too long; returns whether it is neither.
fn check_length(field: &str, name: &str, max: usize, violations: &mut Violations) -> bool {
    let length = name.chars().count();
    if length == 0 {
        violations.add(field, "is empty");
    } else if length > max {
        violations.add(field, format!("is {length} characters long; at most {max} are allowed"));
    }
    (1..=max).contains(&length)
}

fn is_alphanumeric(character: Option<char>) -> bool {
    character.is_some_and(|character| character.is_ascii_alphanumeric())
}

/// Can it be seen, and does it leave its neighbours where they are? A space can; other white space, marks of direction
/// and characters without width make two names look alike.
fn is_printable(character: char) -> bool {
    let is_invisible = matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    character == ' ' || !(character.is_control() || character.is_whitespace() || is_invisible)
}

/// Notes a coordinate beyond `max` degrees on either side.
fn check_degrees(field: &str, value_e6: i32, max: i32, violations: &mut Violations) {
    if value_e6.unsigned_abs() > max.unsigned_abs() * 1_000_000 {
        violations.add(field, format!("{} is outside -{max}–{max}", f64::from(value_e6) / 1e6));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Caseless, Revision};

    fn faults(check: impl Fn(&mut Violations)) -> usize {
        let mut violations = Violations::new();
        check(&mut violations);
        violations.into_vec().len()
    }

    #[test]
    fn obj_2_profile_names() {
        for (name, wrong) in [
            ("", 1),
            ("a", 0),
            ("0", 0),
            ("Web-1.eu", 0),
            ("a..b", 0),
            ("-a", 1),
            ("a.", 1),
            ("a_b", 1),
            ("a b", 1),
            ("w\u{fc}b", 1),
        ] {
            assert_eq!(faults(|v| check_profile_name("name", name, v)), wrong, "{name}");
        }
        for (length, wrong) in [(63, 0), (64, 1)] {
            assert_eq!(faults(|v| check_profile_name("name", &"a".repeat(length), v)), wrong, "{length}");
        }
    }

    #[test]
    fn obj_4_endpoint_names() {
        for (name, wrong) in [
            ("", 1),
            ("e1", 0),
            ("Frankfurt (main), \u{fc}ber", 0),
            ("a/b", 1),
            (" ", 1),
            (" e1", 1),
            ("e1 ", 1),
            ("a\tb", 1),
            ("a\u{202e}b", 1),
            ("a/\n", 2),
        ] {
            assert_eq!(faults(|v| check_endpoint_name("name", name, v)), wrong, "{name:?}");
        }
        for (length, wrong) in [(260, 0), (261, 1)] {
            let name = "\u{fc}".repeat(length);
            assert_eq!(faults(|v| check_endpoint_name("name", &name, v)), wrong, "{length}");
        }
    }

    #[test]
    fn obj_9_region_and_agent_names() {
        for (name, wrong) in [
            ("", 1),
            ("eu-central", 0),
            ("aws:eu-central-1", 0),
            ("a_b.c", 0),
            ("aws:eu:1", 1),
            (":eu", 1),
            ("aws:", 1),
            ("eu central", 1),
            ("eu/1", 1),
        ] {
            assert_eq!(faults(|v| validate_place_name("name", name, v)), wrong, "{name}");
            assert_eq!(faults(|v| validate_agent(name, "0.1.0", v)), wrong, "{name}");
        }
        for (length, wrong) in [(63, 0), (64, 1)] {
            assert_eq!(faults(|v| validate_place_name("name", &"a".repeat(length), v)), wrong, "{length}");
        }
        assert_eq!(faults(|v| validate_agent("a1", &"1".repeat(Agent::VERSION_MAX + 1), v)), 1);
        assert_eq!(faults(|v| validate_agent("a1", "1\n2", v)), 1);
    }

    #[test]
    fn obj_1_coordinates_lie_on_the_globe() {
        let region = |latitude_e6, longitude_e6| Region {
            name: Caseless::new("r1"),
            latitude_e6,
            longitude_e6,
            revision: Revision(0),
        };
        for (latitude, longitude, wrong) in [
            (90_000_000, 180_000_000, 0),
            (-90_000_000, -180_000_000, 0),
            (90_000_001, 0, 1),
            (-90_000_001, 180_000_001, 2),
            (0, -180_000_001, 1),
            (i32::MIN, i32::MAX, 2),
        ] {
            let region = region(latitude, longitude);
            assert_eq!(faults(|v| validate_region(&region, v)), wrong, "{region:?}");
        }
        let mut violations = Violations::new();
        validate_region(&region(91_500_000, 0), &mut violations);
        assert_eq!(violations.into_vec()[0].to_string(), "latitude: 91.5 is outside -90–90");
    }
}
