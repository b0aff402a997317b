//! Which status codes count as success (PRB-1, SET-9). Pure.

use waymark_core::model::StatusRange;

/// Is `status` in one of the ranges? Both ends belong to a range.
pub fn is_expected(status: u16, expect: &[StatusRange]) -> bool {
    let status = u32::from(status);
    expect.iter().any(|range| (range.min..=range.max).contains(&status))
}

/// The ranges as an operator writes them: `200-204,401`.
pub fn describe(expect: &[StatusRange]) -> String {
    let one = |range: &StatusRange| match (range.min, range.max) {
        (min, max) if min == max => min.to_string(),
        (min, max) => format!("{min}-{max}"),
    };
    expect.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges() -> Vec<StatusRange> {
        vec![StatusRange { min: 200, max: 204 }, StatusRange { min: 401, max: 401 }]
    }

    /// PRB-1, F-PRB-01, F-PRB-10: only what is listed, ends included; another 2xx and a redirect are failures.
    #[test]
    fn prb_1_only_listed_codes_are_expected() {
        for (status, expected) in [
            (200, true),
            (204, true),
            (205, false),
            (199, false),
            (301, false),
            (302, false),
            (401, true),
            (404, false),
            (522, false),
            (599, false),
            (99, false),
        ] {
            assert_eq!(is_expected(status, &ranges()), expected, "{status}");
        }
        assert!(!is_expected(200, &[]));
        assert!(is_expected(302, &[StatusRange { min: 302, max: 302 }]));
    }

    #[test]
    fn ranges_are_shown_as_they_are_written() {
        assert_eq!(describe(&ranges()), "200-204,401");
    }
}
