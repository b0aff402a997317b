//! The method `priority` (RTE-5): the lowest number in the pool, alone.
//!
//! | pool | chosen |
//! |---|---|
//! | empty | nobody |
//! | any | the endpoint with the lowest number; no two are alike (SET-12) |

use crate::state::PlannedEndpoint;

/// The position of the endpoint that is chosen among `pool`.
pub(super) fn choose<'a>(pool: impl Iterator<Item = (usize, &'a PlannedEndpoint)>) -> Option<usize> {
    pool.min_by_key(|(_, planned)| planned.priority).map(|(position, _)| position)
}

/// Why `chosen` was, in one line.
pub(super) fn rule(chosen: &PlannedEndpoint) -> String {
    format!("priority: '{}' has the lowest number in the pool, {}", chosen.endpoint.name, chosen.priority)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::plan;
    use crate::health::EndpointStatus::{Degraded, Online};
    use crate::model::RecordType;
    use crate::routing::{Passed, Pool};

    #[test]
    fn rte_5_the_lowest_number_in_the_pool_whatever_its_position() {
        let (mut plan, statuses) =
            plan(&[("192.0.2.1", Online), ("192.0.2.2", Online), ("192.0.2.3", Degraded)]);
        for (planned, priority) in plan.endpoints.iter_mut().zip([20, 10, 1]) {
            planned.priority = priority;
        }
        let chosen = choose(Pool::of(&plan, &statuses, RecordType::A, Passed::default()).members());
        assert_eq!(chosen, Some(1), "the third is lower, but not in the pool");
        assert_eq!(rule(&plan.endpoints[1]), "priority: 'e2' has the lowest number in the pool, 10");
        assert_eq!(choose(std::iter::empty()), None);
    }
}
