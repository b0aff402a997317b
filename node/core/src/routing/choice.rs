//! Whom a profile answers one query with: its pool, its method, and then the same in the child of a nested endpoint
//! (RTE-12).

use std::sync::Arc;

use super::question::{Question, Ruling};
use super::{
    Absence, ChoiceDetails, Chosen, Client, EndpointStanding, Passed, Pool, Standing, Trace, geographic, mix,
    multivalue, performance, priority, subnet, weighted,
};
use crate::model::{RecordType, Routing, Span, profile_limits::NESTING_MAX};
use crate::state::{Plan, View};

/// Most profiles that one query asks, so that nested ones without anybody for a client cannot make it long.
const ASKED_MAX: u32 = 256;

/// What is asked of a profile.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What is known.
    pub view: &'a View,
    /// The type that the answer must have.
    pub record_type: RecordType,
    /// Who asks.
    pub client: Client,
    /// How many names came before this one in the chain.
    pub level: u32,
    /// The query's draw.
    pub draw: u64,
}

/// Whom a profile chose, through all nested levels.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The endpoints that answer and the plan in which they stand, or why there are none.
    pub chosen: Result<(&'a Arc<Plan>, Chosen), Absence>,
    /// Clients around this one for whom the choice is made alike, this one included.
    pub reach: Span,
}

/// Chooses for `asked` in `plan`.
pub fn choose<'a>(asked: &Asked<'a>, plan: &'a Arc<Plan>, trace: &mut impl Trace) -> Choice<'a> {
    Walk { asked, trace, asked_left: ASKED_MAX }.choose(plan, 0)
}

/// One decision under way.
struct Walk<'a, 'w, T> {
    asked: &'w Asked<'a>,
    trace: &'w mut T,
    asked_left: u32,
}

impl<'a, T: Trace> Walk<'a, '_, T> {
    /// Chooses in `plan`, which stands `depth` levels below the profile that was asked for. A nested endpoint whose
    /// child has nobody is passed over, but not by the methods that say who answers a client, and nobody else
    /// (RTE-12).
    fn choose(&mut self, plan: &'a Arc<Plan>, depth: u32) -> Choice<'a> {
        let mut reach = self.asked.client.everybody();
        let mut passed = Passed::default();
        for attempt in 0.. {
            if self.asked_left == 0 {
                return Choice { chosen: Err(Absence::Effort), reach };
            }
            self.asked_left -= 1;
            let question = self.question(plan, depth, attempt, passed);
            let ruling = ask_method(&question);
            let record_type = self.asked.record_type;
            self.trace.choice(plan, || details(&question, &ruling, record_type, depth));
            reach = both(reach, ruling.reach);
            let chosen = match ruling.chosen {
                Ok(chosen) => chosen,
                Err(Absence::Type) if attempt > 0 => return Choice { chosen: Err(Absence::Children), reach },
                Err(absence) => return Choice { chosen: Err(absence), reach },
            };
            let Some((position, child)) = self.nested(plan, &chosen) else {
                return Choice { chosen: Ok((plan, chosen)), reach };
            };
            let inner = self.choose(child, depth + 1);
            reach = both(reach, inner.reach);
            match (inner.chosen, plan.profile.routing) {
                (Ok(_) | Err(Absence::Effort), _) => return Choice { chosen: inner.chosen, reach },
                (Err(_), Routing::Geographic | Routing::Subnet) => {
                    return Choice { chosen: Err(Absence::Asked(position)), reach };
                }
                (Err(_), _) => passed.insert(position),
            }
        }
        unreachable!("each attempt passes over one more endpoint, and a pool without members ends it")
    }

    fn question(&self, plan: &'a Arc<Plan>, depth: u32, attempt: u32, passed: Passed) -> Question<'a> {
        let Asked { view, record_type, client, level, draw } = *self.asked;
        let level = level * (NESTING_MAX as u32 + 1) + depth;
        Question {
            view,
            plan,
            pool: Pool::of(plan, &view.statuses, record_type, passed),
            client,
            draw: mix(draw, level, plan.profile.id, attempt),
        }
    }

    /// The child of the endpoint that was chosen, if it is nested: then it was chosen alone (SET-22).
    fn nested(&self, plan: &Plan, chosen: &Chosen) -> Option<(usize, &'a Arc<Plan>)> {
        let position = chosen.positions().next()?;
        let child = plan.endpoints[position].child?;
        Some((position, self.asked.view.plan_by_id(child)?))
    }
}

fn ask_method(question: &Question<'_>) -> Ruling {
    let one = |position: Option<usize>| question.same_for_everybody(position.map(Chosen::one));
    match question.plan.profile.routing {
        Routing::Priority => one(priority::choose(question.pool.members())),
        Routing::Weighted => one(weighted::choose(question.pool.members(), question.draw)),
        Routing::Performance => performance::choose(question),
        Routing::Geographic => or_nobody_at_all(question, geographic::choose(question)),
        Routing::Multivalue => multivalue::choose(question),
        Routing::Subnet => or_nobody_at_all(question, subnet::choose(question)),
    }
}

/// A profile that has nobody for anybody says so, rather than that it has nobody for this client.
fn or_nobody_at_all(question: &Question<'_>, ruling: Ruling) -> Ruling {
    if ruling.chosen.is_ok() {
        return ruling;
    }
    match Absence::of(question.plan, &question.view.statuses) {
        Absence::Type => ruling,
        absence => Ruling { chosen: Err(absence), ..ruling },
    }
}

/// Both hold the client, so they have it in common.
fn both(one: Span, other: Span) -> Span {
    one.intersect(&other).unwrap_or(one)
}

fn details(question: &Question<'_>, ruling: &Ruling, record_type: RecordType, depth: u32) -> ChoiceDetails {
    let Question { plan, pool, draw, .. } = question;
    let standing = |position| EndpointStanding {
        standing: pool.standing(position),
        reason: reason(question, ruling, position),
    };
    let rule = match &ruling.chosen {
        Ok(chosen) => rule(question, chosen),
        Err(absence) => format!("nobody: {}", absence.reason(plan, &question.view.statuses, record_type)),
    };
    ChoiceDetails {
        depth,
        pool: pool.kind(),
        standings: (0..plan.endpoints.len()).map(standing).collect(),
        chosen: ruling.chosen.iter().flat_map(Chosen::positions).collect(),
        rule,
        draw: *draw,
    }
}

/// Why the endpoint at `position` is in the pool or not; under the methods that ask the one endpoint that the client
/// belongs to, why it was asked or not, unless it cannot serve at all.
fn reason(question: &Question<'_>, ruling: &Ruling, position: usize) -> String {
    let can_serve =
        matches!(question.pool.standing(position), Standing::In | Standing::BestEffort | Standing::Degraded);
    match question.plan.profile.routing {
        Routing::Geographic if can_serve => geographic::reason(question, position),
        Routing::Subnet if can_serve => subnet::reason(question, ruling, position),
        _ => question.pool.reason(position),
    }
}

/// Why these were chosen, in one line.
fn rule(question: &Question<'_>, chosen: &Chosen) -> String {
    let Question { plan, pool, .. } = question;
    let first = chosen.positions().next().map(|position| &plan.endpoints[position]);
    match (plan.profile.routing, first) {
        (Routing::Priority, Some(first)) => priority::rule(first),
        (Routing::Weighted, Some(first)) => weighted::rule(pool.members(), first),
        (Routing::Performance, _) => performance::rule(question, chosen),
        (Routing::Geographic, _) => geographic::rule(question),
        (Routing::Multivalue, _) => multivalue::rule(question, chosen),
        (Routing::Subnet, _) => subnet::rule(question, chosen),
        (_, None) => String::new(),
    }
}
