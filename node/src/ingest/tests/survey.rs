//! Whom an agent is asked to measure, and what it may tell of.

use waymark_core::model::Timestamp;
use waymark_proto::agent::v1::{Measure, Measured};

use super::stage::Stage;
use crate::ingest::survey::Survey;
use crate::measurements::Measurements;

const ASKERS: [&str; 3] = ["198.51.100.7", "203.0.113.7", "2001:db8::7"];
const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// A survey that was begun, after which each of the askers asked, the first most.
fn survey(measurements: &Measurements, stage: &Stage, queries_per_minute: u32) -> Survey {
    let mut survey = Survey::new(measurements.clone(), "eu", queries_per_minute);
    survey.tick(&stage.view(), 0, NOW);
    assert!(!survey.has_request(), "nobody has asked yet");
    for (times, asker) in ASKERS.iter().rev().enumerate() {
        (0..=times).for_each(|_| measurements.note_asker(asker.parse().expect("an address")));
    }
    survey
}

/// RTE-7: within the agent's budget, those first who asked most; once a minute, by a name that says what it is for.
#[tokio::test]
async fn rte_7_an_agent_is_asked_within_its_budget() {
    let stage = Stage::new(1, 1);
    for (queries, resolvers) in [(0, 0), (2, 0), (3, 1), (8, 2), (600, 3)] {
        let measurements = Measurements::default();
        let mut survey = survey(&measurements, &stage, queries);
        // Nobody counts askers for an agent that measures nothing.
        measurements.busiest(&stage.view().state, &"eu".into(), NOW);
        survey.tick(&stage.view(), 59_999, NOW);
        assert!(!survey.has_request());
        survey.tick(&stage.view(), 60_000, NOW);
        let asked = ASKERS[..resolvers].iter().map(ToString::to_string).collect();
        let request = Measure { resolvers: asked, name: "latency-measurement.tm.example.com".into() };
        assert_eq!(survey.request(), (resolvers > 0).then_some(request), "{queries} queries in a minute");
        assert_eq!(survey.next_ms().is_some(), resolvers > 0);
        // Whether they answered or not: next come those who were not asked yet, and an hour later all.
        survey.tick(&stage.view(), 120_000, NOW);
        let next = survey.request().map_or(0, |request| request.resolvers.len());
        assert_eq!(next, resolvers.min(ASKERS.len() - resolvers), "{queries} queries in a minute");
        survey.tick(&stage.view(), 3_600_000 + 120_000, NOW);
        assert_eq!(survey.request().map_or(0, |request| request.resolvers.len()), resolvers);
    }
}

/// RTE-7, SEC-6: an agent tells of those whom it was asked about, and of nobody else.
#[tokio::test]
async fn rte_7_what_an_agent_was_not_asked_for_counts_for_nothing() {
    let (stage, measurements) = (Stage::new(1, 1), Measurements::default());
    let mut survey = survey(&measurements, &stage, 3);
    let found =
        |resolver: &str, samples| Measured { resolver: resolver.into(), microseconds: 9_000, samples };
    let is_open = |resolver: &str| {
        let all = measurements.news(&stage.view().state, NOW);
        let network = waymark_core::state::LearnedTable::network_of(resolver.parse().expect("an address"));
        all.values().all(|found| found.iter().all(|(known, _)| *known != network))
    };
    survey.take(&found(ASKERS[0], 3));
    assert!(is_open(ASKERS[0]), "before it was asked");
    survey.tick(&stage.view(), 60_000, NOW);
    for (resolver, samples) in [(ASKERS[1], 3), ("nobody", 3), (ASKERS[0], 2)] {
        survey.take(&found(resolver, samples));
    }
    assert!(is_open(ASKERS[0]) && is_open(ASKERS[1]));
    survey.take(&found(ASKERS[0], 99));
    assert!(!is_open(ASKERS[0]));
}
