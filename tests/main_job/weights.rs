//! Weighted answers, counted.

use std::collections::BTreeMap;

use crate::scene::{Scene, ZONE};

const QUERIES: u32 = 2_000;

/// RTE-6: 80 to 20, within three percent of 2,000 queries, on every member together.
#[test]
fn weighted_answers_are_shared_by_weight() {
    let scene = Scene::new(&["r1"], 2);
    let settings = "--routing weighted --interval 1s --timeout 500ms --ttl 5";
    scene.profile("api", settings, |at| format!("--weight {}", if at == 0 { 80 } else { 20 }));
    scene.becomes("api", "e1", "Online");
    scene.becomes("api", "e2", "Online");

    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for query in 0..QUERIES {
        let member = &scene.cluster.members[query as usize % 3];
        *seen.entry(harness::dns::short(member.dns, &format!("api.{ZONE}"), "A")).or_default() += 1;
    }
    let first = f64::from(seen[&scene.endpoints[0].ip().to_string()]) / f64::from(QUERIES);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!((0.77..=0.83).contains(&first), "{seen:?}");
}
