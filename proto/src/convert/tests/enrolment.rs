//! Arbitrary authorities and join tokens (SEC-1), and those of the golden state.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use waymark_core::model::{Revision, Timestamp};
use waymark_core::state::{
    Action, Enrolment, EnrolmentWish, IssuingAuthority, JoinToken, KeyHash, SealedKey, State, TokenHash,
};

use super::arbitrary::{caseless, revision, text, timestamp};

fn bytes() -> impl Strategy<Value = Arc<[u8]>> {
    vec(any::<u8>(), 0..40).prop_map(Arc::from)
}

fn hash() -> impl Strategy<Value = TokenHash> {
    any::<[u8; 32]>().prop_map(TokenHash)
}

pub(super) fn action() -> impl Strategy<Value = Action> {
    let wish = prop_oneof![
        (vec(bytes(), 0..3), bytes(), any::<u64>()).prop_map(|(chain, key, lifetime_s)| {
            EnrolmentWish::Install { chain, key: SealedKey(key), lifetime_s }
        }),
        Just(EnrolmentWish::Uninstall),
        (hash(), text(), text(), any::<u64>()).prop_map(|(hash, agent, region, span_ms)| {
            EnrolmentWish::MakeToken { hash, agent, region, span_ms }
        }),
        text().prop_map(|id| EnrolmentWish::DropToken { id }),
        (hash(), any::<[u8; 32]>()).prop_map(|(hash, key)| EnrolmentWish::Redeem { hash, key: KeyHash(key) }),
        vec(hash(), 0..3).prop_map(|ended| EnrolmentWish::EndTokens { ended }),
    ];
    wish.prop_map(Action::Enrolment)
}

/// Puts an authority and tokens into a state.
pub(super) fn with_enrolment(state: impl Strategy<Value = State>) -> impl Strategy<Value = State> {
    let authority = (vec(bytes(), 0..3), bytes(), any::<u64>(), text(), timestamp(), revision()).prop_map(
        |(chain, key, lifetime_s, author, since, revision)| {
            let key = SealedKey(key);
            Arc::new(IssuingAuthority { chain, key, lifetime_s, author, since, revision })
        },
    );
    let redeemed = option::of(any::<[u8; 32]>().prop_map(KeyHash));
    let token = (text(), caseless(), text(), timestamp(), timestamp(), redeemed).prop_map(
        |(agent, region, author, at, ends, redeemed)| {
            Arc::new(JoinToken { agent, region, author, at, ends, redeemed })
        },
    );
    (state, option::of(authority), vec((hash(), token), 0..3)).prop_map(|(state, authority, tokens)| {
        let enrolment = Enrolment { authority, tokens: tokens.into_iter().collect() };
        State { enrolment, ..state }
    })
}

fn chain() -> Vec<Arc<[u8]>> {
    vec![Arc::from([0x30, 0x82, 0x01]), Arc::from([0x30, 0x82, 0x02])]
}

pub(super) fn golden_actions() -> Vec<(&'static str, Action)> {
    let (hash, key) = (TokenHash([0xc1; 32]), KeyHash([0xc2; 32]));
    vec![
        (
            "enrolment.install",
            EnrolmentWish::Install {
                chain: chain(),
                key: SealedKey(Arc::from([1, 0xa7, 0xb3])),
                lifetime_s: 2_592_000,
            },
        ),
        ("enrolment.uninstall", EnrolmentWish::Uninstall),
        (
            "enrolment.make_token",
            EnrolmentWish::MakeToken {
                hash,
                agent: "agent-1".into(),
                region: "aws:eu-central-1".into(),
                span_ms: 3_600_000,
            },
        ),
        ("enrolment.drop_token", EnrolmentWish::DropToken { id: hash.id() }),
        ("enrolment.redeem", EnrolmentWish::Redeem { hash, key }),
        ("enrolment.end_tokens", EnrolmentWish::EndTokens { ended: vec![hash, TokenHash([0xc3; 32])] }),
    ]
    .into_iter()
    .map(|(name, wish)| (name, Action::Enrolment(wish)))
    .collect()
}

/// An authority, a token that is outstanding and one that is redeemed.
pub(super) fn add_enrolment(state: &mut State) {
    let authority = IssuingAuthority {
        chain: chain(),
        key: SealedKey(Arc::from([1, 0xa7, 0xb3])),
        lifetime_s: 2_592_000,
        author: "operator/alice".into(),
        since: Timestamp(1_700_000_000_006),
        revision: Revision(15),
    };
    let token = |agent: &str, redeemed| {
        Arc::new(JoinToken {
            agent: agent.into(),
            region: "aws:eu-central-1".into(),
            author: "operator/alice".into(),
            at: Timestamp(1_700_000_000_007),
            ends: Timestamp(1_700_003_600_007),
            redeemed,
        })
    };
    state.enrolment.authority = Some(Arc::new(authority));
    state.enrolment.tokens.insert(TokenHash([0xc1; 32]), token("agent-2", None));
    state.enrolment.tokens.insert(TokenHash([0xc3; 32]), token("agent-1", Some(KeyHash([0xc2; 32]))));
}
