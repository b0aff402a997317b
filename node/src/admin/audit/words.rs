//! What an action says in the audit trail. Written by the member that is asked and kept in the log, so that versions may word it
//! differently: what was written once stays.

use std::fmt::Write;

use waymark_core::model::{
    Edit, EndpointPatch, Header, MonitorPatch, OverrideKind, ProfilePatch, Protocol, Routing, ServicePatch,
    StatusRange, ZonePatch, ZoneTimers,
};
use waymark_core::state::{Action, EnrolmentWish, IssuingAuthority};

use crate::record_text;

/// What was asked for, of what, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::admin) struct Words {
    pub(in crate::admin) act: &'static str,
    pub(in crate::admin) object: String,
    pub(in crate::admin) detail: String,
}

impl Words {
    pub(in crate::admin) fn new(
        act: &'static str,
        object: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self { act, object: object.into(), detail: detail.into() }
    }
}

/// What an operator's action says; `None` for what members and agents do by themselves.
#[expect(clippy::too_many_lines, reason = "a row for each action, and nothing else")]
pub(in crate::admin) fn words(action: &Action) -> Option<Words> {
    Some(match action {
        Action::CreateZone { name, fields } => Words::new("create zone", name, zone(fields)),
        Action::UpdateZone { name, fields, if_revision: _ } => Words::new("update zone", name, zone(fields)),
        Action::DeleteZone { name, if_revision: _ } => Words::new("delete zone", name, ""),
        Action::CreateProfile { name, zone, relative_name, fields, endpoints } => {
            let mut line = Line::default().value("zone", zone).value("relative_name", relative_name);
            line.0.push_str(&profile(fields).0);
            for (name, fields) in endpoints {
                line = line.value("endpoint", name);
                line.0.push_str(&endpoint(fields).0);
            }
            Words::new("create profile", name, line)
        }
        Action::UpdateProfile { name, fields, if_revision: _ } => {
            Words::new("update profile", name, profile(fields))
        }
        Action::DeleteProfile { name, if_revision: _ } => Words::new("delete profile", name, ""),
        Action::AddEndpoint { profile, name, fields, if_revision: _ } => {
            Words::new("add endpoint", format!("{profile}/{name}"), endpoint(fields))
        }
        Action::UpdateEndpoint { profile, name, fields, if_revision: _ } => {
            Words::new("update endpoint", format!("{profile}/{name}"), endpoint(fields))
        }
        Action::RemoveEndpoint { profile, name, if_revision: _ } => {
            Words::new("remove endpoint", format!("{profile}/{name}"), "")
        }
        Action::OverrideEndpoints { pattern, kind, reason, span_ms, even_last } => {
            let act = match kind {
                OverrideKind::Drain => "drain endpoints",
                OverrideKind::ForceUp => "force endpoints up",
                OverrideKind::ForceDown => "force endpoints down",
            };
            let line = Line::default().value("reason", reason).edit("span_ms", &Edit::from(*span_ms));
            Words::new(act, pattern, line.value("even_last", even_last))
        }
        Action::LiftOverrides { pattern, reason } => {
            Words::new("lift overrides", pattern, Line::default().value("reason", reason))
        }
        Action::RegisterService { name, fields, if_revision: _ } => {
            Words::new("register service", name, service(fields))
        }
        Action::SwitchService { name, is_running, if_revision: _ } => {
            Words::new(if *is_running { "start service" } else { "stop service" }, name, "")
        }
        Action::DeleteService { name, if_revision: _ } => Words::new("delete service", name, ""),
        Action::SetRecords { zone, relative_name, record_type, ttl, data, if_revision: _ } => {
            let data: Vec<String> = data.iter().map(|data| record_text::show(*record_type, data)).collect();
            let line = Line::default().value("zone", zone).value("ttl", ttl).value("data", &data);
            Words::new("set records", format!("{relative_name} {record_type}"), line)
        }
        Action::DeleteRecords { zone, relative_name, record_type, if_revision: _ } => {
            let line = Line::default().value("zone", zone);
            Words::new("delete records", format!("{relative_name} {record_type}"), line)
        }
        Action::UpdateLatency { set, remove } => {
            let networks: Vec<String> = set.iter().map(|row| row.network.clone()).collect();
            let line = Line::default().value("set", &networks).value("remove", remove);
            Words::new("update latencies", format!("{} rows", set.len() + remove.len()), line)
        }
        Action::UseGeo { digest, if_revision: _ } => {
            let table = digest.map_or_else(|| "embedded".to_owned(), |digest| digest.to_string());
            Words::new("use geo table", table, "")
        }
        Action::SetGeoOverride { network, place } => {
            Words::new("set geo override", network, Line::default().value("place", place))
        }
        Action::DeleteGeoOverride { network, if_revision: _ } => {
            Words::new("delete geo override", network, "")
        }
        Action::SetRegion(region) => {
            let degrees = |e6: i32| f64::from(e6) / 1e6;
            let place = format!("{},{}", degrees(region.latitude_e6), degrees(region.longitude_e6));
            Words::new("set region", region.name.as_str(), Line::default().value("at", &place))
        }
        Action::DeleteRegion { name, if_revision: _ } => Words::new("delete region", name, ""),
        Action::Enrolment(wish) => return enrolment(wish),
        Action::ForgetAgent { name } => Words::new("delete agent", name, ""),
        // What members and agents do by themselves.
        Action::Found { .. }
        | Action::Audit { .. }
        | Action::AllotMember { .. }
        | Action::RaiseApplyLevel { .. }
        | Action::EndOverrides { .. }
        | Action::ReleaseBrakes { .. }
        | Action::LearnLatencies { .. }
        | Action::ForgetLatencies { .. }
        | Action::OpenSession { .. }
        | Action::SetSight { .. }
        | Action::RecordOutcomes { .. }
        | Action::ExpireVerdicts { .. }
        | Action::LoseAgent { .. }
        | Action::ForgetHistory { .. }
        | Action::RotateCookies { .. }
        | Action::FlattenTargets { .. } => return None,
    })
}

/// Nothing of a token but what it is called, nothing of a key.
fn enrolment(wish: &EnrolmentWish) -> Option<Words> {
    Some(match wish {
        EnrolmentWish::Install { chain, key: _, lifetime_s } => {
            let fingerprint = chain.first().map(|own| IssuingAuthority::fingerprint(own)).unwrap_or_default();
            Words::new("install authority", fingerprint, Line::default().value("lifetime_s", lifetime_s))
        }
        EnrolmentWish::Uninstall => Words::new("uninstall authority", "", ""),
        EnrolmentWish::MakeToken { hash, agent, region, span_ms } => {
            let line = Line::default().value("id", &hash.id()).value("span_ms", span_ms);
            Words::new("make join token", format!("{region}/{agent}"), line)
        }
        EnrolmentWish::DropToken { id } => Words::new("take back join token", id, ""),
        // What members and agents do by themselves.
        EnrolmentWish::Redeem { .. } | EnrolmentWish::EndTokens { .. } => return None,
    })
}

/// Fields with their values, each behind a blank but the first.
#[derive(Default)]
struct Line(String);

impl From<Line> for String {
    fn from(line: Line) -> Self {
        line.0.trim_start().to_owned()
    }
}

impl Line {
    fn value(mut self, key: &str, value: &impl Written) -> Self {
        let _ = write!(self.0, " {key}=");
        value.write(&mut self.0);
        self
    }

    /// Nothing, if the field was not named; `key=` if it was cleared.
    fn edit(self, key: &str, edit: &Edit<impl Written>) -> Self {
        match edit {
            Edit::Keep => self,
            Edit::Clear => self.value(key, &String::new()),
            Edit::Set(value) => self.value(key, value),
        }
    }
}

/// A value as it is written.
trait Written {
    fn write(&self, out: &mut String);
}

macro_rules! written_as {
    ($($kind:ty: $text:expr),+ $(,)?) => {
        $(impl Written for $kind {
            fn write(&self, out: &mut String) {
                let text: fn(&Self) -> String = $text;
                out.push_str(&text(self));
            }
        })+
    };
}

written_as! {
    String: Clone::clone,
    bool: ToString::to_string,
    u32: ToString::to_string,
    u64: ToString::to_string,
    Routing: |routing| routing.as_str().to_owned(),
    Protocol: |protocol| protocol.as_str().to_owned(),
    StatusRange: |range| format!("{}-{}", range.min, range.max),
    // Its value may be a secret.
    Header: |header| format!("{}:***", header.name),
    (String, Vec<String>): |(server, addresses)| format!("{server}={}", addresses.join("+")),
}

impl<T: Written> Written for Vec<T> {
    fn write(&self, out: &mut String) {
        for (at, value) in self.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            value.write(out);
        }
    }
}

fn zone(fields: &ZonePatch) -> Line {
    let ZonePatch { name_servers, mailbox, ecs, timers } = fields;
    let ZoneTimers { soa_ttl, refresh, retry, expire, negative_ttl, name_server_ttl } = timers;
    Line::default()
        .edit("name_servers", name_servers)
        .edit("mailbox", mailbox)
        .edit("ecs", ecs)
        .edit("soa_ttl", soa_ttl)
        .edit("refresh", refresh)
        .edit("retry", retry)
        .edit("expire", expire)
        .edit("negative_ttl", negative_ttl)
        .edit("name_server_ttl", name_server_ttl)
}

fn profile(fields: &ProfilePatch) -> Line {
    let ProfilePatch { routing, ttl, max_return, flatten, max_removal, removal_window_ms, enabled, monitor } =
        fields;
    let MonitorPatch {
        protocol,
        port,
        path,
        interval_ms,
        timeout_ms,
        tolerated_failures,
        recovery_successes,
        expect,
        headers,
    } = monitor;
    Line::default()
        .edit("routing", routing)
        .edit("ttl", ttl)
        .edit("max_return", max_return)
        .edit("flatten", flatten)
        .edit("max_removal_percent", max_removal)
        .edit("removal_window_ms", removal_window_ms)
        .edit("enabled", enabled)
        .edit("protocol", protocol)
        .edit("port", port)
        .edit("path", path)
        .edit("interval_ms", interval_ms)
        .edit("timeout_ms", timeout_ms)
        .edit("tolerated_failures", tolerated_failures)
        .edit("recovery_successes", recovery_successes)
        .edit("expect", expect)
        .edit("headers", headers)
}

fn endpoint(fields: &EndpointPatch) -> Line {
    let EndpointPatch {
        target,
        nested,
        service,
        endpoints_min,
        endpoints_min_v4,
        endpoints_min_v6,
        enabled,
        priority,
        weight,
        location,
        geo,
        subnets,
        always_serve,
        headers,
    } = fields;
    Line::default()
        .edit("target", target)
        .edit("nested", nested)
        .edit("service", service)
        .edit("endpoints_min", endpoints_min)
        .edit("endpoints_min_v4", endpoints_min_v4)
        .edit("endpoints_min_v6", endpoints_min_v6)
        .edit("enabled", enabled)
        .edit("priority", priority)
        .edit("weight", weight)
        .edit("location", location)
        .edit("geo", geo)
        .edit("subnets", subnets)
        .edit("always_serve", always_serve)
        .edit("headers", headers)
}

fn service(fields: &ServicePatch) -> Line {
    let ServicePatch { target, location } = fields;
    Line::default().edit("target", target).edit("location", location)
}
