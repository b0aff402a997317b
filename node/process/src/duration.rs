//! Durations with units: `30s`, `200ms`, `1m30s`. A bare number is refused, as nobody can see what it counts.

use std::time::Duration;

/// Reads a duration; the error says what is wrong with `text`, without repeating it.
pub fn parse(text: &str) -> Result<Duration, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("has no unit; write {text}s or {text}ms"));
    }
    let duration: jiff::SignedDuration =
        text.parse().map_err(|_| "is no duration; write it as in 30s, 200ms or 1m30s".to_owned())?;
    Duration::try_from(duration).map_err(|_| "is negative".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        for (text, wanted) in
            [("30s", 30_000), ("200ms", 200), ("1m30s", 90_000), ("1h", 3_600_000), ("0s", 0)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(wanted)), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_what_it_could_mean() {
        let error = parse("10").unwrap_err();
        assert!(error.contains("10s") && error.contains("10ms"), "{error}");
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "s", "ten seconds", "-5s", "5 parsecs", "1us500"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
