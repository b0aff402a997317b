//! Any patch, command and reply that core can hold and our own conversions can make.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use waymark_core::geo::GeoDigest;
use waymark_core::model::{
    AgentRun, Edit, EndpointId, EndpointPatch, MemberId, MonitorPatch, ProfilePatch, ServicePatch, Timestamp,
    Violation, ZonePatch,
};
use waymark_core::state::{
    Action, ApplyLevel, AuditNote, AuditOutcome, Command, CommandId, CookieSecret, FoundAddresses,
    LatencyRowDraft, Rejection, Reply, ReportedOutcome,
};

use super::arbitrary::{
    caseless, expect, name, outcome, protocol, region, revision, routing, text, timestamp, zone_timers,
};
use super::headers::headers;
use super::places::network;
use super::{brake, enrolment, overrides, records, sight};

/// `Clear` stands where a list is empty: that is what an empty list on the wire means.
fn edit<T: std::fmt::Debug + Clone>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Edit<T>> {
    prop_oneof![Just(Edit::Keep), Just(Edit::Clear), value.prop_map(Edit::Set)]
}

fn edit_list<T: std::fmt::Debug + Clone>(
    values: impl Strategy<Value = Vec<T>>,
) -> impl Strategy<Value = Edit<Vec<T>>> {
    edit(values.prop_filter("an empty list is a cleared one", |values| !values.is_empty()))
}

pub(super) fn zone_patch() -> impl Strategy<Value = ZonePatch> {
    (
        edit_list(vec((text(), vec(text(), 0..3)), 0..3)),
        edit(text()),
        edit(any::<bool>()),
        zone_timers(edit(any::<u32>())),
    )
        .prop_map(|(name_servers, mailbox, ecs, timers)| ZonePatch {
            name_servers,
            mailbox,
            ecs,
            timers,
        })
}

pub(super) fn monitor_patch() -> impl Strategy<Value = MonitorPatch> {
    (
        edit(protocol()),
        edit(any::<u32>()),
        edit(text()),
        (edit(any::<u64>()), edit(any::<u64>()), edit(any::<u32>()), edit(any::<u32>())),
        edit_list(expect()),
        edit_list(headers()),
    )
        .prop_map(|(protocol, port, path, numbers, expect, headers)| {
            let (interval_ms, timeout_ms, tolerated_failures, recovery_successes) = numbers;
            MonitorPatch {
                protocol,
                port,
                path,
                interval_ms,
                timeout_ms,
                tolerated_failures,
                recovery_successes,
                expect,
                headers,
            }
        })
}

pub(super) fn profile_patch() -> impl Strategy<Value = ProfilePatch> {
    let switches = (edit(any::<bool>()), edit(any::<bool>()));
    let brake = (edit(any::<u32>()), edit(any::<u64>()));
    let numbers = (edit(any::<u32>()), edit(any::<u32>()));
    (edit(routing()), numbers, brake, switches, monitor_patch()).prop_map(
        |(routing, (ttl, max_return), (max_removal, removal_window_ms), (flatten, enabled), monitor)| {
            ProfilePatch {
                routing,
                ttl,
                max_return,
                flatten,
                max_removal,
                removal_window_ms,
                enabled,
                monitor,
            }
        },
    )
}

pub(super) fn endpoint_patch() -> impl Strategy<Value = EndpointPatch> {
    let name = || edit("[a-z0-9.:]{1,9}");
    let min = || edit(any::<u32>());
    (
        (name(), name(), name()),
        (min(), min(), min()),
        (edit_list(vec(text(), 0..3)), edit_list(vec(text(), 0..3))),
        edit(any::<bool>()),
        edit(any::<u32>()),
        edit(any::<u32>()),
        edit(text()),
        edit(any::<bool>()),
        edit_list(headers()),
    )
        .prop_map(
            |(names, minima, mapping, enabled, priority, weight, location, always_serve, headers)| {
                let (target, nested, service) = names;
                let (endpoints_min, endpoints_min_v4, endpoints_min_v6) = minima;
                let (geo, subnets) = mapping;
                EndpointPatch {
                    target,
                    nested,
                    service,
                    endpoints_min,
                    endpoints_min_v4,
                    endpoints_min_v6,
                    geo,
                    subnets,
                    enabled,
                    priority,
                    weight,
                    location,
                    always_serve,
                    headers,
                }
            },
        )
}

fn found_addresses() -> impl Strategy<Value = FoundAddresses> {
    (any::<u64>(), name(), vec(any::<std::net::IpAddr>(), 0..3)).prop_map(|(endpoint, name, addresses)| {
        FoundAddresses { endpoint: EndpointId(endpoint), name, addresses }
    })
}

/// In a creation nothing is there that could be cleared: `Keep` says the same.
fn kept<T>(edit: Edit<T>) -> Edit<T> {
    if matches!(edit, Edit::Clear) { Edit::Keep } else { edit }
}

fn new_zone_patch() -> impl Strategy<Value = ZonePatch> {
    zone_patch().prop_map(|ZonePatch { name_servers, mailbox, ecs, timers }| ZonePatch {
        name_servers: kept(name_servers),
        mailbox: kept(mailbox),
        ecs: kept(ecs),
        timers: timers.clone().zip(timers, |edit, _| kept(edit)),
    })
}

fn new_profile_patch() -> impl Strategy<Value = ProfilePatch> {
    profile_patch().prop_map(|patch| ProfilePatch {
        routing: kept(patch.routing),
        ttl: kept(patch.ttl),
        max_return: kept(patch.max_return),
        flatten: kept(patch.flatten),
        max_removal: kept(patch.max_removal),
        removal_window_ms: kept(patch.removal_window_ms),
        enabled: kept(patch.enabled),
        monitor: MonitorPatch {
            protocol: kept(patch.monitor.protocol),
            port: kept(patch.monitor.port),
            path: kept(patch.monitor.path),
            interval_ms: kept(patch.monitor.interval_ms),
            timeout_ms: kept(patch.monitor.timeout_ms),
            tolerated_failures: kept(patch.monitor.tolerated_failures),
            recovery_successes: kept(patch.monitor.recovery_successes),
            expect: kept(patch.monitor.expect),
            headers: kept(patch.monitor.headers),
        },
    })
}

fn new_endpoint_patch() -> impl Strategy<Value = EndpointPatch> {
    endpoint_patch().prop_map(|patch| EndpointPatch {
        target: kept(patch.target),
        nested: kept(patch.nested),
        service: kept(patch.service),
        endpoints_min: kept(patch.endpoints_min),
        endpoints_min_v4: kept(patch.endpoints_min_v4),
        endpoints_min_v6: kept(patch.endpoints_min_v6),
        geo: kept(patch.geo),
        subnets: kept(patch.subnets),
        enabled: kept(patch.enabled),
        priority: kept(patch.priority),
        weight: kept(patch.weight),
        location: kept(patch.location),
        always_serve: kept(patch.always_serve),
        headers: kept(patch.headers),
    })
}

fn service_patch() -> impl Strategy<Value = ServicePatch> {
    (edit("[a-z0-9.:]{1,9}"), edit(text())).prop_map(|(target, location)| ServicePatch { target, location })
}

fn operators_action() -> impl Strategy<Value = Action> {
    let if_revision = || option::of(revision());
    prop_oneof![
        (text(), option::of(any::<[u8; 16]>()))
            .prop_map(|(cluster, secret)| Action::Found { cluster, cookies: secret.map(CookieSecret) }),
        (text(), new_zone_patch()).prop_map(|(name, fields)| Action::CreateZone { name, fields }),
        (text(), zone_patch(), if_revision()).prop_map(|(name, fields, if_revision)| Action::UpdateZone {
            name,
            fields,
            if_revision
        }),
        (text(), if_revision()).prop_map(|(name, if_revision)| Action::DeleteZone { name, if_revision }),
        (text(), text(), text(), new_profile_patch(), vec((text(), new_endpoint_patch()), 0..3)).prop_map(
            |(name, zone, relative_name, fields, endpoints)| Action::CreateProfile {
                name,
                zone,
                relative_name,
                fields,
                endpoints
            }
        ),
        (text(), profile_patch(), if_revision())
            .prop_map(|(name, fields, if_revision)| Action::UpdateProfile { name, fields, if_revision }),
        (text(), if_revision()).prop_map(|(name, if_revision)| Action::DeleteProfile { name, if_revision }),
        (text(), text(), new_endpoint_patch(), if_revision()).prop_map(
            |(profile, name, fields, if_revision)| Action::AddEndpoint { profile, name, fields, if_revision }
        ),
        (text(), text(), endpoint_patch(), if_revision()).prop_map(|(profile, name, fields, if_revision)| {
            Action::UpdateEndpoint { profile, name, fields, if_revision }
        }),
        (text(), text(), if_revision()).prop_map(|(profile, name, if_revision)| Action::RemoveEndpoint {
            profile,
            name,
            if_revision
        }),
        (text(), service_patch(), if_revision())
            .prop_map(|(name, fields, if_revision)| Action::RegisterService { name, fields, if_revision }),
        (text(), any::<bool>(), if_revision()).prop_map(|(name, is_running, if_revision)| {
            Action::SwitchService { name, is_running, if_revision }
        }),
        (text(), if_revision()).prop_map(|(name, if_revision)| Action::DeleteService { name, if_revision }),
        (vec(latency_row(), 0..3), vec(text(), 0..3))
            .prop_map(|(set, remove)| Action::UpdateLatency { set, remove }),
        (text(), vec((network(), any::<u32>()), 0..3))
            .prop_map(|(region, found)| Action::LearnLatencies { region, found }),
        timestamp().prop_map(|before| Action::ForgetLatencies { before }),
        (option::of(any::<u128>().prop_map(GeoDigest)), if_revision())
            .prop_map(|(digest, if_revision)| Action::UseGeo { digest, if_revision }),
        (text(), text()).prop_map(|(network, place)| Action::SetGeoOverride { network, place }),
        (text(), if_revision())
            .prop_map(|(network, if_revision)| Action::DeleteGeoOverride { network, if_revision }),
        region().prop_map(Action::SetRegion),
        (text(), if_revision()).prop_map(|(name, if_revision)| Action::DeleteRegion { name, if_revision }),
        text().prop_map(|name| Action::ForgetAgent { name }),
        records::action(),
        overrides::action(),
        brake::action(),
    ]
}

fn latency_row() -> impl Strategy<Value = LatencyRowDraft> {
    (text(), vec((text(), any::<u32>()), 0..3))
        .prop_map(|(network, latencies)| LatencyRowDraft { network, latencies })
}

fn members_action() -> impl Strategy<Value = Action> {
    let reported = (any::<u64>(), revision(), any::<u64>(), any::<u64>(), outcome()).prop_map(
        |(endpoint, check, sequence, age_ms, outcome)| ReportedOutcome {
            endpoint: EndpointId(endpoint),
            check,
            sequence,
            age_ms,
            outcome,
        },
    );
    let endpoints = vec(any::<u64>().prop_map(EndpointId), 0..4);
    prop_oneof![
        sight::action(),
        enrolment::action(),
        (caseless(), any::<u64>(), vec(reported, 0..4)).prop_map(|(agent, run, outcomes)| {
            Action::RecordOutcomes { agent, run: AgentRun(run), outcomes }
        }),
        (caseless(), revision(), endpoints).prop_map(|(agent, session, endpoints)| Action::ExpireVerdicts {
            agent,
            session,
            endpoints
        }),
        (caseless(), revision()).prop_map(|(agent, session)| Action::LoseAgent { agent, session }),
        vec(found_addresses(), 0..3).prop_map(|found| Action::FlattenTargets { found }),
        any::<[u8; 16]>().prop_map(|fresh| Action::RotateCookies { fresh: CookieSecret(fresh) }),
        any::<u64>().prop_map(|before| Action::ForgetHistory { before: Timestamp(before) }),
        any::<u64>().prop_map(|number| Action::AllotMember { number: MemberId(number) }),
        any::<u32>().prop_map(|to| Action::RaiseApplyLevel { to: ApplyLevel(to) }),
        select(AuditOutcome::ALL.as_slice()).prop_map(|outcome| Action::Audit { outcome }),
    ]
}

pub(super) fn command() -> impl Strategy<Value = Command> {
    let id = option::of(any::<u128>().prop_map(CommandId));
    let action = prop_oneof![3 => operators_action(), 1 => members_action()];
    let note = (text(), text(), text(), text())
        .prop_map(|(from, act, object, detail)| AuditNote::new(&from, &act, &object, &detail));
    (id, text(), option::of(note), action).prop_map(|(id, author, note, action)| Command {
        id,
        author,
        note,
        action,
    })
}

pub(super) fn reply() -> impl Strategy<Value = Result<Reply, Rejection>> {
    let violations =
        || vec((text(), text()).prop_map(|(field, description)| Violation::new(field, description)), 0..3);
    let noun = || {
        proptest::sample::select(
            [
                "zone",
                "profile",
                "endpoint",
                "service",
                "region",
                "agent",
                "geo table",
                "geo override",
                "join token",
            ]
            .as_slice(),
        )
    };
    prop_oneof![
        (revision(), violations()).prop_map(|(revision, warnings)| Ok(Reply { revision, warnings })),
        violations().prop_map(|violations| Err(Rejection::Invalid(violations))),
        (noun(), text(), option::of(text())).prop_map(|(noun, name, hint)| Err(Rejection::NotFound {
            noun,
            name,
            hint
        })),
        (noun(), text()).prop_map(|(noun, name)| Err(Rejection::Exists { noun, name })),
        (noun(), text(), revision(), revision()).prop_map(|(noun, name, expected, current)| Err(
            Rejection::RevisionMismatch { noun, name, expected, current }
        )),
        (noun(), text(), vec(text(), 0..3)).prop_map(|(noun, name, by)| Err(Rejection::InUse {
            noun,
            name,
            by
        })),
        vec(text(), 0..3).prop_map(|profiles| Err(Rejection::LastEndpoint { profiles })),
    ]
}
