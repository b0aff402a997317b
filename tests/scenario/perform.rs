//! From the words of a script to the actions that alter the state.

use anyhow::{Context, Result, bail};
use waymark_core::health::{Outcome, OutcomeClass};
use waymark_core::model::{
    AgentRun, Caseless, Edit, EndpointPatch, Header, MemberId, MonitorPatch, Name, OverrideKind,
    ProfilePatch, Protocol, Region, Revision, Routing, ServicePatch, StatusRange, ZonePatch, ZoneTimers,
};
use waymark_core::state::{Action, ApplyLevel, FoundAddresses, ReportedOutcome};

use crate::arguments::{Arguments, read_duration, read_number, read_switch};
use crate::records;
use crate::show;
use crate::world::World;

/// What a command asks for.
pub(crate) enum Wish {
    /// To alter the state.
    Do(Box<Action>),
    /// To be told these lines.
    Show(Vec<String>),
}

/// Reads the command that begins with `verb`; `more` are the lines that go with it.
pub(crate) fn read(
    world: &mut World,
    verb: &str,
    arguments: &mut Arguments,
    more: &[String],
) -> Result<Wish> {
    let action = match verb {
        "found" => Action::Found { cluster: arguments.next("the id")?, cookies: None },
        "zone" => {
            let (verb, name) = (arguments.next("what to do")?, arguments.next("the zone")?);
            if verb == "show" {
                return Ok(Wish::Show(show::zone(world, &name)?));
            }
            zone(&verb, name, arguments)?
        }
        "region" => region(arguments)?,
        "record" => records::record(arguments)?,
        "profile" => profile(arguments, more)?,
        "endpoint" => endpoint(arguments)?,
        "drain" | "force-up" | "force-down" => overriding(verb, arguments)?,
        "lift" => Action::LiftOverrides {
            pattern: arguments.next("the pattern")?,
            reason: arguments.take("reason").unwrap_or_else(|| "moved".to_owned()),
        },
        "end" => end(world, arguments)?,
        "level" => Action::RaiseApplyLevel { to: ApplyLevel(arguments.next("the level")?.parse()?) },
        "release" => release(world, arguments)?,
        "service" => service(arguments)?,
        "agent" => agent(arguments)?,
        "report" => report(world, arguments)?,
        "resolve" => resolve(world, arguments)?,
        "expire" => {
            let agent = arguments.next("the agent")?;
            let session = session(world, &agent, arguments)?;
            let endpoints =
                arguments.rest().iter().map(|name| world.endpoint(name)).collect::<Result<_>>()?;
            Action::ExpireVerdicts { agent: Caseless::new(&agent), session, endpoints }
        }
        "blind" | "sees" => {
            let agent = arguments.next("the agent")?;
            let session = session(world, &agent, arguments)?;
            Action::SetSight { agent: Caseless::new(&agent), session, is_blind: verb == "blind" }
        }
        "lose" => {
            let agent = arguments.next("the agent")?;
            let session = session(world, &agent, arguments)?;
            Action::LoseAgent { agent: Caseless::new(&agent), session }
        }
        _ => bail!("there is no command '{verb}'"),
    };
    Ok(Wish::Do(Box::new(action)))
}

fn zone(verb: &str, name: String, arguments: &mut Arguments) -> Result<Action> {
    let server = |text: &str| {
        let (name, addresses) = text.split_once('=').unwrap_or((text, ""));
        let addresses = addresses.split(',').filter(|address| !address.is_empty()).map(str::to_owned);
        Ok((name.to_owned(), addresses.collect()))
    };
    let fields = ZonePatch {
        name_servers: arguments.edit_list("ns", server)?,
        mailbox: arguments.edit("mailbox", |text| Ok(text.to_owned()))?,
        ecs: arguments.edit("ecs", read_switch)?,
        timers: ZoneTimers {
            soa_ttl: arguments.edit("soa-ttl", |text| read_number("soa-ttl", text))?,
            refresh: arguments.edit("soa-refresh", |text| read_number("soa-refresh", text))?,
            retry: arguments.edit("soa-retry", |text| read_number("soa-retry", text))?,
            expire: arguments.edit("soa-expire", |text| read_number("soa-expire", text))?,
            negative_ttl: arguments.edit("negative-ttl", |text| read_number("negative-ttl", text))?,
            name_server_ttl: arguments.edit("ns-ttl", |text| read_number("ns-ttl", text))?,
        },
    };
    let if_revision = if_revision(arguments)?;
    Ok(match verb {
        "create" => Action::CreateZone { name, fields },
        "update" => Action::UpdateZone { name, fields, if_revision },
        "delete" => Action::DeleteZone { name, if_revision },
        _ => bail!("a zone cannot be told to '{verb}'"),
    })
}

/// What the leader found the names of endpoints to be.
fn resolve(world: &World, arguments: &mut Arguments) -> Result<Action> {
    let endpoint = world.endpoint(&arguments.next("the endpoint")?)?;
    let name = Name::parse(&arguments.next("the name")?)?;
    let addresses = arguments.rest();
    let addresses = addresses.iter().map(|text| text.parse().context("no address")).collect::<Result<_>>()?;
    Ok(Action::FlattenTargets { found: vec![FoundAddresses { endpoint, name, addresses }] })
}

fn region(arguments: &mut Arguments) -> Result<Action> {
    let (verb, name) = (arguments.next("what to do")?, arguments.next("the region")?);
    Ok(match verb.as_str() {
        "set" => Action::SetRegion(Region {
            name: Caseless::new(&name),
            latitude_e6: arguments.number("latitude")?.unwrap_or(0),
            longitude_e6: arguments.number("longitude")?.unwrap_or(0),
            revision: Revision(0),
        }),
        "delete" => Action::DeleteRegion { name, if_revision: if_revision(arguments)? },
        _ => bail!("a region cannot be told to '{verb}'"),
    })
}

fn profile(arguments: &mut Arguments, more: &[String]) -> Result<Action> {
    let (verb, name) = (arguments.next("what to do")?, arguments.next("the profile")?);
    let if_revision = if_revision(arguments)?;
    let switch = |on| ProfilePatch { enabled: Edit::Set(on), ..ProfilePatch::default() };
    Ok(match verb.as_str() {
        "create" => {
            let zone = arguments.take("zone").context("zone= is missing")?;
            let relative_name = arguments.take("relative-name").unwrap_or_else(|| name.clone());
            let fields = profile_fields(arguments)?;
            let endpoints = more.iter().map(|line| endpoint_line(line)).collect::<Result<_>>()?;
            Action::CreateProfile { name, zone, relative_name, fields, endpoints }
        }
        "update" => Action::UpdateProfile { name, fields: profile_fields(arguments)?, if_revision },
        "enable" => Action::UpdateProfile { name, fields: switch(true), if_revision },
        "disable" => Action::UpdateProfile { name, fields: switch(false), if_revision },
        "delete" => Action::DeleteProfile { name, if_revision },
        _ => bail!("a profile cannot be told to '{verb}'"),
    })
}

fn profile_fields(arguments: &mut Arguments) -> Result<ProfilePatch> {
    let routing = |word: &str| known(word, &Routing::ALL, Routing::as_str);
    let protocol = |word: &str| known(word, &Protocol::ALL, Protocol::as_str);
    Ok(ProfilePatch {
        routing: arguments.edit("routing", routing)?,
        ttl: arguments.edit("ttl", |text| read_number("ttl", text))?,
        max_return: arguments.edit("max-return", |text| read_number("max-return", text))?,
        flatten: arguments.edit("flatten", read_switch)?,
        max_removal: arguments.edit("max-removal", |text| read_number("max-removal", text))?,
        removal_window_ms: arguments.edit("removal-window", read_duration)?,
        enabled: arguments.edit("enabled", read_switch)?,
        monitor: MonitorPatch {
            protocol: arguments.edit("protocol", protocol)?,
            port: arguments.edit("port", |text| read_number("port", text))?,
            path: arguments.edit("path", |text| Ok(text.to_owned()))?,
            interval_ms: arguments.edit("interval", read_duration)?,
            timeout_ms: arguments.edit("timeout", read_duration)?,
            tolerated_failures: arguments.edit("tolerated", |text| read_number("tolerated", text))?,
            recovery_successes: arguments.edit("recovery", |text| read_number("recovery", text))?,
            expect: arguments.edit_list("expect", read_range)?,
            headers: arguments.edit_list("header", read_header)?,
        },
    })
}

fn endpoint(arguments: &mut Arguments) -> Result<Action> {
    let (verb, name) = (arguments.next("what to do")?, arguments.next("the endpoint")?);
    let (profile, name) = name.split_once('/').with_context(|| format!("'{name}' names no profile"))?;
    let (profile, name) = (profile.to_owned(), name.to_owned());
    let if_revision = if_revision(arguments)?;
    let switch = |on| EndpointPatch { enabled: Edit::Set(on), ..EndpointPatch::default() };
    Ok(match verb.as_str() {
        "add" => Action::AddEndpoint { profile, name, fields: endpoint_fields(arguments)?, if_revision },
        "update" => {
            Action::UpdateEndpoint { profile, name, fields: endpoint_fields(arguments)?, if_revision }
        }
        "enable" => Action::UpdateEndpoint { profile, name, fields: switch(true), if_revision },
        "disable" => Action::UpdateEndpoint { profile, name, fields: switch(false), if_revision },
        "remove" => Action::RemoveEndpoint { profile, name, if_revision },
        _ => bail!("an endpoint cannot be told to '{verb}'"),
    })
}

fn overriding(kind: &str, arguments: &mut Arguments) -> Result<Action> {
    Ok(Action::OverrideEndpoints {
        pattern: arguments.next("the pattern")?,
        kind: known(kind, &OverrideKind::ALL, OverrideKind::as_str)?,
        reason: arguments.take("reason").unwrap_or_else(|| "a move".to_owned()),
        span_ms: arguments.take("for").map(|text| read_duration(&text)).transpose()?,
        even_last: arguments.take("even-last").is_some_and(|word| word == "on"),
    })
}

/// The time of an endpoint's override is up, or of the one that was made at another revision.
fn end(world: &World, arguments: &mut Arguments) -> Result<Action> {
    let endpoint = world.endpoint(&arguments.next("the endpoint")?)?;
    let current = world.state.overrides.get(&endpoint).map_or(0, |over| over.revision.0);
    let revision = arguments.number("revision")?.unwrap_or(current);
    Ok(Action::EndOverrides { ended: vec![(endpoint, Revision(revision))] })
}

/// The window is over for all that have left a profile's pool, or for those up to a revision.
fn release(world: &World, arguments: &mut Arguments) -> Result<Action> {
    let profile = world.profile(&arguments.next("the profile")?)?;
    let up_to = arguments.number("up-to")?.unwrap_or(world.state.counter.0);
    Ok(Action::ReleaseBrakes { due: vec![(profile.id, Revision(up_to))] })
}

fn service(arguments: &mut Arguments) -> Result<Action> {
    let (verb, name) = (arguments.next("what to do")?, arguments.next("the service")?);
    let if_revision = if_revision(arguments)?;
    Ok(match verb.as_str() {
        "register" => {
            let fields = ServicePatch {
                target: arguments.edit("target", |text| Ok(text.to_owned()))?,
                location: arguments.edit("location", |text| Ok(text.to_owned()))?,
            };
            Action::RegisterService { name, fields, if_revision }
        }
        "start" => Action::SwitchService { name, is_running: true, if_revision },
        "stop" => Action::SwitchService { name, is_running: false, if_revision },
        "delete" => Action::DeleteService { name, if_revision },
        _ => bail!("a service cannot be told to '{verb}'"),
    })
}

fn endpoint_line(line: &str) -> Result<(String, EndpointPatch)> {
    let mut arguments = Arguments::parse(line)?;
    let name = arguments.next("the endpoint")?;
    let fields = endpoint_fields(&mut arguments)?;
    arguments.finish()?;
    Ok((name, fields))
}

fn endpoint_fields(arguments: &mut Arguments) -> Result<EndpointPatch> {
    Ok(EndpointPatch {
        target: arguments.edit("target", |text| Ok(text.to_owned()))?,
        nested: arguments.edit("nested", |text| Ok(text.to_owned()))?,
        service: arguments.edit("service", |text| Ok(text.to_owned()))?,
        endpoints_min: arguments.edit("min", |text| read_number("min", text))?,
        endpoints_min_v4: arguments.edit("min4", |text| read_number("min4", text))?,
        endpoints_min_v6: arguments.edit("min6", |text| read_number("min6", text))?,
        geo: arguments.edit_list("geo", |text| Ok(text.to_owned()))?,
        subnets: arguments.edit_list("subnet", |text| Ok(text.to_owned()))?,
        enabled: arguments.edit("enabled", read_switch)?,
        priority: arguments.edit("priority", |text| read_number("priority", text))?,
        weight: arguments.edit("weight", |text| read_number("weight", text))?,
        location: arguments.edit("location", |text| Ok(text.to_owned()))?,
        always_serve: arguments.edit("always-serve", read_switch)?,
        headers: arguments.edit_list("header", read_header)?,
    })
}

fn agent(arguments: &mut Arguments) -> Result<Action> {
    let (verb, name) = (arguments.next("what to do")?, arguments.next("the agent")?);
    Ok(match verb.as_str() {
        "open" => Action::OpenSession {
            agent: name,
            region: arguments.take("region").context("region= is missing")?,
            run: AgentRun(arguments.number("run")?.unwrap_or(1)),
            version: arguments.take("version").unwrap_or_else(|| "0.1.0".to_owned()),
            member: MemberId(arguments.number("member")?.unwrap_or(1)),
            is_blind: arguments.take("blind").map(|word| word == "on"),
        },
        "forget" => Action::ForgetAgent { name },
        _ => bail!("an agent cannot be told to '{verb}'"),
    })
}

fn report(world: &mut World, arguments: &mut Arguments) -> Result<Action> {
    let (agent, endpoint) = (arguments.next("the agent")?, arguments.next("the endpoint")?);
    let endpoint = world.endpoint(&endpoint)?;
    let check = world.check(endpoint, arguments.take("check").as_deref())?;
    let agent = Caseless::new(&agent);
    let current = world.state.agents.get(&agent).map_or(1, |agent| agent.run.0);
    let run = arguments.number("run")?.unwrap_or(current);
    let age_ms = arguments.take("age").map(|text| read_duration(&text)).transpose()?.unwrap_or(0);
    let mut found = Vec::new();
    for word in arguments.rest() {
        let (word, times) = word.split_once('*').unwrap_or((&word, "1"));
        found.extend(std::iter::repeat_n(read_outcome(word)?, read_number("times", times)?));
    }
    let first = world.sequence(&agent, run, arguments.number("seq")?, found.len() as u64);
    let outcomes = (first..)
        .zip(found)
        .map(|(sequence, outcome)| ReportedOutcome { endpoint, check, sequence, age_ms, outcome })
        .collect();
    Ok(Action::RecordOutcomes { agent, run: AgentRun(run), outcomes })
}

/// The session that is meant: the agent's own, unless another is named. `old` is one before it.
fn session(world: &World, agent: &str, arguments: &mut Arguments) -> Result<Revision> {
    match arguments.take("session").as_deref() {
        None => Ok(world.agent(agent)?.session),
        Some("old") => Ok(Revision(world.agent(agent)?.session.0 - 1)),
        Some(number) => Ok(Revision(read_number("session", number)?)),
    }
}

pub(crate) fn if_revision(arguments: &mut Arguments) -> Result<Option<Revision>> {
    Ok(arguments.number("if-revision")?.map(Revision))
}

fn read_outcome(word: &str) -> Result<Outcome> {
    if let Ok(status) = word.parse::<u16>() {
        let class = if status == 200 { OutcomeClass::Ok } else { OutcomeClass::Status };
        return Ok(Outcome { class, status: Some(status) });
    }
    let word = if word == "fail" { "timeout" } else { word };
    Ok(Outcome { class: known(word, &OutcomeClass::ALL, OutcomeClass::as_str)?, status: None })
}

fn read_range(text: &str) -> Result<StatusRange> {
    let (min, max) = text.split_once('-').unwrap_or((text, text));
    Ok(StatusRange { min: read_number("status", min)?, max: read_number("status", max)? })
}

fn read_header(text: &str) -> Result<Header> {
    let (name, value) = text.split_once(':').context("a header needs a ':'")?;
    Ok(Header { name: name.to_owned(), value: value.trim_start().into() })
}

fn known<T: Copy>(word: &str, all: &[T], as_str: fn(T) -> &'static str) -> Result<T> {
    all.iter().copied().find(|one| as_str(*one) == word).with_context(|| format!("there is no '{word}'"))
}
