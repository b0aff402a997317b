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
    fn it_is_written_as_it_is_read() {
        for wanted in [0, 1, 999, 1_000, 30_000, 1_500] {
            assert_eq!(millis(&text(wanted)), Ok(Millis(wanted)));
        }
    }
}
