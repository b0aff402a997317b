//! `multivalue`: how many, which, and in what order.

use std::collections::BTreeMap;

use super::*;
use crate::answer::decide;
use crate::health::EndpointStatus::{Degraded, Online};
use crate::routing::NoTrace;

fn multivalue(max_return: Option<u32>, statuses: &[EndpointStatus]) -> View {
    let mut state = example_state();
    let targets: Vec<String> = (1..=statuses.len()).map(|last| format!("192.0.2.{last}")).collect();
    let endpoints: Vec<_> = targets.iter().map(String::as_str).zip(statuses.iter().copied()).collect();
    let id = add_profile(&mut state, "example.com", "web", &endpoints);
    edit_profile(&mut state, id, |profile| {
        profile.routing = Routing::Multivalue;
        profile.max_return = max_return;
    });
    view(state)
}

fn draw(view: &View, draw: u64) -> Vec<String> {
    let answer = decide(view, &query("web.example.com", RecordType::A), draw, &mut NoTrace);
    answer.answers.iter().map(|record| record.data.to_string()).collect()
}

/// F-RTE-21.
#[test]
fn rte_9_at_most_max_return_of_the_pool() {
    let count = |max_return, statuses: &[EndpointStatus]| draw(&multivalue(max_return, statuses), 3).len();
    assert_eq!(count(None, &[Online; 5]), 2);
    assert_eq!(count(Some(8), &[Online; 3]), 3);
    assert_eq!(count(Some(8), &[Online; 8]), 8);
    assert_eq!(count(Some(8), &[Online; 40]), 8);
    assert_eq!(count(Some(1), &[Online; 200]), 1);
    assert_eq!(draw(&multivalue(Some(8), &[Degraded, Online, Degraded]), 3), ["192.0.2.2"]);
    assert_eq!(count(Some(8), &[Degraded; 4]), 4, "best effort");
    assert_eq!(count(None, &[]), 0);
}

/// Pearson's statistic over every ordered choice of 2 among 4, each as likely as any other; the bound is its 99.9 %
/// point. The draws are fixed, so this either always holds or never.
#[test]
fn rte_9_each_set_and_each_order_is_as_likely_as_any_other() {
    const DRAWS: u64 = 60_000;
    let view = multivalue(Some(2), &[Online; 4]);
    let mut counts: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for seed in 0..DRAWS {
        *counts.entry(draw(&view, crate::routing::mix(seed, 0, ProfileId(9), 0))).or_default() += 1;
    }
    assert_eq!(counts.len(), 12);
    let expected = DRAWS as f64 / 12.0;
    let deviation: f64 = counts.values().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
    assert!(deviation < 31.26, "{deviation}: {counts:?}");
}
