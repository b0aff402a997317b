//! What a nested endpoint's child comes to (STA-10).

use super::{EndpointStatus, ProfileStatus};
use crate::model::{Child, Flattened, RecordType, Target};

/// How many endpoints are available, and how many may turn out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Online and Unmonitored ones: O of STA-10.
    pub online: u32,
    /// CheckingEndpoint ones: C of STA-10.
    pub checking: u32,
    /// Degraded ones, which serve where nobody better is left.
    pub degraded: u32,
}

/// A nested endpoint's standing in each address family: no better than its status, and Stopped where its child has nobody of
/// the family, whatever they are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByFamily {
    /// Over IPv4: Online, CheckingEndpoint, Degraded or Stopped.
    pub v4: EndpointStatus,
    /// Over IPv6, likewise.
    pub v6: EndpointStatus,
}

impl ByFamily {
    /// Nobody in either.
    pub const NOBODY: Self = Self { v4: EndpointStatus::Stopped, v6: EndpointStatus::Stopped };
}

/// How much of a profile is available: of all its endpoints, and of those that can be reached over one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Availability {
    /// All of them.
    pub all: Count,
    /// Those with an IPv4 address or a DNS name, a flattened one's by its addresses, and nested ones by their standing over IPv4.
    pub v4: Count,
    /// Those with an IPv6 address or a DNS name, a flattened one's by its addresses, and nested ones by their standing over IPv6.
    pub v6: Count,
}

impl Count {
    fn add(&mut self, status: EndpointStatus) {
        match status {
            EndpointStatus::Online | EndpointStatus::Unmonitored => self.online += 1,
            EndpointStatus::CheckingEndpoint => self.checking += 1,
            EndpointStatus::Degraded => self.degraded += 1,
            EndpointStatus::Disabled | EndpointStatus::Inactive | EndpointStatus::Stopped => {}
        }
    }

    fn is_nobody(self) -> bool {
        self.online + self.checking + self.degraded == 0
    }

    /// | available | available or checking | |
    /// |---|---|---|
    /// | ≥ `min` | – | Online |
    /// | < `min` | ≥ `min` | CheckingEndpoint |
    /// | < `min` | < `min` | Degraded |
    fn against(self, min: u32) -> EndpointStatus {
        if self.online >= min {
            EndpointStatus::Online
        } else if self.online + self.checking >= min {
            EndpointStatus::CheckingEndpoint
        } else {
            EndpointStatus::Degraded
        }
    }
}

impl Availability {
    /// Counts an endpoint in that resolves to `target`; a DNS name counts in both families.
    pub fn add_target(&mut self, status: EndpointStatus, target: &Target) {
        self.add(status, !matches!(target, Target::V6(_)), !matches!(target, Target::V4(_)));
    }

    /// Counts an endpoint in of a flattened profile: in the families of its addresses, so far in none (DNS-16).
    pub fn add_flattened(&mut self, status: EndpointStatus, flattened: Option<&Flattened>) {
        let has = |record_type| flattened.is_some_and(|known| known.answers(record_type).next().is_some());
        self.add(status, has(RecordType::A), has(RecordType::AAAA));
    }

    fn add(&mut self, status: EndpointStatus, is_v4: bool, is_v6: bool) {
        self.all.add(status);
        if is_v4 {
            self.v4.add(status);
        }
        if is_v6 {
            self.v6.add(status);
        }
    }

    /// Counts a nested endpoint in, as one, in each family by its own standing there.
    pub fn add_nested(&mut self, status: EndpointStatus, by_family: ByFamily) {
        self.all.add(status);
        self.v4.add(by_family.v4);
        self.v6.add(by_family.v6);
    }
}

/// What a nested endpoint comes to in each family that is forced to `status`: that where its child has anybody, down or not, as
/// no override gives it an address that it has not (STA-13).
pub fn nested_forced(available: Availability, status: EndpointStatus) -> ByFamily {
    let standing = |count: Count| if count.is_nobody() { EndpointStatus::Stopped } else { status };
    ByFamily { v4: standing(available.v4), v6: standing(available.v6) }
}

/// What a nested endpoint comes to by its child, the first row that applies (STA-10), and its standing in each family.
///
/// | child | O ≥ min, O4 ≥ min4, O6 ≥ min6 | O + C ≥ min, … | |
/// |---|---|---|---|
/// | Disabled or Inactive | – | – | Stopped |
/// | any other | yes | – | Online |
/// | any other | no | yes | CheckingEndpoint |
/// | any other | no | no | Degraded |
pub fn nested_status(
    child: &Child,
    status: ProfileStatus,
    available: Availability,
) -> (EndpointStatus, ByFamily) {
    if matches!(status, ProfileStatus::Disabled | ProfileStatus::Inactive) {
        return (EndpointStatus::Stopped, ByFamily::NOBODY);
    }
    let (min_v4, min_v6) = (child.effective_endpoints_min_v4(), child.effective_endpoints_min_v6());
    let status = [
        available.all.against(child.effective_endpoints_min()),
        available.v4.against(min_v4),
        available.v6.against(min_v6),
    ]
    .into_iter()
    .fold(EndpointStatus::Online, worse);
    // Whoever has nobody of a family is not available over it, even where no minimum asks for anybody.
    let standing = |count: Count, min: u32| match count.is_nobody() {
        true => EndpointStatus::Stopped,
        false => worse(status, count.against(min.max(1))),
    };
    (status, ByFamily { v4: standing(available.v4, min_v4), v6: standing(available.v6, min_v6) })
}

/// The worse of Online, CheckingEndpoint and Degraded.
fn worse(one: EndpointStatus, other: EndpointStatus) -> EndpointStatus {
    let order = [EndpointStatus::Degraded, EndpointStatus::CheckingEndpoint];
    order.into_iter().find(|status| [one, other].contains(status)).unwrap_or(EndpointStatus::Online)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::profile_status;
    use EndpointStatus::{CheckingEndpoint, Degraded, Disabled, Online, Stopped, Unmonitored};

    fn child(min: u32, min_v4: u32, min_v6: u32) -> Child {
        Child {
            profile: "child".into(),
            endpoints_min: Some(min),
            endpoints_min_v4: Some(min_v4),
            endpoints_min_v6: Some(min_v6),
        }
    }

    fn nested(enabled: bool, statuses: &[EndpointStatus], child: &Child) -> (EndpointStatus, ByFamily) {
        let mut available = Availability::default();
        for status in statuses {
            available.add_target(*status, &Target::V4([192, 0, 2, 1].into()));
        }
        nested_status(child, profile_status(enabled, statuses.iter().copied()), available)
    }

    #[test]
    fn sta_10_the_worked_vectors() {
        let vectors: [(bool, &[EndpointStatus], u32, EndpointStatus); 11] = [
            (true, &[], 1, Stopped),
            (true, &[Disabled], 1, Stopped),
            (true, &[Stopped, Disabled], 1, Stopped),
            (true, &[Online, Degraded], 1, Online),
            (true, &[Online, Degraded], 2, Degraded),
            (true, &[Online, CheckingEndpoint, Degraded], 2, CheckingEndpoint),
            (true, &[CheckingEndpoint], 1, CheckingEndpoint),
            (true, &[CheckingEndpoint, CheckingEndpoint], 3, Degraded),
            (true, &[Degraded, Degraded], 1, Degraded),
            (true, &[Online, Online], 9, Degraded),
            (false, &[Online], 1, Stopped),
        ];
        for (enabled, statuses, min, expected) in vectors {
            assert_eq!(nested(enabled, statuses, &child(min, 0, 0)).0, expected, "{statuses:?} min {min}");
        }
        assert_eq!(
            nested(true, &[Unmonitored, Degraded], &child(1, 0, 0)).0,
            Online,
            "O has Unmonitored too"
        );
    }

    #[test]
    fn sta_10_each_family_has_its_own_minimum() {
        let name = Target::Name(crate::fixture::name("a.example"));
        let (v4, v6) = (Target::V4([192, 0, 2, 1].into()), Target::V6("2001:db8::1".parse().unwrap()));
        let counted = |endpoints: &[(EndpointStatus, &Target)]| {
            let mut available = Availability::default();
            endpoints.iter().for_each(|(status, target)| available.add_target(*status, target));
            available
        };
        let judged = |available, child: &Child| nested_status(child, ProfileStatus::Online, available);
        let both = counted(&[(Online, &v4), (Online, &v6)]);
        assert_eq!(judged(both, &child(1, 1, 1)).0, Online);
        assert_eq!(judged(both, &child(1, 2, 0)).0, Degraded);
        assert_eq!(judged(both, &child(1, 0, 2)).0, Degraded);
        let checked = counted(&[(Online, &v4), (CheckingEndpoint, &v6)]);
        assert_eq!(judged(checked, &child(1, 0, 1)).0, CheckingEndpoint);
        let names = counted(&[(Online, &name)]);
        assert_eq!(judged(names, &child(1, 1, 1)), (Online, ByFamily { v4: Online, v6: Online }));
    }

    #[test]
    fn sta_13_forced_up_reaches_only_the_families_that_there_are() {
        let v4 = Target::V4([192, 0, 2, 1].into());
        for (status, expected) in [(Degraded, Online), (Online, Online), (Stopped, Stopped)] {
            let mut available = Availability::default();
            available.add_target(status, &v4);
            let forced = nested_forced(available, Online);
            assert_eq!(forced, ByFamily { v4: expected, v6: Stopped }, "{status:?}");
            // And so through any number of levels.
            let mut above = Availability::default();
            above.add_nested(Online, forced);
            above.add_nested(Disabled, ByFamily::NOBODY);
            assert_eq!(nested_forced(above, Online), forced, "{status:?}");
            assert_ne!(nested_forced(available, Degraded).v4, Online);
        }
    }

    #[test]
    fn sta_10_a_nested_child_counts_as_one_in_the_families_that_it_has() {
        let (status, by_family) = nested(true, &[Online, Online], &child(1, 0, 0));
        assert_eq!((status, by_family), (Online, ByFamily { v4: Online, v6: Stopped }));
        let mut available = Availability::default();
        available.add_nested(status, by_family);
        let one = Count { online: 1, ..Count::default() };
        assert_eq!(available, Availability { all: one, v4: one, v6: Count::default() });
        let (_, by_family) = nested(true, &[CheckingEndpoint], &child(1, 0, 0));
        assert_eq!(by_family, ByFamily { v4: CheckingEndpoint, v6: Stopped });
    }
}
