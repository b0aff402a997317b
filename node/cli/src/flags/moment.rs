//! Moments as flags hold them.

use super::duration::{Millis, with_days};
use crate::output::time;

/// A moment, in milliseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) u64);

/// Reads how long ago a moment was, or the moment itself.
pub(crate) fn moment(text: &str) -> Result<Moment, String> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Ok(Moment(u64::try_from(moment.as_millisecond()).unwrap_or_default()));
    }
    let Millis(ago) =
        with_days(text).map_err(|_| "is no time; write it as in 2h, 7d or 2026-01-31T12:00:00Z")?;
    Ok(Moment(time::now_ms().saturating_sub(ago)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_by_a_duration_or_by_itself() {
        assert_eq!(moment("2023-11-14T22:13:20Z"), Ok(Moment(1_700_000_000_000)));
        let Moment(hour_ago) = moment("1h").unwrap();
        assert!((3_599_000..3_700_000).contains(&(time::now_ms() - hour_ago)));
        let Moment(week_ago) = moment("7d").unwrap();
        assert!((604_799_000..604_900_000).contains(&(time::now_ms() - week_ago)));
        for bad in ["60", "-1h", "soon", ""] {
            assert!(moment(bad).is_err(), "{bad}");
        }
    }
}
