//! What a script is told: the outcome of a command, and pictures of the state.

use anyhow::{Context, Result};
use waymark_core::health::{RegionalVerdict, Verdict};
use waymark_core::model::{Endpoint, Header, Name, Profile, Revision, StatusRange, Timestamp};
use waymark_core::state::{Applied, Change, Event, EventCause, OverrideAct, Rejection, Subject};

use crate::world::World;

/// What a command came to.
pub(crate) fn applied(before: Revision, is_retry: bool, applied: &Applied) -> Vec<String> {
    let mut lines = Vec::new();
    let is_same = applied.state.counter == before;
    match &applied.reply {
        Ok(reply) => {
            lines.push(match (is_retry, is_same) {
                (true, _) => format!("remembered: ok at {}", reply.revision),
                (false, true) => "no change".to_owned(),
                (false, false) => "ok".to_owned(),
            });
            lines.extend(reply.warnings.iter().map(|warning| format!("warning: {warning}")));
        }
        Err(Rejection::Invalid(violations)) => {
            lines.extend(violations.iter().map(|violation| format!("refused: {violation}")));
        }
        Err(rejection) => lines.push(format!("refused: {rejection}")),
    }
    let events = applied.changes.iter().filter_map(|change| match change {
        Change::Event(id) => applied.state.events.get(id),
        _ => None,
    });
    lines.extend(events.map(|event| describe(event)));
    lines
}

/// All events that are kept, or a profile's, in order.
pub(crate) fn events(world: &World, profile: Option<&String>) -> Result<Vec<String>> {
    let wanted = profile.map(|name| world.profile(name).map(|profile| profile.id)).transpose()?;
    let lines: Vec<String> = world
        .state
        .events
        .values()
        .filter(|event| wanted.is_none_or(|wanted| event.profile == wanted))
        .map(|event| {
            format!("{} {}.{} {}", time(event.at), event.id.counter, event.id.ordinal, describe(event))
        })
        .collect();
    Ok(or_none(lines))
}

/// A profile's status, its endpoints', and what they come from.
pub(crate) fn health(world: &World, name: &str) -> Result<Vec<String>> {
    let profile = world.profile(name)?;
    let health = world.state.health.status(profile.id).context("a profile without a status")?;
    let mut lines = vec![format!("{} {} since {}", profile.name, health.status.as_str(), time(health.since))];
    for endpoint in &profile.endpoints {
        lines.push(format!("  {}", endpoint_health(world, profile, endpoint)?));
    }
    Ok(lines)
}

fn endpoint_health(world: &World, profile: &Profile, endpoint: &Endpoint) -> Result<String> {
    let health = world.state.health.get(&endpoint.id).context("an endpoint without health")?;
    let mut line = format!("{} {} since {}", endpoint.name, health.status.as_str(), time(health.since));
    if let Some(since) = health.stale_since {
        line.push_str(&format!(", stale since {}", time(since)));
    }
    if let Some(over) = world.state.overrides.get(&endpoint.id) {
        line.push_str(&format!(", {} by {}", over.kind.participle(), over.author));
    }
    if let Some(held) = world.state.held(profile.id, endpoint.id) {
        line.push_str(&format!(", held by brake since {}", time(held.since)));
    }
    let regions = describe_regions(&world.state.regional_verdicts(health));
    if !regions.is_empty() {
        line.push_str(&format!(": {regions}"));
    }
    Ok(line)
}

/// What the operator set, with the defaults that hold.
pub(crate) fn settings(world: &World, name: &str) -> Result<Vec<String>> {
    let profile = world.profile(name)?;
    let monitor = &profile.monitor;
    let ranges = monitor
        .effective_expect()
        .iter()
        .map(|StatusRange { min, max }| format!("{min}-{max}"))
        .collect::<Vec<_>>();
    let mut lines = vec![
        format!(
            "{} at {}, {}, ttl {}{}",
            profile.name,
            profile.full_name,
            profile.routing.as_str(),
            profile.effective_ttl(),
            off(profile.enabled)
        ),
        format!(
            "  {}:{} {} every {} within {}, tolerated {}, recovery {}, expect {}",
            monitor.protocol.as_str(),
            monitor.effective_port().context("a monitor without a port")?,
            monitor.effective_path(),
            duration(monitor.effective_interval_ms()),
            duration(monitor.effective_timeout_ms()),
            monitor.effective_tolerated_failures(),
            monitor.effective_recovery_successes(),
            ranges.join(" ")
        ),
    ];
    lines.extend(headers(&monitor.headers).map(|header| format!("  {header}")));
    for endpoint in &profile.endpoints {
        lines.push(format!(
            "  {} {} priority {} weight {}{}{}{}",
            endpoint.name,
            endpoint.kind,
            endpoint.priority,
            endpoint.effective_weight(),
            endpoint.location.as_ref().map(|region| format!(" in {region}")).unwrap_or_default(),
            if endpoint.always_serve { " always served" } else { "" },
            off(endpoint.enabled)
        ));
        lines.extend(headers(&endpoint.headers).map(|header| format!("    {header}")));
    }
    Ok(lines)
}

/// The counter, and the revisions of a profile and its endpoints.
pub(crate) fn revisions(world: &World, profile: Option<&String>) -> Result<Vec<String>> {
    let mut lines = vec![format!("counter {}", world.state.counter)];
    if let Some(name) = profile {
        let profile: &Profile = world.profile(name)?;
        lines.push(format!("{} {}", profile.name, profile.revision));
        lines.extend(
            profile.endpoints.iter().map(|endpoint| format!("  {} {}", endpoint.name, endpoint.revision)),
        );
    }
    Ok(lines)
}

pub(crate) fn zone(world: &World, name: &str) -> Result<Vec<String>> {
    let zone = world.state.zones.get(&Name::parse(name)?).with_context(|| format!("no zone '{name}'"))?;
    let mut lines = vec![format!("{} at revision {}", zone.name, zone.revision)];
    for server in &zone.name_servers {
        let addresses = server.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        lines.push(format!("  {} {addresses}", server.name).trim_end().to_owned());
    }
    lines.extend(zone.mailbox.as_ref().map(|mailbox| format!("  mailbox {mailbox}")));
    Ok(lines)
}

pub(crate) fn agents(world: &World) -> Vec<String> {
    let lines = world.state.agents.values().map(|agent| {
        let lost = match (agent.lost, agent.is_blind) {
            (true, _) => ", lost",
            (false, true) => ", blind",
            (false, false) => "",
        };
        format!(
            "{} in {}, run {}, session {}, member {}, since {}{lost}",
            agent.name,
            agent.region,
            agent.run.0,
            agent.session,
            agent.member.0,
            time(agent.since)
        )
    });
    or_none(lines.collect())
}

pub(crate) fn regions(world: &World) -> Vec<String> {
    let lines = world.state.regions.values().map(|region| {
        format!(
            "{} {} {} at revision {}",
            region.name, region.latitude_e6, region.longitude_e6, region.revision
        )
    });
    or_none(lines.collect())
}

fn describe(event: &Event) -> String {
    let subject = match &event.subject {
        Subject::Endpoint { name, .. } => format!("{}/{name}", event.profile_name),
        Subject::Profile => event.profile_name.to_string(),
    };
    let cause = match &event.cause {
        EventCause::Outcome { agent, outcome, regions } => {
            let status = outcome.status.map(|status| format!(" {status}")).unwrap_or_default();
            format!("{agent} {}{status}; {}", outcome.class.as_str(), describe_regions(regions))
        }
        EventCause::Silence { agent, is_blind, regions } => {
            let what = if *is_blind { "blind" } else { "silent" };
            format!("{agent} {what}; {}", describe_regions(regions)).trim_end_matches("; ").to_owned()
        }
        EventCause::Configuration { author } => format!("changed by {author}"),
        EventCause::Endpoints => "its endpoints".to_owned(),
        EventCause::Service { name, is_running, author } => {
            format!("service {name} {} by {author}", if *is_running { "started" } else { "stopped" })
        }
        EventCause::Override { act, kind, author, reason, ends } => {
            let word = match act {
                OverrideAct::Made => "made",
                OverrideAct::Lifted => "lifted",
                OverrideAct::Ended => "ended",
            };
            let until = ends.map(|ends| format!(" until {}", time(ends))).unwrap_or_default();
            format!("{} {word} by {author}{until}: {reason}", kind.as_str())
        }
        EventCause::Child { profile } => format!("profile {profile}"),
        EventCause::Brake { held_ms, child, regions } => {
            let why =
                child.as_ref().map_or_else(|| describe_regions(regions), |child| format!("profile {child}"));
            format!("held by brake for {}; {why}", duration(*held_ms))
        }
    };
    let from = event.from.map_or("new", |from| from.as_str());
    format!("{subject}: {from} → {} ({cause})", event.to.as_str())
}

pub(crate) fn describe_regions(regions: &[RegionalVerdict]) -> String {
    let describe = |region: &RegionalVerdict| {
        let agents: Vec<String> = region
            .agents
            .iter()
            .map(|agent| match (agent.verdict, agent.failures) {
                (verdict @ Some(Verdict::Up), 0) => format!("{} {}", agent.name, Verdict::as_str(verdict)),
                (verdict, failures) => format!("{} {} {failures}", agent.name, Verdict::as_str(verdict)),
            })
            .collect();
        format!("{} {} ({})", region.region, Verdict::as_str(region.verdict), agents.join(", "))
    };
    regions.iter().map(describe).collect::<Vec<_>>().join(", ")
}

fn headers(headers: &[Header]) -> impl Iterator<Item = String> {
    headers.iter().map(|header| format!("header {}: {}", header.name, header.value.plain().unwrap_or("***")))
}

fn off(is_enabled: bool) -> &'static str {
    if is_enabled { "" } else { " disabled" }
}

fn or_none(lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() { vec!["none".to_owned()] } else { lines }
}

fn time(at: Timestamp) -> String {
    duration(at.0)
}

fn duration(milliseconds: u64) -> String {
    if milliseconds.is_multiple_of(1_000) {
        format!("{}s", milliseconds / 1_000)
    } else {
        format!("{milliseconds}ms")
    }
}
