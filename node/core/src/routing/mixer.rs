//! One draw for a query, another for each level of its decision (spec §1.5).

use std::net::IpAddr;

use crate::model::{Network, ProfileId};

/// The draw of `profile` at `level` (0 for the name that was asked for) in its `attempt`th try, from the query's draw.
///
/// Fixed for ever: members of different versions must answer alike (RTE-14). For given level, profile and attempt it
/// is a bijection of `draw`, so an even draw stays exactly even.
pub fn mix(draw: u64, level: u32, profile: ProfileId, attempt: u32) -> u64 {
    let parts = [u64::from(level), profile.0, u64::from(attempt)];
    parts.into_iter().fold(draw, |state, part| finalise(state ^ finalise(part)))
}

/// An even number for a network and an endpoint's number; fixed for ever like [`mix`].
pub(super) fn hash(network: Network, id: u64) -> u64 {
    let family = u64::from(network.address().is_ipv6());
    let first = match network.address() {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let parts = [family, (first >> 64) as u64, first as u64, u64::from(network.prefix()), id];
    parts.into_iter().fold(0, |state, part| finalise(state ^ finalise(part)))
}

/// One step of the SplitMix64 generator: the golden-ratio increment, then the finaliser that lets each bit of the
/// input reach each bit of the output.
fn finalise(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of SplitMix64 seeded with 0, as published with the generator.
    #[test]
    fn finalises_as_published() {
        assert_eq!(finalise(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(finalise(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn rte_14_never_changes_from_version_to_version() {
        let drawn = [
            mix(0, 0, ProfileId(0), 0),
            mix(1, 0, ProfileId(1), 0),
            mix(u64::MAX, 3, ProfileId(u64::MAX), 2),
        ];
        assert_eq!(drawn, [0xcd7f_3a87_b5bb_05be, 0x1ddc_2042_b2a7_4cb9, 0x79ba_63a2_ecfe_9a80]);
    }

    #[test]
    fn each_level_profile_and_attempt_draws_for_itself() {
        let draws = [
            mix(7, 0, ProfileId(1), 0),
            mix(7, 1, ProfileId(1), 0),
            mix(7, 0, ProfileId(2), 0),
            mix(7, 0, ProfileId(1), 1),
            mix(7, 1, ProfileId(0), 0),
            mix(8, 0, ProfileId(1), 0),
        ];
        let distinct: std::collections::BTreeSet<u64> = draws.into_iter().collect();
        assert_eq!(distinct.len(), draws.len());
    }
}
