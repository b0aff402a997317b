//! Moments and how long ago they were.

use jiff::Timestamp;

/// Now, in milliseconds since 1970 UTC: for people to compare with, nothing is decided by it.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default()
}

/// A moment as in `2026-01-31T12:00:00.5Z`.
pub(crate) fn rfc_3339(ms: u64) -> String {
    i64::try_from(ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok())
        .map_or_else(|| format!("{ms} ms"), |moment| moment.to_string())
}

/// A moment to the second, as in `2026-01-31 12:00:00`, UTC.
pub(crate) fn readable(ms: u64) -> String {
    let moment = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    moment.map_or_else(|| format!("{ms} ms"), |moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// How long ago a moment was, in its largest unit: `42s`, `7m`, `3h`, `12d`.
pub(crate) fn age(since_ms: u64, now_ms: u64) -> String {
    let seconds = now_ms.saturating_sub(since_ms) / 1_000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written() {
        assert_eq!(rfc_3339(1_700_000_000_500), "2023-11-14T22:13:20.5Z");
        assert_eq!(readable(1_700_000_000_500), "2023-11-14 22:13:20");
        assert_eq!(rfc_3339(u64::MAX), format!("{} ms", u64::MAX));
    }

    #[test]
    fn ages_are_told_in_their_largest_unit() {
        for (seconds, wanted) in
            [(0, "0s"), (59, "59s"), (60, "1m"), (3_599, "59m"), (3_600, "1h"), (172_800, "2d")]
        {
            assert_eq!(age(1_000, 1_000 + seconds * 1_000), wanted);
        }
        assert_eq!(age(5_000, 1_000), "0s", "clocks may differ");
    }
}
