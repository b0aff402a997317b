//! From a command to the file that carries it out.

use super::records::Place;
use super::step::Step;
use super::{
    agent, brake, endpoint, enrolment, flatten, geography, latency, learned, outcomes, overrides, profile,
    records, region, remember, service, zone,
};
use crate::model::{MemberId, Timestamp};
use crate::state::{
    Action, Applied, ApplyLevel, AuditTrail, Command, Context, CookieSecret, Rejection, State,
};

/// Carries `command` out on `state`: a pure function, so that every member comes to the same state.
///
/// A command that is refused, or that changes nothing, leaves the state as it was, but for the memory of its mark
/// (CLI-4) and the audit trail (SEC-5); any other raises the counter by one. A command whose mark is remembered is answered as it was then.
pub fn apply(state: &State, context: Context, command: &Command) -> Applied {
    if let Some(reply) = remember::recall(state, command.id) {
        return Applied { state: state.clone(), reply, changes: Vec::new() };
    }
    let mut step = Step::new(state, context, &command.author);
    let accepted = dispatch(&mut step, &command.action);
    let mut applied = step.close(accepted);
    AuditTrail::note(&mut applied, state, context, command);
    remember::keep(&mut applied.state, command.id, &applied.reply);
    applied
}

fn dispatch(step: &mut Step<'_>, action: &Action) -> Result<(), Rejection> {
    match action {
        Action::Found { cluster, cookies } => found(step, cluster, *cookies),
        Action::CreateZone { name, fields } => zone::create(step, name, fields),
        Action::UpdateZone { name, fields, if_revision } => zone::update(step, name, fields, *if_revision),
        Action::DeleteZone { name, if_revision } => zone::delete(step, name, *if_revision),
        Action::CreateProfile { name, zone, relative_name, fields, endpoints } => {
            profile::create(step, profile::Wish { name, zone, relative_name, fields, endpoints })
        }
        Action::UpdateProfile { name, fields, if_revision } => {
            profile::update(step, name, fields, *if_revision)
        }
        Action::DeleteProfile { name, if_revision } => profile::delete(step, name, *if_revision),
        Action::AddEndpoint { profile, name, fields, if_revision } => {
            endpoint::add(step, profile, name, fields, *if_revision)
        }
        Action::UpdateEndpoint { profile, name, fields, if_revision } => {
            endpoint::update(step, profile, name, fields, *if_revision)
        }
        Action::RemoveEndpoint { profile, name, if_revision } => {
            endpoint::remove(step, profile, name, *if_revision)
        }
        Action::OverrideEndpoints { pattern, kind, reason, span_ms, even_last } => {
            let wish = overrides::Wish { kind: *kind, reason, span_ms: *span_ms, even_last: *even_last };
            overrides::make(step, pattern, wish)
        }
        Action::LiftOverrides { pattern, reason } => overrides::lift(step, pattern, reason),
        Action::EndOverrides { ended } => overrides::end(step, ended),
        Action::ReleaseBrakes { due } => brake::release(step, due),
        Action::SetRecords { zone, relative_name, record_type, ttl, data, if_revision } => {
            records::set(step, Place { zone, relative_name, record_type }, *ttl, data, *if_revision)
        }
        Action::DeleteRecords { zone, relative_name, record_type, if_revision } => {
            records::delete(step, Place { zone, relative_name, record_type }, *if_revision)
        }
        Action::RegisterService { name, fields, if_revision } => {
            service::register(step, name, fields, *if_revision)
        }
        Action::SwitchService { name, is_running, if_revision } => {
            service::switch(step, name, *is_running, *if_revision)
        }
        Action::DeleteService { name, if_revision } => service::delete(step, name, *if_revision),
        Action::UpdateLatency { set, remove } => latency::update(step, set, remove),
        Action::LearnLatencies { region, found } => learned::learn(step, region, found),
        Action::ForgetLatencies { before } => learned::forget(step, *before),
        Action::UseGeo { digest, if_revision } => geography::use_table(step, *digest, *if_revision),
        Action::SetGeoOverride { network, place } => geography::set_override(step, network, place),
        Action::DeleteGeoOverride { network, if_revision } => {
            geography::delete_override(step, network, *if_revision)
        }
        Action::SetRegion(region) => region::set(step, region),
        Action::DeleteRegion { name, if_revision } => region::delete(step, name, *if_revision),
        Action::OpenSession { agent, region, run, version, member, is_blind } => {
            let (run, member, is_blind) = (*run, *member, *is_blind);
            agent::open_session(step, agent::Hello { agent, region, run, version, member, is_blind })
        }
        Action::SetSight { agent, session, is_blind } => agent::set_sight(step, agent, *session, *is_blind),
        Action::RecordOutcomes { agent, run, outcomes } => outcomes::record(step, agent, *run, outcomes),
        Action::ExpireVerdicts { agent, session, endpoints } => {
            agent::expire_verdicts(step, agent, *session, endpoints)
        }
        Action::LoseAgent { agent, session } => agent::lose(step, agent, *session),
        Action::ForgetHistory { before } => forget_history(step, *before),
        Action::RotateCookies { fresh } => rotate_cookies(step, *fresh),
        Action::FlattenTargets { found } => flatten::take_in(step, found),
        Action::AllotMember { number } => allot_member(step, *number),
        Action::RaiseApplyLevel { to } => raise_apply_level(step, *to),
        Action::Audit { .. } => Ok(()),
        Action::Enrolment(wish) => enrolment::carry_out(step, wish),
        Action::ForgetAgent { name } => agent::forget(step, name),
    }
}

/// Whether anything goes is not looked at: the counter must rise on all members or on none.
fn forget_history(step: &mut Step<'_>, before: Timestamp) -> Result<(), Rejection> {
    step.state.history.forget(before);
    step.mark_changed();
    Ok(())
}

fn allot_member(step: &mut Step<'_>, number: MemberId) -> Result<(), Rejection> {
    if number.0 > step.state.last_member {
        step.state.last_member = number.0;
        step.mark_changed();
    }
    Ok(())
}

fn raise_apply_level(step: &mut Step<'_>, to: ApplyLevel) -> Result<(), Rejection> {
    if to > step.state.apply_level {
        step.state.apply_level = to;
        step.mark_changed();
    }
    Ok(())
}

fn rotate_cookies(step: &mut Step<'_>, fresh: CookieSecret) -> Result<(), Rejection> {
    if step.state.cookies.rotate(fresh, step.context.at) {
        step.mark_changed();
    }
    Ok(())
}

/// The first identity stays: what comes later changes nothing.
fn found(step: &mut Step<'_>, cluster: &str, cookies: Option<CookieSecret>) -> Result<(), Rejection> {
    if step.state.cluster.is_empty() && !cluster.is_empty() {
        step.state.cluster = cluster.to_owned();
        if let Some(fresh) = cookies {
            step.state.cookies.rotate(fresh, step.context.at);
        }
        // Before it there was nothing that could be asked about.
        step.state.history.begin_at(step.context.at);
        step.mark_changed();
    }
    Ok(())
}
