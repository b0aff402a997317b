//! Which endpoints may be chosen for one query (RTE-2, RTE-3).

use super::Passed;
use crate::health::EndpointStatus;
use crate::model::{EndpointId, EndpointKind, RecordType, Target};
use crate::state::{Plan, PlannedEndpoint, Statuses, StatusesNear};

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
    /// Out: drained by an operator.
    Drained,
    /// Out: stopped by what it stands for.
    Stopped,
    /// Out: it cannot answer the type that is asked for.
    Type,
    /// Out: its child has nobody for this query.
    Passed,
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
    statuses: StatusesNear<'a>,
    record_type: RecordType,
    passed: Passed,
    kind: PoolKind,
}

impl<'a> Pool<'a> {
    /// The pool of `plan` for `record_type`, as if `passed` were not there; the first row that applies (RTE-3).
    ///
    /// | other endpoints that can answer the type and are not drained | kind |
    /// |---|---|
    /// | any Online, CheckingEndpoint or Unmonitored | Healthy: those |
    /// | any Degraded | BestEffort: all the Degraded ones |
    /// | only Disabled, Inactive or Stopped, or none | Empty |
    pub fn of(plan: &'a Plan, statuses: &'a Statuses, record_type: RecordType, passed: Passed) -> Self {
        let first = plan.endpoints.first().map_or(EndpointId(0), |planned| planned.id);
        let statuses = statuses.near(first);
        let mut kind = PoolKind::Empty;
        for (position, planned) in plan.endpoints.iter().enumerate() {
            if passed.contains(position) || !planned.serves.fits(record_type) || planned.is_drained() {
                continue;
            }
            match statuses.get(planned.id) {
                EndpointStatus::Online | EndpointStatus::CheckingEndpoint | EndpointStatus::Unmonitored => {
                    kind = PoolKind::Healthy;
                    break;
                }
                EndpointStatus::Degraded => kind = PoolKind::BestEffort,
                EndpointStatus::Disabled | EndpointStatus::Inactive | EndpointStatus::Stopped => {}
            }
        }
        Self { plan, statuses, record_type, passed, kind }
    }

    /// What the pool is made of.
    pub fn kind(&self) -> PoolKind {
        self.kind
    }

    /// The status of the endpoint at `position`.
    pub fn status(&self, position: usize) -> EndpointStatus {
        self.statuses.get(self.plan.endpoints[position].id)
    }

    /// Who is in it, in the profile's order, with their positions there.
    pub fn members(self) -> impl Iterator<Item = (usize, &'a PlannedEndpoint)> + Clone {
        let is_in = move |(position, _): &(usize, &PlannedEndpoint)| self.standing(*position).is_in();
        self.plan.endpoints.iter().enumerate().filter(is_in)
    }

    /// Whether the endpoint at `position` is in the pool; the first row that applies.
    ///
    /// | status | can answer the type | pool | standing |
    /// |---|---|---|---|
    /// | Disabled, Inactive, Stopped | – | – | out, by that status |
    /// | any other, but drained | – | – | out, drained |
    /// | any other | no | – | out, by type |
    /// | any other | yes, but its child has nobody | – | out, passed over |
    /// | Online, CheckingEndpoint, Unmonitored | yes | Healthy | in |
    /// | Degraded | yes | Healthy | out: others are better |
    /// | Degraded | yes | BestEffort | in |
    pub fn standing(&self, position: usize) -> Standing {
        let planned = &self.plan.endpoints[position];
        match self.status(position) {
            EndpointStatus::Disabled => Standing::Disabled,
            EndpointStatus::Inactive => Standing::Inactive,
            EndpointStatus::Stopped => Standing::Stopped,
            _ if planned.is_drained() => Standing::Drained,
            _ if !planned.serves.fits(self.record_type) => Standing::Type,
            _ if self.passed.contains(position) => Standing::Passed,
            EndpointStatus::Online | EndpointStatus::CheckingEndpoint | EndpointStatus::Unmonitored => {
                Standing::In
            }
            EndpointStatus::Degraded if self.kind == PoolKind::BestEffort => Standing::BestEffort,
            EndpointStatus::Degraded => Standing::Degraded,
        }
    }

    /// Why the endpoint at `position` is in or out, in one line.
    pub fn reason(&self, position: usize) -> String {
        let record_type = self.record_type;
        let planned = &self.plan.endpoints[position];
        match (self.standing(position), self.status(position)) {
            (Standing::In, status) if planned.overridden.is_some() => {
                format!("in: {}, forced by an operator", status.as_str())
            }
            (Standing::In, EndpointStatus::CheckingEndpoint) => {
                "in: CheckingEndpoint, which counts as available until something is known".to_owned()
            }
            (Standing::In, EndpointStatus::Unmonitored) => "in: Unmonitored, so always served".to_owned(),
            (Standing::In, status) => format!("in: {}", status.as_str()),
            (Standing::BestEffort, _) => {
                format!("in: Degraded, but no healthier endpoint can answer {record_type} (best effort)")
            }
            (Standing::Drained, status) => {
                format!("out: drained by an operator, whatever its status ({})", status.as_str())
            }
            (Standing::Degraded, _) => match self.members().count() {
                1 => "out: Degraded, and 1 healthier endpoint is in the pool".to_owned(),
                many => format!("out: Degraded, and {many} healthier endpoints are in the pool"),
            },
            (Standing::Disabled, _) => "out: disabled by the operator".to_owned(),
            (Standing::Inactive, _) => "out: its profile is disabled".to_owned(),
            (Standing::Stopped, _) => stopped(&planned.endpoint.kind),
            (Standing::Type, _) => match &planned.target {
                None => format!("out: nobody in its profile can answer {record_type}"),
                Some(name) if planned.is_flattened => unflattened(name, planned, record_type),
                Some(Target::V6(_)) => format!("out: an IPv6 address cannot answer {record_type}"),
                Some(_) => format!("out: an IPv4 address cannot answer {record_type}"),
            },
            (Standing::Passed, _) => "out: its profile has nobody for this client".to_owned(),
        }
    }
}

/// Why a flattened endpoint cannot answer (DNS-16).
fn unflattened(name: &Target, planned: &PlannedEndpoint, record_type: RecordType) -> String {
    match (record_type, &planned.flattened) {
        (RecordType::A | RecordType::AAAA, None) => format!("out: {name} is not resolved yet"),
        (RecordType::A | RecordType::AAAA, Some(_)) => {
            format!("out: {name} has no address that can answer {record_type}")
        }
        _ => format!("out: flattened, by addresses, which cannot answer {record_type}"),
    }
}

/// What an endpoint that is Stopped was stopped by: what it stands for (STA-8, STA-10).
fn stopped(kind: &EndpointKind) -> String {
    match kind {
        EndpointKind::Service(service) => format!("out: service '{service}' is stopped"),
        EndpointKind::Nested(child) => {
            format!("out: profile '{}' is disabled, or has no enabled endpoint", child.profile)
        }
        EndpointKind::External(_) => "out: stopped".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{overridden, plan};
    use crate::model::OverrideKind;
    use EndpointStatus::{CheckingEndpoint, Degraded, Disabled, Inactive, Online, Stopped, Unmonitored};

    fn pool_of(statuses: &[(&str, EndpointStatus)], record_type: RecordType) -> (PoolKind, Vec<Standing>) {
        let (plan, statuses) = plan(statuses);
        let pool = Pool::of(&plan, &statuses, record_type, Passed::default());
        (pool.kind(), (0..plan.endpoints.len()).map(|position| pool.standing(position)).collect())
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
    fn sta_13_whoever_is_drained_is_in_no_pool_and_is_told_of() {
        let statuses = [
            ("192.0.2.1", Online),
            ("192.0.2.2", Degraded),
            ("192.0.2.3", Unmonitored),
            ("192.0.2.4", Stopped),
        ];
        let kinds = |drained: &[usize]| {
            let (mut plan, statuses) = plan(&statuses);
            drained
                .iter()
                .for_each(|at| plan.endpoints[*at].overridden = Some(overridden(OverrideKind::Drain)));
            let pool = Pool::of(&plan, &statuses, RecordType::A, Passed::default());
            (pool.kind(), pool.members().map(|(position, _)| position).collect::<Vec<_>>())
        };
        assert_eq!(kinds(&[]), (PoolKind::Healthy, vec![0, 2]));
        assert_eq!(kinds(&[0]), (PoolKind::Healthy, vec![2]));
        assert_eq!(kinds(&[0, 2]), (PoolKind::BestEffort, vec![1]), "not in the way of the best effort");
        assert_eq!(kinds(&[0, 1, 2, 3]), (PoolKind::Empty, vec![]), "nor in it");

        let (mut plan, statuses) = plan(&statuses);
        for (endpoint, kind) in plan.endpoints.iter_mut().zip([OverrideKind::Drain, OverrideKind::ForceUp]) {
            endpoint.overridden = Some(overridden(kind));
        }
        plan.endpoints[3].overridden = Some(overridden(OverrideKind::Drain));
        let pool = Pool::of(&plan, &statuses, RecordType::A, Passed::default());
        assert_eq!(pool.reason(0), "out: drained by an operator, whatever its status (Online)");
        assert_eq!(pool.standing(3), Standing::Stopped, "it is out already");
    }

    #[test]
    fn rte_15_reasons_are_one_line_for_the_engineer_on_call() {
        let (mut plan, statuses) = plan(&[
            ("192.0.2.1", Degraded),
            ("192.0.2.2", Online),
            ("2001:db8::1", Online),
            ("192.0.2.3", Disabled),
            ("192.0.2.4", Stopped),
        ]);
        plan.endpoints[4].endpoint.edit(|endpoint| endpoint.kind = EndpointKind::Service("shop".into()));
        let pool = Pool::of(&plan, &statuses, RecordType::A, Passed::default());
        let reasons: Vec<String> = (0..5).map(|position| pool.reason(position)).collect();
        assert_eq!(
            reasons,
            [
                "out: Degraded, and 1 healthier endpoint is in the pool",
                "in: Online",
                "out: an IPv6 address cannot answer A",
                "out: disabled by the operator",
                "out: service 'shop' is stopped",
            ]
        );
    }
}
