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
