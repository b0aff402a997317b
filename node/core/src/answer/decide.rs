//! The walk from the name that is asked for along its chain of aliases to the end of the answer.

use super::lookup::{Found, Lookup};
use super::scope::Scope;
use super::{Answer, Query, Rcode, Record, RecordData, RecordType, zone_data};
use crate::model::Name;
use crate::routing::Trace;
use crate::state::View;

/// Most aliases in one answer (DNS-6). A resolver that wants more of the chain asks for its last name.
pub const ALIASES_MAX: u32 = 8;

/// Answers `query` from `view`. `draw` is 64 random bits, from which all chance comes (§1.5); `trace` is told of each
/// step. The same view, query and draw give the same answer on every member (RTE-14).
///
/// | name | answer |
/// |---|---|
/// | outside our zones | REFUSED at the start; behind an alias the chain so far |
/// | holds the type | its RRset |
/// | is an alias | CNAME, then the same for its target; CNAME alone if that or ANY is asked for, or in a loop |
/// | is an alias behind 8 others | the chain so far |
/// | holds nothing | NODATA or NXDOMAIN with the SOA of its own zone |
pub fn decide(view: &View, query: &Query, draw: u64, trace: &mut impl Trace) -> Answer {
    let mut answer = Answer::empty(Rcode::NoError);
    let mut scope = Scope::of(view, query);
    let mut name = query.name.clone();
    for level in 0..=ALIASES_MAX {
        let Some(zone) = view.state.answering_zone(&name, query.record_type) else {
            answer = leave(answer, &name, trace);
            break;
        };
        trace.zone(&zone.name);
        let (record_type, client) = (query.record_type, scope.client(query, zone));
        match (Lookup { view, zone, name: &name, record_type, client, level, draw }).run(trace) {
            Found::Records { answers, additional, reach } => {
                scope.narrow(&client, reach);
                answer.answers.extend(answers);
                answer.additional = additional;
                break;
            }
            Found::Nothing { rcode, ttl_max, reach } => {
                scope.narrow(&client, reach);
                answer.rcode = rcode;
                answer.authority.push(zone_data::negative_soa(zone, ttl_max));
                break;
            }
            Found::Alias { reach, .. } if level == ALIASES_MAX => {
                scope.narrow(&client, reach);
                trace.reason(|| format!("{ALIASES_MAX} aliases in a row: the chain so far"));
            }
            Found::Alias { target, ttl, reach } => {
                scope.narrow(&client, reach);
                let data = RecordData::Cname(target.clone());
                answer.answers.push(Record { name, ttl, data });
                if is_end(&answer, &target, record_type, trace) {
                    break;
                }
                name = target;
            }
        }
    }
    answer.scope = scope.prefix(!answer.answers.is_empty());
    answer
}

/// The end of an answer whose next name no zone of ours encloses (DNS-4, DNS-6).
fn leave(answer: Answer, name: &Name, trace: &mut impl Trace) -> Answer {
    if answer.answers.is_empty() {
        trace.reason(|| format!("REFUSED: no zone here encloses {name}"));
        return Answer::empty(Rcode::Refused);
    }
    trace.reason(|| format!("{name} is outside the zones here: the resolver goes on from there"));
    answer
}

/// Does the chain end with the last alias of `answer`, which points to `target`?
fn is_end(answer: &Answer, target: &Name, record_type: RecordType, trace: &mut impl Trace) -> bool {
    if matches!(record_type, RecordType::CNAME | RecordType::ANY) {
        // The alias itself is what was asked for.
        return true;
    }
    let is_loop = answer.answers.iter().any(|record| record.name == *target);
    if is_loop {
        trace.reason(|| format!("the aliases form a loop at {target}: the chain so far"));
    }
    is_loop
}
