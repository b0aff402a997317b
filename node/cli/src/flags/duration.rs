//! Durations with units: `30s`, `200ms`, `1m30s`. A bare number is refused, as nobody can see what it counts.

use std::time::Duration;

/// A flag's value in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millis(pub(crate) u64);

/// Reads a duration.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("a number alone has no unit; write {text}s or {text}ms"));
    }
    let duration: jiff::SignedDuration =
        text.parse().map_err(|_| "is no duration; write it as in 30s, 200ms or 1m30s".to_owned())?;
    Duration::try_from(duration).map_err(|_| "is negative".to_owned())
}

/// Reads a duration that is longer than nothing.
pub(crate) fn positive(text: &str) -> Result<Duration, String> {
    parse(text).and_then(
        |duration| {
            if duration.is_zero() { Err("is no time at all".to_owned()) } else { Ok(duration) }
        },
    )
}

/// Reads a duration of whole milliseconds.
pub(crate) fn millis(text: &str) -> Result<Millis, String> {
    let duration = parse(text)?;
    let millis = u64::try_from(duration.as_millis()).map_err(|_| "is too long".to_owned())?;
    if Duration::from_millis(millis) == duration {
        Ok(Millis(millis))
    } else {
        Err("is finer than a millisecond".to_owned())
    }
}

/// Writes milliseconds as [`parse`] reads them.
pub(crate) fn text(millis: u64) -> String {
    if millis.is_multiple_of(1_000) { format!("{}s", millis / 1_000) } else { format!("{millis}ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        for (text, wanted) in
            [("30s", 30_000), ("200ms", 200), ("1m30s", 90_000), ("1h", 3_600_000), ("0s", 0)]
        {
            assert_eq!(millis(text), Ok(Millis(wanted)), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_what_it_could_mean() {
        let error = parse("10").unwrap_err();
        assert!(error.contains("10s") && error.contains("10ms"), "{error}");
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "s", "ten seconds", "-5s", "5 parsecs", "1us500", "10µs"] {
            assert!(millis(text).is_err(), "{text}");
        }
        assert!(positive("0ms").is_err());
    }

    #[test]
    fn it_is_written_as_it_is_read() {
        for wanted in [0, 1, 999, 1_000, 30_000, 1_500] {
            assert_eq!(millis(&text(wanted)), Ok(Millis(wanted)));
        }
    }
}
