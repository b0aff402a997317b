//! The rules of spec §1.1 and §1.2, each judged with all the others (VAL-1).

use super::{Profile, Region, Violations, Zone};

/// Judges a whole profile, as it would be stored.
pub fn validate_profile(_profile: &Profile, _violations: &mut Violations) {}

/// What is allowed in a profile but probably not meant (VAL-5).
pub fn warn_profile(_profile: &Profile, _warnings: &mut Violations) {}

/// Judges a zone, as it would be stored.
pub fn validate_zone(_zone: &Zone, _violations: &mut Violations) {}

/// Judges a region, as it would be stored.
pub fn validate_region(_region: &Region, _violations: &mut Violations) {}
