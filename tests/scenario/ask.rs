//! What a client is answered, and why.

use std::net::{IpAddr, Ipv4Addr};

use anyhow::{Result, ensure};
use waymark_core::answer::{Answer, Query, Rcode, Record, RecordData, RecordType, decide};
use waymark_core::model::Name;
use waymark_core::routing::NoTrace;
use waymark_core::state::View;

use crate::arguments::Arguments;
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
    for asked in &explanation.profiles {
        let profile = &asked.plan.profile;
        lines.push(format!(
            "profile {} at revision {}, pool {:?}",
            profile.name, profile.revision, asked.pool
        ));
        let chosen = asked.chosen.and_then(|place| profile.endpoints.get(place));
        let chosen = chosen.map_or("nobody".to_owned(), |endpoint| endpoint.name.to_string());
        for (endpoint, explanation) in profile.endpoints.iter().zip(&asked.endpoints) {
            lines.push(format!("  {} {}", endpoint.name, explanation.reason));
        }
        lines.push(format!("  chosen {chosen}: {}", asked.rule));
    }
    lines.push(format!("because {}", explanation.reason));
    lines.extend(describe(&answer));
    Ok(lines)
}

fn query(arguments: &mut Arguments) -> Result<(Query, u64)> {
    let name = Name::parse(&arguments.next("the name")?)?;
    let record_type = arguments.rest().first().map_or(Ok(RecordType::A), |word| word.parse())?;
    let source = arguments.take("from").map(|text| text.parse()).transpose()?.unwrap_or(CLIENT);
    let draw = arguments.number("draw")?.unwrap_or(0);
    Ok((Query { name, record_type, source }, draw))
}

fn describe(answer: &Answer) -> Vec<String> {
    let rcode = match answer.rcode {
        Rcode::NoError => "NOERROR",
        Rcode::NxDomain => "NXDOMAIN",
        Rcode::Refused => "REFUSED",
    };
    let authoritative = if answer.authoritative { " aa" } else { "" };
    let mut lines = vec![format!("{rcode}{authoritative}")];
    lines.extend(answer.answers.iter().map(|record| format!("  {}", describe_record(record))));
    lines.extend(answer.authority.iter().map(|record| format!("  authority {}", describe_record(record))));
    lines.extend(answer.additional.iter().map(|record| format!("  additional {}", describe_record(record))));
    lines
}

fn describe_record(record: &Record) -> String {
    let data = match &record.data {
        RecordData::A(address) => format!("A {address}"),
        RecordData::Aaaa(address) => format!("AAAA {address}"),
        RecordData::Cname(name) => format!("CNAME {name}"),
        RecordData::Ns(name) => format!("NS {name}"),
        RecordData::Soa(soa) => format!(
            "SOA {} {} {} {} {} {} {}",
            soa.primary, soa.mailbox, soa.serial, soa.refresh, soa.retry, soa.expire, soa.minimum
        ),
    };
    format!("{} {} {data}", record.name, record.ttl)
}
