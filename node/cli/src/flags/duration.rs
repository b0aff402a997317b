//! Durations as flags hold them: whole milliseconds, or some time at all.

use std::time::Duration;

use waymark_process::duration::parse;

/// A flag's value in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millis(pub(crate) u64);

/// Reads a duration that is longer than nothing.
pub(crate) fn positive(text: &str) -> Result<Duration, String> {
    parse(text).and_then(
        |duration| {
            if duration.is_zero() { Err("is no time at all".to_owned()) } else { Ok(duration) }
        },
    )
}

/// Reads a duration that may have days, in milliseconds. Days have 24 hours here.
pub(crate) fn with_days(text: &str) -> Result<Millis, String> {
    let days = jiff::SpanRelativeTo::days_are_24_hours();
    let span = text.parse::<jiff::Span>().and_then(|span| span.to_duration(days));
    let millis = span.ok().and_then(|span| u64::try_from(span.as_millis()).ok());
    millis.map(Millis).ok_or_else(|| "is no duration; write it as in 30m, 2h or 7d".to_owned())
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
    fn what_is_no_time_in_milliseconds_is_refused() {
        assert_eq!(millis("1m30s"), Ok(Millis(90_000)));
        for text in ["", "10", "-5s", "10µs"] {
            assert!(millis(text).is_err(), "{text}");
        }
        assert!(positive("0ms").is_err());
    }

    #[test]
    fn days_are_read_where_they_make_sense() {
        for (text, wanted) in [("30m", 1_800_000), ("1h30m", 5_400_000), ("7d", 604_800_000)] {
            assert_eq!(with_days(text), Ok(Millis(wanted)), "{text}");
        }
        for text in ["", "10", "-5s", "soon"] {
            assert!(with_days(text).is_err(), "{text}");
        }
    }

    #[test]
    fn it_is_written_as_it_is_read() {
        for wanted in [0, 1, 999, 1_000, 30_000, 1_500] {
            assert_eq!(millis(&text(wanted)), Ok(Millis(wanted)));
        }
    }
}
