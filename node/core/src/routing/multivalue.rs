//! The method `multivalue` (RTE-9): several of the pool at once, chosen and ordered anew for each query.
//!
//! | pool | chosen |
//! |---|---|
//! | empty | nobody |
//! | n endpoints, at most `max return` m | all n, in a fair random order |
//! | more | m of them, each set of m and each order as likely as any other |
//!
//! The first m steps of a Fisher–Yates shuffle. Each step draws for itself from the query's draw, and a draw becomes a
//! position by a product of 128 bits, as in `weighted`.

use super::question::{Question, Ruling};
use super::{Chosen, mix};
use crate::model::profile_limits::ENDPOINTS_MAX;

/// Some of the pool.
pub(super) fn choose(question: &Question<'_>) -> Ruling {
    let mut shuffled = [0_usize; ENDPOINTS_MAX];
    let mut count = 0;
    for ((position, _), free) in question.pool.members().zip(&mut shuffled) {
        *free = position;
        count += 1;
    }
    let wanted = count.min(question.plan.profile.effective_max_return() as usize);
    for step in 0..wanted {
        let draw = mix(question.draw, step as u32, question.plan.profile.id, 0);
        let ahead = (u128::from(draw) * (count - step) as u128) >> 64;
        shuffled.swap(step, step + ahead as usize);
    }
    let chosen = (wanted > 0).then(|| shuffled[..wanted].iter().copied().collect::<Chosen>());
    question.same_for_everybody(chosen)
}

/// Why these were chosen, in one line.
pub(super) fn rule(question: &Question<'_>, chosen: &Chosen) -> String {
    let (drawn, members) = (chosen.positions().count(), question.pool.members().count());
    format!("multivalue: {drawn} of the {members} in the pool, drawn and ordered anew for each query")
}
