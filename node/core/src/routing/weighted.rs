//! The method `weighted` (RTE-6): a draw for each query, each endpoint as likely as its weight.
//!
//! | pool | chosen |
//! |---|---|
//! | empty | nobody |
//! | weights w₁ … wₙ, sum W | the first endpoint i with draw · W ÷ 2⁶⁴ < w₁ + … + wᵢ, so p(i) = wᵢ ÷ W |
//!
//! The product takes 128 bits, so no draw is cast again and no remainder favours anybody: the chances are off by less
//! than W ÷ 2⁶⁴, with W at most 200 · 1,000.

use crate::state::PlannedEndpoint;

/// The position of the endpoint that is chosen among `pool` by `draw`, 64 even random bits.
pub(super) fn choose<'a>(
    pool: impl Iterator<Item = (usize, &'a PlannedEndpoint)> + Clone,
    draw: u64,
) -> Option<usize> {
    let mut left = place_among(total(pool.clone()), draw);
    for (position, planned) in pool {
        let weight = u64::from(planned.weight);
        if left < weight {
            return Some(position);
        }
        left -= weight;
    }
    None
}

/// Where `draw` falls among weights of that sum: below it, each place as likely as any other.
pub(crate) fn place_among(sum: u64, draw: u64) -> u64 {
    ((u128::from(draw) * u128::from(sum)) >> 64) as u64
}

/// Why `chosen` was, in one line.
pub(super) fn rule<'a>(
    pool: impl Iterator<Item = (usize, &'a PlannedEndpoint)>,
    chosen: &PlannedEndpoint,
) -> String {
    let (name, weight) = (&chosen.endpoint.name, chosen.weight);
    format!("weighted: the draw fell on '{name}', weight {weight} of {} in the pool", total(pool))
}

fn total<'a>(pool: impl Iterator<Item = (usize, &'a PlannedEndpoint)>) -> u64 {
    pool.map(|(_, planned)| u64::from(planned.weight)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::plan;
    use crate::health::EndpointStatus::{self, Degraded, Online};
    use crate::model::{ProfileId, RecordType};
    use crate::routing::{Passed, Pool, mix};
    use crate::state::{Plan, Statuses};

    /// A profile of endpoints with these weights, of which the first has `status` and the others are Online.
    fn weighted(weights: &[Option<u32>], status: EndpointStatus) -> (Plan, Statuses) {
        let targets: Vec<String> = (1..=weights.len()).map(|last| format!("192.0.2.{last}")).collect();
        let statuses = std::iter::once(status).chain(std::iter::repeat(Online));
        let endpoints: Vec<_> = targets.iter().map(String::as_str).zip(statuses).collect();
        let (mut plan, statuses) = plan(&endpoints);
        for (planned, weight) in plan.endpoints.iter_mut().zip(weights) {
            planned.weight = weight.unwrap_or(1);
        }
        (plan, statuses)
    }

    /// Pearson's statistic of `draws` draws against the weights.
    fn chi_square((plan, statuses): &(Plan, Statuses), draws: u64) -> f64 {
        let pool = Pool::of(plan, statuses, RecordType::A, Passed::default());
        let mut counts = vec![0_u64; plan.endpoints.len()];
        for draw in 0..draws {
            let chosen = choose(pool.members(), mix(draw, 0, ProfileId(1), 0)).expect("a full pool");
            counts[chosen] += 1;
        }
        let total = total(pool.members()) as f64;
        let deviation = |(planned, count): (&PlannedEndpoint, u64)| {
            let expected = draws as f64 * f64::from(planned.weight) / total;
            (count as f64 - expected).powi(2) / expected
        };
        plan.endpoints.iter().zip(counts).map(deviation).sum()
    }

    #[test]
    fn rte_6_each_is_as_likely_as_its_weight() {
        // The draws are fixed, so this either always holds or never; the bounds are the 99.9 % points of chi-square.
        for (weights, bound) in [
            (vec![Some(80), Some(20)], 10.83),
            (vec![None, None, Some(1), Some(1)], 16.27),
            (vec![Some(1), Some(1_000)], 10.83),
            (vec![Some(1), Some(2), Some(3), Some(4), Some(5), Some(1_000)], 20.52),
        ] {
            let deviation = chi_square(&weighted(&weights, Online), 200_000);
            assert!(deviation < bound, "{weights:?}: {deviation} is not below {bound}");
        }
    }

    #[test]
    fn rte_6_only_the_pools_weights_count() {
        let (plan, statuses) = weighted(&[Some(1_000), Some(1), Some(1)], Degraded);
        let pool = Pool::of(&plan, &statuses, RecordType::A, Passed::default());
        assert_eq!(choose(pool.members(), 0), Some(1));
        assert_eq!(choose(pool.members(), u64::MAX / 2), Some(1));
        assert_eq!(choose(pool.members(), u64::MAX / 2 + 1), Some(2));
        assert_eq!(choose(pool.members(), u64::MAX), Some(2));
        assert_eq!(
            rule(pool.members(), &plan.endpoints[2]),
            "weighted: the draw fell on 'e3', weight 1 of 2 in the pool"
        );
    }

    #[test]
    fn nobody_is_chosen_from_an_empty_pool() {
        assert_eq!(choose(std::iter::empty(), 7), None);
    }
}
