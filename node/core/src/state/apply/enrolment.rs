//! The issuing authority and join tokens (SEC-1): each token lets one agent in, once.

use std::sync::Arc;

use super::lookup;
use super::step::Step;
use crate::model::{Timestamp, Violations, shorten, validate_agent};
use crate::state::{
    Enrolment, EnrolmentWish, IssuingAuthority, JoinToken, KeyHash, Rejection, SealedKey, State, TokenHash,
};

pub(super) fn carry_out(step: &mut Step<'_>, wish: &EnrolmentWish) -> Result<(), Rejection> {
    match wish {
        EnrolmentWish::Install { chain, key, lifetime_s } => install(step, chain, key, *lifetime_s),
        EnrolmentWish::Uninstall => uninstall(step),
        EnrolmentWish::MakeToken { hash, agent, region, span_ms } => {
            make_token(step, *hash, agent, region, *span_ms)
        }
        EnrolmentWish::DropToken { id } => drop_token(step, id),
        EnrolmentWish::Redeem { hash, key } => redeem(step, *hash, *key),
        EnrolmentWish::EndTokens { ended } => end_tokens(step, ended),
    }
}

fn install(
    step: &mut Step<'_>,
    chain: &[Arc<[u8]>],
    key: &SealedKey,
    lifetime_s: u64,
) -> Result<(), Rejection> {
    let mut violations = Violations::new();
    let most = Enrolment::PART_BYTES_MAX as u64;
    violations.range("certificates", chain.len() as u64, 1, Enrolment::CHAIN_MAX as u64);
    for (place, part) in chain.iter().enumerate() {
        let bytes = part.len() as u64;
        violations.within(&format!("certificates[{place}]"), |found| found.range("bytes", bytes, 1, most));
    }
    violations.range("key.bytes", key.0.len() as u64, 1, most);
    let (shortest, longest) = Enrolment::LIFETIME_S;
    if !(shortest..=longest).contains(&lifetime_s) {
        violations.add("for", format!("{lifetime_s} s is outside 10s–365d"));
    }
    refuse_if_any(violations)?;
    step.state.enrolment.authority = Some(Arc::new(IssuingAuthority {
        chain: chain.to_vec(),
        key: key.clone(),
        lifetime_s,
        author: step.author.to_owned(),
        since: step.context.at,
        revision: step.revision,
    }));
    step.mark_changed();
    Ok(())
}

/// Nothing is to come of tokens that were made before, should another authority be installed later.
fn uninstall(step: &mut Step<'_>) -> Result<(), Rejection> {
    require_authority(&step.state)?;
    step.state.enrolment = Enrolment::default();
    step.mark_changed();
    Ok(())
}

fn make_token(
    step: &mut Step<'_>,
    hash: TokenHash,
    agent: &str,
    region: &str,
    span_ms: u64,
) -> Result<(), Rejection> {
    require_authority(&step.state)?;
    let mut violations = Violations::new();
    validate_agent(agent, "", &mut violations);
    let (shortest, longest) = Enrolment::SPAN_MS;
    if !(shortest..=longest).contains(&span_ms) {
        violations.add("for", format!("{span_ms} ms is outside 1s–7d"));
    }
    let count = step.state.enrolment.tokens.len();
    if count >= Enrolment::TOKENS_MAX {
        let most = format!("{count} join tokens are outstanding, the most there may be");
        violations.add("", format!("{most}: take some back, or wait until they end"));
    }
    refuse_if_any(violations)?;
    let region = lookup::region(&step.state, region)?.name;
    let id = hash.id();
    if find(&step.state, &id).is_some() {
        return Err(Rejection::Exists { noun: "join token", name: id });
    }
    let at = step.context.at;
    let token = JoinToken {
        agent: agent.to_owned(),
        region,
        author: step.author.to_owned(),
        at,
        ends: Timestamp(at.0.saturating_add(span_ms)),
        redeemed: None,
    };
    step.state.enrolment.tokens.insert(hash, Arc::new(token));
    step.mark_changed();
    Ok(())
}

fn drop_token(step: &mut Step<'_>, id: &str) -> Result<(), Rejection> {
    let hash = find(&step.state, id).ok_or_else(|| no_token(id))?;
    step.state.enrolment.tokens.remove(&hash);
    step.mark_changed();
    Ok(())
}

/// The first key counts. For the same one it is done already: an answer that was lost can be asked for again.
fn redeem(step: &mut Step<'_>, hash: TokenHash, key: KeyHash) -> Result<(), Rejection> {
    require_authority(&step.state)?;
    let token = step.state.enrolment.tokens.get(&hash).cloned().ok_or_else(|| no_token(&hash.id()))?;
    match token.redeemed {
        Some(before) if before == key => return Ok(()),
        Some(_) => {
            let by = vec!["another key: it was redeemed already".to_owned()];
            return Err(Rejection::InUse { noun: "join token", name: hash.id(), by });
        }
        None => {}
    }
    let redeemed = JoinToken { redeemed: Some(key), ..JoinToken::clone(&token) };
    step.state.enrolment.tokens.insert(hash, Arc::new(redeemed));
    step.mark_changed();
    Ok(())
}

/// Never refused: those that have gone meanwhile are passed over.
fn end_tokens(step: &mut Step<'_>, ended: &[TokenHash]) -> Result<(), Rejection> {
    for hash in ended {
        if step.state.enrolment.tokens.remove(hash).is_some() {
            step.mark_changed();
        }
    }
    Ok(())
}

fn require_authority(state: &State) -> Result<(), Rejection> {
    let mut violations = Violations::new();
    if state.enrolment.authority.is_none() {
        violations.add("", "the cluster has no issuing authority: 'waymark pki install' gives it one");
    }
    refuse_if_any(violations)
}

fn find(state: &State, id: &str) -> Option<TokenHash> {
    state.enrolment.tokens.keys().find(|hash| hash.id().eq_ignore_ascii_case(id)).copied()
}

fn no_token(id: &str) -> Rejection {
    Rejection::NotFound { noun: "join token", name: shorten(id), hint: None }
}

fn refuse_if_any(violations: Violations) -> Result<(), Rejection> {
    if violations.is_empty() { Ok(()) } else { Err(Rejection::Invalid(violations.into_vec())) }
}
