//! SEC-1: an authority is installed within bounds, and a join token lets one agent in, once.

use std::sync::Arc;

use super::Cluster;
use crate::state::{Action, Enrolment, EnrolmentWish, KeyHash, Rejection, Reply, SealedKey, TokenHash};

const HOUR_MS: u64 = 3_600_000;

fn install() -> EnrolmentWish {
    EnrolmentWish::Install {
        chain: vec![Arc::from([1; 300])],
        key: SealedKey(Arc::from([2; 300])),
        lifetime_s: 2_592_000,
    }
}

fn hash(number: u64) -> TokenHash {
    TokenHash::of(&number.to_be_bytes())
}

fn make(number: u64) -> EnrolmentWish {
    EnrolmentWish::MakeToken { hash: hash(number), agent: "a1".into(), region: "R1".into(), span_ms: HOUR_MS }
}

fn redeem(number: u64, key: &str) -> EnrolmentWish {
    EnrolmentWish::Redeem { hash: hash(number), key: KeyHash::of(key.as_bytes()) }
}

impl Cluster {
    fn wish(&mut self, wish: EnrolmentWish) -> Result<Reply, Rejection> {
        self.apply(Action::Enrolment(wish))
    }

    fn refusal(&mut self, wish: EnrolmentWish) -> String {
        self.wish(wish).unwrap_err().to_string()
    }
}

fn installed() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.wish(install()).unwrap();
    cluster
}

#[test]
fn sec_1_a_token_is_redeemed_once_and_its_own_key_may_ask_again() {
    let mut cluster = installed();
    cluster.wish(make(1)).unwrap();
    let token = cluster.state.enrolment.tokens[&hash(1)].clone();
    assert_eq!((token.agent.as_str(), token.region.as_str()), ("a1", "r1"), "the region as it is declared");
    assert_eq!((token.ends.0 - token.at.0, token.author.as_str()), (HOUR_MS, "operator"));
    assert!(cluster.state.enrolment.is_open());

    cluster.wish(redeem(1, "mine")).unwrap();
    let before = cluster.state.counter;
    cluster.wish(redeem(1, "mine")).unwrap();
    assert_eq!(cluster.state.counter, before, "said again, it is done already");
    let refused = cluster.refusal(redeem(1, "theirs"));
    assert!(refused.contains("in use by another key: it was redeemed already"), "{refused}");
    assert_eq!(cluster.state.enrolment.tokens[&hash(1)].redeemed, Some(KeyHash::of(b"mine")));
    let refused = cluster.refusal(redeem(2, "mine"));
    assert!(refused.contains(&format!("no join token '{}'", hash(2).id())), "{refused}");
}

#[test]
fn sec_1_tokens_end_are_taken_back_and_go_with_the_authority() {
    let mut cluster = installed();
    (1..=4).for_each(|number| drop(cluster.wish(make(number)).unwrap()));
    cluster.wish(EnrolmentWish::EndTokens { ended: vec![hash(1), hash(99)] }).unwrap();
    let before = cluster.state.counter;
    cluster.wish(EnrolmentWish::EndTokens { ended: vec![hash(1)] }).unwrap();
    assert_eq!(cluster.state.counter, before);
    assert!(cluster.refusal(redeem(1, "mine")).contains("no join token"));
    cluster.wish(EnrolmentWish::DropToken { id: hash(2).id().to_ascii_uppercase() }).unwrap();
    assert!(cluster.refusal(redeem(2, "mine")).contains("no join token"));
    assert!(cluster.refusal(EnrolmentWish::DropToken { id: hash(2).id() }).contains("no join token"));
    let restored = cluster.state.restored("beef".into());
    assert!(restored.enrolment.tokens.is_empty(), "it may have been redeemed since the backup");
    assert_eq!(restored.enrolment.authority, cluster.state.enrolment.authority);

    cluster.wish(EnrolmentWish::Uninstall).unwrap();
    assert_eq!(cluster.state.enrolment, Enrolment::default());
    for wish in [EnrolmentWish::Uninstall, make(5), redeem(3, "mine")] {
        let refused = cluster.refusal(wish);
        assert!(refused.contains("no issuing authority: 'waymark pki install'"), "{refused}");
    }
}

#[test]
fn sec_6_tokens_and_authorities_have_bounds() {
    let mut cluster = installed();
    for (span_ms, agent, region, words) in [
        (999, "a1", "r1", "for: 999 ms is outside 1s–7d"),
        (7 * 24 * HOUR_MS + 1, "a1", "r1", "for: 604800001 ms"),
        (HOUR_MS, "a/1", "r1", "agent: 'a/1' has a character"),
        (HOUR_MS, "a1", "r4", "there is no region 'r4'; did you mean 'r"),
    ] {
        let (agent, region) = (agent.to_owned(), region.to_owned());
        let refused = cluster.refusal(EnrolmentWish::MakeToken { hash: hash(1), agent, region, span_ms });
        assert!(refused.contains(words), "{refused}");
    }
    cluster.wish(make(1)).unwrap();
    assert!(cluster.refusal(make(1)).contains("exists already"));
    let most = Enrolment::TOKENS_MAX as u64;
    (2..=most).for_each(|number| drop(cluster.wish(make(number)).unwrap()));
    let refused = cluster.refusal(make(most + 1));
    assert!(refused.contains("1000 join tokens are outstanding, the most there may be"), "{refused}");

    let part = |bytes| Arc::from(vec![1; bytes]);
    for (chain, key, lifetime_s, words) in [
        (vec![], 9, 60, "certificates: 0 is outside 1–4"),
        (vec![part(9); 5], 9, 60, "certificates: 5 is outside 1–4"),
        (vec![part(9), part(8_193)], 9, 60, "certificates[1].bytes: 8193 is outside 1–8192"),
        (vec![part(9)], 0, 60, "key.bytes: 0"),
        (vec![part(9)], 9, 9, "for: 9 s is outside 10s–365d"),
        (vec![part(9)], 9, 31_536_001, "for: 31536001 s"),
    ] {
        let key = SealedKey(part(key));
        let refused = cluster.refusal(EnrolmentWish::Install { chain, key, lifetime_s });
        assert!(refused.contains(words), "{refused}");
    }
    assert_eq!(format!("{:?}", SealedKey(part(9))), "SealedKey(9 bytes)", "a key is in no log");
}
