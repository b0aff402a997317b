//! `performance`: by the operator's row, by what was learned, by distance, as one region (RTE-7).

use super::client::{CALIFORNIA, DE, FR, NOWHERE};
use super::*;
use crate::health::EndpointStatus::{Degraded, Online};

fn regions(statuses: [EndpointStatus; 4]) -> View {
    let (mut state, _) = state_with(
        Routing::Performance,
        &[
            ("192.0.2.1", statuses[0], |endpoint| endpoint.location = Some(Caseless::new("frankfurt"))),
            ("192.0.2.2", statuses[1], |endpoint| endpoint.location = Some(Caseless::new("frankfurt"))),
            ("192.0.2.3", statuses[2], |endpoint| endpoint.location = Some(Caseless::new("paris"))),
            ("192.0.2.4", statuses[3], |endpoint| endpoint.location = Some(Caseless::new("oregon"))),
        ],
    );
    set_region(&mut state, "frankfurt", 50, 9);
    set_region(&mut state, "paris", 49, 2);
    set_region(&mut state, "oregon", 46, -120);
    set_row(&mut state, "198.51.100.0/24", &[("oregon", 5), ("paris", 7)]);
    set_row(&mut state, "198.51.100.64/26", &[("paris", 3)]);
    // Of a region in which nobody lives.
    set_row(&mut state, "192.0.2.0/25", &[("sydney", 9)]);
    located(state)
}

#[test]
fn rte_7_the_row_then_the_distance_then_one_region() {
    let view = regions([Online, Degraded, Online, Online]);
    assert_eq!(answer_for(&view, DE), "192.0.2.4", "5 ms");
    assert_eq!(answer_for(&view, "198.51.100.70"), "192.0.2.3", "the longest match");
    assert_eq!(answer_for(&view, FR), "192.0.2.3", "no row: by distance");
    assert_eq!(answer_for(&view, CALIFORNIA), "192.0.2.4", "no row: by distance");
    let rules = [DE, FR, NOWHERE].map(|client| rule_for(&view, client));
    assert_eq!(
        rules[0],
        "performance: by the latency row 198.51.100.0/24, 'oregon' is nearest, 5 ms, with 'e4'"
    );
    assert!(
        rules[1].starts_with("performance: no latency row; from FR, 'paris' is nearest, "),
        "{}",
        rules[1]
    );
    assert!(rules[2].contains("all endpoints count as one region; 3 endpoints share it"), "{}", rules[2]);
}

/// What was measured counts for those of whom the operator says nothing, and only if every region of the pool was: a far
/// one is not preferred because the near one has not been.
#[test]
fn rte_7_a_learned_row_counts_where_it_knows_the_whole_pool() {
    let mut view = regions([Online, Degraded, Online, Online]);
    let everywhere = &[("frankfurt", 40), ("oregon", 2), ("paris", 41)];
    set_learned(&mut view.state, "198.51.100.0/24", &[("frankfurt", 1), ("oregon", 9), ("paris", 9)]);
    set_learned(&mut view.state, "198.51.101.0/24", everywhere);
    set_learned(&mut view.state, "198.51.102.0/24", &everywhere[..2]);
    assert_eq!(answer_for(&view, DE), "192.0.2.4", "the operator's row goes first");
    assert_eq!(answer_for(&view, FR), "192.0.2.4", "2 ms");
    assert_eq!(
        rule_for(&view, FR),
        "performance: by the learned latency row 198.51.101.0/24, 'oregon' is nearest, 2 ms, with 'e4'"
    );
    assert_eq!(decide_for(&view, "198.51.101.0/28").answer.scope, Some(24), "all who have the row");
    let rule = rule_for(&view, "198.51.102.7");
    assert!(
        rule.starts_with(
            "performance: the learned latency row 198.51.102.0/24 lacks 'paris', a region of the pool, "
        ),
        "{rule}"
    );
    assert_eq!(rule_for(&regions([Online, Degraded, Degraded, Online]), FR).matches("learned").count(), 0);
    let mut without_paris = regions([Online, Degraded, Degraded, Online]);
    set_learned(&mut without_paris.state, "198.51.101.0/24", &everywhere[..2]);
    assert_eq!(answer_for(&without_paris, FR), "192.0.2.4", "of the pool's regions none is lacking");
}

/// Endpoints that share a region keep their clients when a row is learned or forgotten.
#[test]
fn rte_7_learning_moves_nobody_within_a_region() {
    let pool = [Online, Online, Degraded, Degraded];
    let clients = |third: u32| format!("198.51.{}.7", 103 + third);
    let before: Vec<String> = (0..40).map(|third| answer_for(&regions(pool), &clients(third))).collect();
    let mut view = regions(pool);
    for third in 0..40 {
        set_learned(&mut view.state, &format!("198.51.{}.0/24", 103 + third), &[("frankfurt", 5)]);
    }
    let after: Vec<String> = (0..40).map(|third| answer_for(&view, &clients(third))).collect();
    assert_eq!(after, before);
    assert!(after.contains(&"192.0.2.1".to_owned()) && after.contains(&"192.0.2.2".to_owned()));
}

#[test]
fn rte_7_regions_that_the_row_lacks_come_last_by_distance() {
    assert_eq!(answer_for(&regions([Online, Degraded, Degraded, Degraded]), DE), "192.0.2.1");
    // Only 'paris' is in that row; without it Frankfurt is nearer to Germany than Oregon.
    assert_eq!(answer_for(&regions([Online, Degraded, Degraded, Online]), "198.51.100.70"), "192.0.2.1");
    assert_eq!(answer_for(&regions([Online, Degraded, Online, Degraded]), DE), "192.0.2.3", "7 ms");
}

/// A row that says nothing of the pool's regions is as good as none: without a place either, the whole pool is one region,
/// and no region is preferred for its name.
#[test]
fn rte_7_a_row_without_the_pools_regions_and_no_place_is_one_region() {
    let mut view = regions([Online, Online, Online, Online]);
    let rule = rule_for(&view, NOWHERE);
    assert!(
        rule.starts_with(
            "performance: the latency row 192.0.2.0/25 has no region of the pool, and the client's place is unknown, \
             so all endpoints count as one region; 4 endpoints share it, "
        ),
        "{rule}"
    );
    assert!(rule.ends_with(" has 192.0.2.0/25"), "by the row, as everywhere: {rule}");
    let mut served = std::collections::BTreeMap::new();
    for third in 0..=255 {
        set_row(&mut view.state, &format!("100.64.{third}.0/24"), &[("sydney", 9)]);
        *served.entry(answer_for(&view, &format!("100.64.{third}.7"))).or_insert(0) += 1;
    }
    assert_eq!(served.len(), 4, "{served:?}");
    assert!(served.values().all(|count| (40..=90).contains(count)), "an even share: {served:?}");
    let scope = decide_for(&view, "192.0.2.0/28").answer.scope;
    assert_eq!(scope, Some(25), "all who have the row");
}

/// What depends on regions' points alone is in the plans: a query looks no region up, neither to rank nor for the scope.
#[test]
fn rte_7_a_query_ranks_by_what_is_prepared() {
    let mut view = regions([Online, Online, Online, Online]);
    let asked = ["198.51.101.0/24", "198.51.100.64/26", "203.0.113.0/24", "192.0.2.0/28"];
    let before = asked.map(|client| decide_for(&view, client).answer);
    view.state.regions.clear();
    assert_eq!(asked.map(|client| decide_for(&view, client).answer), before);
}

/// A region that moves is as far away at once as it says, for whoever lives there by themselves or by a service.
#[test]
fn rte_7_a_region_that_moves_is_elsewhere_at_once() {
    let before = regions([Online, Online, Online, Online]);
    assert_eq!(answer_for(&before, FR), "192.0.2.3");
    let mut state = before.state.clone();
    set_region(&mut state, "paris", -80, 0);
    set_region(&mut state, "oregon", 47, 3);
    let moved = ["PARIS", "oregon"].map(|name| crate::state::Change::Region(Caseless::new(name)));
    let after = before.after(state, &moved, crate::model::LogIndex(9));
    after.verify(&before);
    assert_eq!(answer_for(&after, FR), "192.0.2.4");
    assert_eq!(answer_for(&before, FR), "192.0.2.3", "what was read before stays");
}

/// F-RTE-10: several endpoints in one region share it, each neighbourhood always with the same one.
#[test]
fn rte_7_one_client_keeps_its_endpoint() {
    let view = regions([Online, Online, Degraded, Degraded]);
    let mut served = [0, 0];
    for third in 0..=255 {
        let client = |last| format!("100.64.{third}.{last}");
        let answer = answer_for(&view, &client(1));
        for last in [0, 77, 255] {
            assert_eq!(answer_for(&view, &client(last)), answer, "the same /24");
        }
        served[usize::from(answer == "192.0.2.2")] += 1;
    }
    assert!(served.iter().all(|count| (90..=166).contains(count)), "an even share: {served:?}");
}
