//! What one name of our zones holds for one type: zone data before a profile, and why there is nothing if there is
//! nothing.

use std::sync::Arc;

use super::{Rcode, Record, RecordData, RecordType, static_records, zone_data};
use crate::model::{Name, Span, Target, Zone};
use crate::routing::{Absence, Asked, Choice, Client, Trace, choose};
use crate::state::{Plan, View};

/// What a name came to.
#[derive(Debug)]
pub(super) enum Found {
    /// One RRset, and what goes with it into the additional section; the same for the clients in `reach`.
    Records { answers: Vec<Record>, additional: Vec<Record>, reach: Span },
    /// An alias, which takes the chain on to its target; the same for the clients in `reach`.
    Alias { target: Name, ttl: u32, reach: Span },
    /// Nothing. `ttl_max` bounds how long that may be believed; the same for the clients in `reach`.
    Nothing { rcode: Rcode, ttl_max: Option<u32>, reach: Span },
}

/// One name to look up, with all that the answer depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup<'a> {
    pub(super) view: &'a View,
    /// The zone that answers: the closest around the name, but for DS at a nested zone's.
    pub(super) zone: &'a Zone,
    pub(super) name: &'a Name,
    pub(super) record_type: RecordType,
    /// Who asks.
    pub(super) client: Client,
    /// How many names came before this one in the chain.
    pub(super) level: u32,
    /// The query's draw.
    pub(super) draw: u64,
}

impl<'a> Lookup<'a> {
    /// Looks the name up; the first row that applies. Names with addresses have no profile (DNS-16), and names with static
    /// records have neither (DNS-17).
    ///
    /// | name | type | found |
    /// |---|---|---|
    /// | the zone's | SOA, NS | the zone's record or records |
    /// | a nested zone's | DS | the static records of that type, if any: nothing else of that name is this zone's |
    /// | a name server's with addresses | A, AAAA, ANY | its addresses of that type, if any |
    /// | a profile's | any | what the profile chooses, if anything |
    /// | with static records | any | the alias, or the records of that type |
    /// | the zone's | ANY | the zone's SOA |
    /// | with anything at or below it | any | nothing, NOERROR: NODATA |
    /// | others | any | nothing, NXDOMAIN |
    pub(super) fn run(self, trace: &mut impl Trace) -> Found {
        let zone = self.zone;
        let is_apex = *self.name == zone.name;
        match self.record_type {
            RecordType::SOA if is_apex => return self.zone_soa(trace),
            RecordType::NS if is_apex => {
                trace.reason(|| format!("zone data: the name servers of {}", zone.name));
                return self.zone_data(zone_data::name_servers(zone), zone_data::glue(zone, self.view));
            }
            RecordType::DS if !is_apex && self.view.state.zones.contains_key(self.name) => {
                return self.static_records(trace).unwrap_or_else(|| self.nothing(None, trace));
            }
            _ => {}
        }
        if let Some(found) = self.name_server(trace) {
            return found;
        }
        let plan = self.view.plan(self.name.as_wire());
        let found = match plan {
            Some(plan) => self.profile(plan, trace).map_err(Some),
            None => self.static_records(trace).ok_or(None),
        };
        match found {
            Ok(found) => found,
            Err(_) if is_apex && self.record_type == RecordType::ANY => self.zone_soa(trace),
            Err(absence) => self.nothing(plan.zip(absence), trace),
        }
    }

    fn zone_soa(self, trace: &mut impl Trace) -> Found {
        trace.reason(|| format!("zone data: the start of authority of {}", self.zone.name));
        self.zone_data(vec![zone_data::soa(self.zone)], Vec::new())
    }

    /// What is the same for everybody.
    fn zone_data(self, answers: Vec<Record>, additional: Vec<Record>) -> Found {
        Found::Records { answers, additional, reach: self.client.everybody() }
    }

    fn name_server(self, trace: &mut impl Trace) -> Option<Found> {
        let answers = zone_data::addresses(self.name, self.view, self.record_type);
        if answers.is_empty() {
            return None;
        }
        trace.reason(|| format!("zone data: the addresses of name server {}", self.name));
        Some(self.zone_data(answers, Vec::new()))
    }

    /// What the name holds beside profiles and zone data. Types are the same for everybody.
    fn static_records(self, trace: &mut impl Trace) -> Option<Found> {
        let set = static_records::answering(self.view.state.record_sets(self.name), self.record_type)?;
        let answers: Vec<Record> = static_records::records(set).collect();
        trace.reason(|| {
            format!("static records: {} of type {} at {}", answers.len(), set.record_type, self.name)
        });
        match answers.first().map(|record| &record.data) {
            Some(RecordData::Cname(target)) => {
                let (target, reach) = (target.clone(), self.client.everybody());
                Some(Found::Alias { target, ttl: set.ttl, reach })
            }
            _ => Some(self.zone_data(answers, Vec::new())),
        }
    }

    /// What a profile answers with: its endpoints', or a nested one's child's, under its own name and TTL (RTE-12).
    fn profile(self, plan: &'a Arc<Plan>, trace: &mut impl Trace) -> Result<Found, (Absence, Span)> {
        let (record_type, Choice { chosen, reach }) = self.choose(plan, trace);
        let (leaf, chosen) = chosen.map_err(|absence| (absence, reach))?;
        let ttl = plan.profile.effective_ttl();
        let targets =
            || chosen.positions().flat_map(|position| leaf.endpoints[position].answers(record_type));
        trace.reason(|| why_these(plan, targets()));
        let mut answers = Vec::new();
        for target in targets() {
            let data = match target {
                Target::Name(target) => return Ok(Found::Alias { target: target.clone(), ttl, reach }),
                Target::V4(address) => RecordData::A(*address),
                Target::V6(address) => RecordData::Aaaa(*address),
            };
            answers.push(Record { name: self.name.clone(), ttl, data });
        }
        Ok(Found::Records { answers, additional: Vec::new(), reach })
    }

    /// Whom the profile chooses for this client, and for which type: ANY stands for A, and for AAAA where A has nobody for the
    /// client (DNS-7).
    fn choose(self, plan: &'a Arc<Plan>, trace: &mut impl Trace) -> (RecordType, Choice<'a>) {
        let Self { view, client, level, draw, .. } = self;
        let mut by = |record_type| choose(&Asked { view, record_type, client, level, draw }, plan, trace);
        if self.record_type != RecordType::ANY {
            return (self.record_type, by(self.record_type));
        }
        let first = by(RecordType::A);
        if first.chosen.is_ok() {
            return (RecordType::A, first);
        }
        let second = by(RecordType::AAAA);
        // The client is in both.
        let reach = first.reach.intersect(&second.reach).unwrap_or(second.reach);
        (RecordType::AAAA, Choice { reach, ..second })
    }

    /// NODATA where anything exists at or below the name, else NXDOMAIN (DNS-5, RFC 8020); `absent` is the profile at
    /// the name and why it has nobody.
    fn nothing(self, absent: Option<(&Arc<Plan>, (Absence, Span))>, trace: &mut impl Trace) -> Found {
        let reach = absent.map_or(self.client.everybody(), |(_, (_, reach))| reach);
        let absent = absent.map(|(plan, (absence, _))| (plan, absence));
        let is_present = self.view.is_present(self.name);
        trace.reason(|| self.why_nothing(absent, is_present));
        Found::Nothing {
            rcode: if is_present { Rcode::NoError } else { Rcode::NxDomain },
            ttl_max: absent.map(|(plan, _)| plan.profile.effective_ttl()),
            reach,
        }
    }

    fn why_nothing(self, absent: Option<(&Arc<Plan>, Absence)>, is_present: bool) -> String {
        let Self { name, record_type, .. } = self;
        let why = absent.map(|(plan, absence)| absence.reason(plan, &self.view.statuses, record_type));
        match (is_present, why) {
            (true, Some(why)) => format!("NODATA: {why}"),
            (true, None) => format!("NODATA: {name} exists, but has no {record_type} record of its own"),
            (false, Some(why)) => format!("NXDOMAIN: {why}, and nothing else exists at or below {name}"),
            (false, None) => format!("NXDOMAIN: nothing exists at or below {name}"),
        }
    }
}

fn why_these<'a>(plan: &Plan, targets: impl Iterator<Item = &'a Target>) -> String {
    let mut targets = targets.map(|target| match target {
        Target::Name(name) => format!("the alias {name}"),
        address => address.to_string(),
    });
    let first = targets.next().unwrap_or_default();
    let list = targets.fold(first, |list, target| format!("{list}, {target}"));
    format!("profile '{}' answers with {list}", plan.profile.name)
}
