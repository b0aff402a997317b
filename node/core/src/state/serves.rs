//! Which types an endpoint or a whole profile can answer (RTE-2).

use crate::model::{Flattened, RecordType, Target};

/// The types that can be answered.
///
/// | endpoint | A | AAAA | any other |
/// |---|---|---|---|
/// | a DNS name | yes, by CNAME | yes | yes |
/// | a DNS name, flattened | if it was resolved to an IPv4 address | if to an IPv6 address | |
/// | an IPv4 address | yes | | |
/// | an IPv6 address | | yes | |
/// | nested | what its child's endpoints can that are not Disabled, Inactive or Stopped | likewise | likewise |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serves {
    a: bool,
    aaaa: bool,
    other: bool,
}

impl Serves {
    /// What `target` can answer.
    pub fn of(target: &Target) -> Self {
        match target {
            Target::Name(_) => Self { a: true, aaaa: true, other: true },
            Target::V4(_) => Self { a: true, ..Self::default() },
            Target::V6(_) => Self { aaaa: true, ..Self::default() },
        }
    }

    /// What the addresses of a flattened endpoint can answer, of which there may be none yet.
    pub fn flattened(flattened: Option<&Flattened>) -> Self {
        let addresses = flattened.map(Flattened::addresses).unwrap_or_default();
        addresses.iter().fold(Self::default(), |all, address| all.or(Self::of(address)))
    }

    /// Can `record_type` be answered?
    pub fn fits(self, record_type: RecordType) -> bool {
        match record_type {
            RecordType::A => self.a,
            RecordType::AAAA => self.aaaa,
            _ => self.other,
        }
    }

    /// What either can answer.
    pub fn or(self, other: Self) -> Self {
        Self { a: self.a || other.a, aaaa: self.aaaa || other.aaaa, other: self.other || other.other }
    }
}
