//! Which endpoints may be chosen for one query (RTE-2, RTE-3).

use crate::health::EndpointStatus;
use crate::model::{RecordType, Target};
use crate::state::{Plan, PlannedEndpoint};

/// What a pool is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolKind {
    /// Endpoints that are Online, being checked, or always served.
    Healthy,
    /// Nothing but Degraded ones: all of them, as if they were Online.
    BestEffort,
    /// Nobody.
    Empty,
}

impl PoolKind {
    /// Every kind, in the order of the manual.
    pub const ALL: [Self; 3] = [Self::Healthy, Self::BestEffort, Self::Empty];

    /// The words for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::BestEffort => "best effort",
            Self::Empty => "empty",
        }
    }
}

/// Why an endpoint is in the pool or out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In, by its status.
    In,
    /// In although Degraded: nobody better is left.
    BestEffort,
    /// Out: Degraded, and others are better.
    Degraded,
    /// Out: switched off.
    Disabled,
    /// Out: its profile is switched off.
    Inactive,
    /// Out: stopped by what it stands for.
    Stopped,
    /// Out: it cannot answer the type that is asked for.
    Type,
}

impl Standing {
    /// May the endpoint be chosen?
    pub fn is_in(self) -> bool {
        matches!(self, Self::In | Self::BestEffort)
    }
}

/// The pool of one profile for one record type. Holds nothing of its own: a query costs no allocation.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'a> {
    plan: &'a Plan,
    record_type: RecordType,
    kind: PoolKind,
}

impl<'a> Pool<'a> {
    /// The pool of `plan` for `record_type`, the first row that applies (RTE-3).
    ///
    /// | endpoints that can answer the type | kind |
    /// |---|---|
    /// | any Online, CheckingEndpoint or Unmonitored | Healthy: those |
    /// | any Degraded | BestEffort: all the Degraded ones |
    /// | only Disabled, Inactive or Stopped, or none | Empty |
    pub fn of(plan: &'a Plan, record_type: RecordType) -> Self {
        let mut kind = PoolKind::Empty;
        for planned in plan.endpoints.iter().filter(|planned| fits(planned, record_type)) {
            match planned.status {
                EndpointStatus::Online | EndpointStatus::CheckingEndpoint | EndpointStatus::Unmonitored => {
                    kind = PoolKind::Healthy;
                    break;
                }
                EndpointStatus::Degraded => kind = PoolKind::BestEffort,
                EndpointStatus::Disabled | EndpointStatus::Inactive | EndpointStatus::Stopped => {}
            }
        }
        Self { plan, record_type, kind }
    }

    /// What the pool is made of.
    pub fn kind(&self) -> PoolKind {
        self.kind
    }

    /// Who is in it, in the profile's order, with their places there.
    pub fn members(self) -> impl Iterator<Item = (usize, &'a PlannedEndpoint)> + Clone {
        self.plan.endpoints.iter().enumerate().filter(move |(_, planned)| self.standing(planned).is_in())
    }

    /// Whether `planned`, an endpoint of the profile, is in the pool; the first row that applies.
    ///
    /// | status | can answer the type | pool | standing |
    /// |---|---|---|---|
    /// | Disabled, Inactive, Stopped | – | – | out, by that status |
    /// | any other | no | – | out, by type |
    /// | Online, CheckingEndpoint, Unmonitored | yes | Healthy | in |
    /// | Degraded | yes | Healthy | out: others are better |
    /// | Degraded | yes | BestEffort | in |
    pub fn standing(&self, planned: &PlannedEndpoint) -> Standing {
        match planned.status {
            EndpointStatus::Disabled => Standing::Disabled,
            EndpointStatus::Inactive => Standing::Inactive,
            EndpointStatus::Stopped => Standing::Stopped,
            _ if !fits(planned, self.record_type) => Standing::Type,
            EndpointStatus::Online | EndpointStatus::CheckingEndpoint | EndpointStatus::Unmonitored => {
                Standing::In
            }
            EndpointStatus::Degraded if self.kind == PoolKind::BestEffort => Standing::BestEffort,
            EndpointStatus::Degraded => Standing::Degraded,
        }
    }

    /// Why `planned` is in or out, in one line.
    pub fn reason(&self, planned: &PlannedEndpoint) -> String {
        let record_type = self.record_type;
        match (self.standing(planned), planned.status) {
            (Standing::In, EndpointStatus::CheckingEndpoint) => {
                "in: CheckingEndpoint, which counts as available until something is known".to_owned()
            }
            (Standing::In, EndpointStatus::Unmonitored) => "in: Unmonitored, so always served".to_owned(),
            (Standing::In, status) => format!("in: {}", status.as_str()),
            (Standing::BestEffort, _) => {
                format!("in: Degraded, but no healthier endpoint can answer {record_type} (best effort)")
            }
            (Standing::Degraded, _) => match self.members().count() {
                1 => "out: Degraded, and 1 healthier endpoint is in the pool".to_owned(),
                many => format!("out: Degraded, and {many} healthier endpoints are in the pool"),
            },
            (Standing::Disabled, _) => "out: disabled by the operator".to_owned(),
            (Standing::Inactive, _) => "out: its profile is disabled".to_owned(),
            (Standing::Stopped, _) => "out: stopped by what it stands for".to_owned(),
            (Standing::Type, _) => {
                let family = if matches!(planned.target, Some(Target::V4(_))) { "IPv4" } else { "IPv6" };
                format!("out: an {family} address cannot answer {record_type}")
            }
        }
    }
}

/// Can an endpoint answer a type (RTE-2)? A name answers any, by CNAME.
fn fits(planned: &PlannedEndpoint, record_type: RecordType) -> bool {
    match &planned.target {
        None => false,
        Some(Target::Name(_)) => true,
        Some(Target::V4(_)) => record_type == RecordType::A,
        Some(Target::V6(_)) => record_type == RecordType::AAAA,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::plan;
    use EndpointStatus::{CheckingEndpoint, Degraded, Disabled, Inactive, Online, Stopped, Unmonitored};

    fn pool_of(statuses: &[(&str, EndpointStatus)], record_type: RecordType) -> (PoolKind, Vec<Standing>) {
        let plan = plan(statuses);
        let pool = Pool::of(&plan, record_type);
        (pool.kind(), plan.endpoints.iter().map(|planned| pool.standing(planned)).collect())
    }

    #[test]
    fn rte_3_the_pool_is_whoever_is_not_known_to_be_down() {
        let (kind, standings) = pool_of(
            &[
                ("192.0.2.1", Online),
                ("192.0.2.2", Degraded),
                ("192.0.2.3", CheckingEndpoint),
                ("192.0.2.4", Unmonitored),
                ("192.0.2.5", Disabled),
                ("192.0.2.6", Stopped),
            ],
            RecordType::A,
        );
        assert_eq!(kind, PoolKind::Healthy);
        assert_eq!(
            standings,
            [
                Standing::In,
                Standing::Degraded,
                Standing::In,
                Standing::In,
                Standing::Disabled,
                Standing::Stopped
            ]
        );
    }

    #[test]
    fn rte_3_all_degraded_ones_serve_when_nobody_better_is_left() {
        let (kind, standings) = pool_of(
            &[("192.0.2.1", Degraded), ("192.0.2.2", Degraded), ("192.0.2.3", Disabled)],
            RecordType::A,
        );
        assert_eq!(kind, PoolKind::BestEffort);
        assert_eq!(standings, [Standing::BestEffort, Standing::BestEffort, Standing::Disabled]);
    }

    #[test]
    fn rte_3_disabled_stopped_and_inactive_never_serve() {
        for status in [Disabled, Stopped, Inactive] {
            let (kind, standings) = pool_of(&[("192.0.2.1", status)], RecordType::A);
            assert_eq!(kind, PoolKind::Empty);
            assert!(!standings[0].is_in());
        }
    }

    #[test]
    fn rte_2_the_pool_is_cut_down_to_the_type_before_health_is_looked_at() {
        let statuses = [("192.0.2.1", Degraded), ("2001:db8::1", Online)];
        assert_eq!(
            pool_of(&statuses, RecordType::A),
            (PoolKind::BestEffort, vec![Standing::BestEffort, Standing::Type])
        );
        assert_eq!(
            pool_of(&statuses, RecordType::AAAA),
            (PoolKind::Healthy, vec![Standing::Type, Standing::In])
        );
        assert_eq!(pool_of(&statuses, RecordType(16)).0, PoolKind::Empty);
    }

    #[test]
    fn rte_2_a_name_answers_every_type() {
        for record_type in [RecordType::A, RecordType::AAAA, RecordType::CNAME, RecordType(16)] {
            assert_eq!(pool_of(&[("a.example.net", Online)], record_type).0, PoolKind::Healthy);
        }
    }

    #[test]
    fn rte_15_reasons_are_one_line_for_the_engineer_on_call() {
        let plan = plan(&[
            ("192.0.2.1", Degraded),
            ("192.0.2.2", Online),
            ("2001:db8::1", Online),
            ("192.0.2.3", Disabled),
        ]);
        let pool = Pool::of(&plan, RecordType::A);
        let reasons: Vec<String> = plan.endpoints.iter().map(|planned| pool.reason(planned)).collect();
        assert_eq!(
            reasons,
            [
                "out: Degraded, and 1 healthier endpoint is in the pool",
                "in: Online",
                "out: an IPv6 address cannot answer A",
                "out: disabled by the operator",
            ]
        );
    }
}
