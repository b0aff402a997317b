//! What a client is answered, and why.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use anyhow::{Context, Result, ensure};
use waymark_core::answer::{Answer, Query, Record, RecordType, decide};
use waymark_core::explain::ProfileExplanation;
use waymark_core::model::Name;
use waymark_core::routing::NoTrace;
use waymark_core::state::View;

use crate::arguments::Arguments;
use crate::show;
use crate::world::World;

/// The client when none is named.
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7));

/// An answer like dig's. The view that grew change by change must say what one built from the state says.
pub(crate) fn ask(world: &World, arguments: &mut Arguments) -> Result<Vec<String>> {
    let (query, draw) = query(arguments)?;
    let answer = decide(&world.view, &query, draw, &mut NoTrace);
    let afresh = decide(&View::of(world.state.clone(), world.view.applied), &query, draw, &mut NoTrace);
    ensure!(answer == afresh, "the view that was kept up to date answers {answer:?}, a fresh one {afresh:?}");
    Ok(describe(&answer))
}

/// The same answer with its reasons.
pub(crate) fn explain(world: &World, arguments: &mut Arguments) -> Result<Vec<String>> {
    let (query, draw) = query(arguments)?;
    let explanation = waymark_core::explain::explain(&world.view, &query, draw);
    let answer = decide(&world.view, &query, draw, &mut NoTrace);
    ensure!(answer == explanation.answer, "explain answers {:?}, decide {answer:?}", explanation.answer);
    let mut lines = vec![match &explanation.zone {
        Some(zone) => format!("zone {zone}"),
        None => "no zone of ours".to_owned(),
    }];
    lines.extend(explanation.profiles.iter().flat_map(explain_profile));
    lines.push(format!("because {}", explanation.reason));
    lines.extend(describe(&answer));
    Ok(lines)
}

fn explain_profile(asked: &ProfileExplanation) -> Vec<String> {
    let profile = &asked.plan.profile;
    let pool = asked.pool.as_str();
    let level = if asked.depth == 0 { String::new() } else { format!(", nested {} deep", asked.depth) };
    let mut lines =
        vec![format!("profile {} at revision {}, pool {pool}{level}", profile.name, profile.revision)];
    for (planned, explained) in asked.plan.endpoints.iter().zip(&asked.endpoints) {
        let regions = show::describe_regions(&explained.regions);
        let regions = if regions.is_empty() { regions } else { format!("; {regions}") };
        lines.push(format!("  {} {}{regions}", planned.endpoint.name, explained.reason));
    }
    lines.push(format!("  draw {:016x}: {}", asked.draw, asked.rule));
    lines
}

/// How often each answer section comes out of as many draws.
pub(crate) fn count(world: &World, arguments: &mut Arguments) -> Result<Vec<String>> {
    let draws: u64 = arguments.number("draws")?.context("draws= is missing")?;
    let (query, _) = query(arguments)?;
    let mut counts = BTreeMap::<String, u64>::new();
    for draw in 0..draws {
        let answer = decide(&world.view, &query, draw, &mut NoTrace);
        let data: Vec<String> = answer.answers.iter().map(|record| record.data.to_string()).collect();
        *counts.entry(data.join(" → ")).or_default() += 1;
    }
    Ok(counts.into_iter().map(|(data, count)| format!("{count} × {data}")).collect())
}

fn query(arguments: &mut Arguments) -> Result<(Query, u64)> {
    let name = Name::parse(&arguments.next("the name")?)?;
    let record_type = arguments.rest().first().map_or(Ok(RecordType::A), |word| word.parse())?;
    let source = arguments.take("from").map(|text| text.parse()).transpose()?.unwrap_or(CLIENT);
    let subnet = arguments.take("subnet").map(|text| text.parse()).transpose()?;
    let draw = arguments.number("draw")?.unwrap_or(0);
    Ok((Query { name, record_type, source, subnet }, draw))
}

fn describe(answer: &Answer) -> Vec<String> {
    let rcode = answer.rcode.as_str();
    let authoritative = if answer.authoritative { " aa" } else { "" };
    let scope = answer.scope.map(|scope| format!(" scope /{scope}")).unwrap_or_default();
    let mut lines = vec![format!("{rcode}{authoritative}{scope}")];
    lines.extend(answer.answers.iter().map(|record| format!("  {}", describe_record(record))));
    lines.extend(answer.authority.iter().map(|record| format!("  authority {}", describe_record(record))));
    lines.extend(answer.additional.iter().map(|record| format!("  additional {}", describe_record(record))));
    lines
}

fn describe_record(record: &Record) -> String {
    let Record { name, ttl, data } = record;
    format!("{name} {ttl} {} {data}", data.record_type())
}
