//! The issuing authority and join tokens (SEC-1).

use std::sync::Arc;

use bytes::Bytes;
use waymark_core::model::{Caseless, Revision, Timestamp};
use waymark_core::state::{
    Enrolment, EnrolmentWish, IssuingAuthority, JoinToken, KeyHash, SealedKey, TokenHash,
};

use super::{Malformed, required};
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;
use crate::storage::v1::enrolment_wish::Kind;
use crate::storage::v1::snapshot_record::Kind as Record;

pub(super) fn enrolment_message(wish: &EnrolmentWish) -> stored::EnrolmentWish {
    let kind = match wish {
        EnrolmentWish::Install { chain, key, lifetime_s } => {
            Kind::Install(install_message(chain, key, *lifetime_s))
        }
        EnrolmentWish::Uninstall => Kind::Uninstall(stored::UninstallAuthority {}),
        EnrolmentWish::MakeToken { hash, agent, region, span_ms } => Kind::MakeToken(stored::MakeToken {
            hash: hash_bytes(&hash.0),
            agent: agent.clone(),
            region: region.clone(),
            span_ms: *span_ms,
        }),
        EnrolmentWish::DropToken { id } => Kind::DropToken(id.clone()),
        EnrolmentWish::Redeem { hash, key } => {
            Kind::Redeem(stored::RedeemToken { hash: hash_bytes(&hash.0), key: hash_bytes(&key.0) })
        }
        EnrolmentWish::EndTokens { ended } => Kind::EndTokens(stored::EndTokens {
            ended: ended.iter().map(|hash| hash_bytes(&hash.0)).collect(),
        }),
    };
    stored::EnrolmentWish { kind: Some(kind) }
}

pub(super) fn stored_enrolment(message: stored::EnrolmentWish) -> Result<EnrolmentWish, Malformed> {
    Ok(match required("enrolment.kind", message.kind)? {
        Kind::Install(message) => {
            let (chain, key, lifetime_s) = installed(message);
            EnrolmentWish::Install { chain, key, lifetime_s }
        }
        Kind::Uninstall(stored::UninstallAuthority {}) => EnrolmentWish::Uninstall,
        Kind::MakeToken(stored::MakeToken { hash, agent, region, span_ms }) => {
            let hash = token_hash(&hash).ok_or_else(|| no_hash("make_token.hash"))?;
            EnrolmentWish::MakeToken { hash, agent, region, span_ms }
        }
        Kind::DropToken(id) => EnrolmentWish::DropToken { id },
        Kind::Redeem(stored::RedeemToken { hash, key }) => EnrolmentWish::Redeem {
            hash: token_hash(&hash).ok_or_else(|| no_hash("redeem.hash"))?,
            key: key_hash("redeem.key", &key)?,
        },
        Kind::EndTokens(stored::EndTokens { ended }) => {
            let hashes = ended.iter().map(|hash| token_hash(hash).ok_or_else(|| no_hash("end_tokens.ended")));
            EnrolmentWish::EndTokens { ended: hashes.collect::<Result<_, _>>()? }
        }
    })
}

fn install_message(chain: &[Arc<[u8]>], key: &SealedKey, lifetime_s: u64) -> stored::InstallAuthority {
    stored::InstallAuthority {
        chain: chain.iter().map(|part| Bytes::copy_from_slice(part)).collect(),
        key: Bytes::copy_from_slice(&key.0),
        lifetime_s,
    }
}

fn installed(message: stored::InstallAuthority) -> (Vec<Arc<[u8]>>, SealedKey, u64) {
    let stored::InstallAuthority { chain, key, lifetime_s } = message;
    (chain.iter().map(|part| Arc::from(&part[..])).collect(), SealedKey(Arc::from(&key[..])), lifetime_s)
}

/// The authority and the tokens, each as it stands in a snapshot.
pub(super) fn enrolment_records(enrolment: &Enrolment) -> impl Iterator<Item = Record> + '_ {
    let Enrolment { authority, tokens } = enrolment;
    let authority = authority.iter().map(|found| Record::IssuingAuthority(authority_record(found)));
    authority.chain(tokens.iter().map(|(hash, token)| Record::JoinToken(token_record(*hash, token))))
}

fn authority_record(authority: &IssuingAuthority) -> stored::StoredAuthority {
    let IssuingAuthority { chain, key, lifetime_s, author, since, revision } = authority;
    stored::StoredAuthority {
        authority: Some(install_message(chain, key, *lifetime_s)),
        author: author.clone(),
        since_ms: since.0,
        revision: revision.0,
    }
}

pub(super) fn recorded_authority(message: stored::StoredAuthority) -> Result<IssuingAuthority, Malformed> {
    let stored::StoredAuthority { authority, author, since_ms, revision } = message;
    let (chain, key, lifetime_s) = installed(required("issuing_authority.authority", authority)?);
    let (since, revision) = (Timestamp(since_ms), Revision(revision));
    Ok(IssuingAuthority { chain, key, lifetime_s, author, since, revision })
}

fn token_record(hash: TokenHash, token: &JoinToken) -> stored::StoredToken {
    let JoinToken { agent, region, author, at, ends, redeemed } = token;
    stored::StoredToken {
        hash: hash_bytes(&hash.0),
        agent: agent.clone(),
        region: region.to_string(),
        author: author.clone(),
        at_ms: at.0,
        ends_ms: ends.0,
        redeemed: redeemed.map(|key| hash_bytes(&key.0)).unwrap_or_default(),
    }
}

pub(super) fn recorded_token(message: stored::StoredToken) -> Result<(TokenHash, JoinToken), Malformed> {
    let stored::StoredToken { hash, agent, region, author, at_ms, ends_ms, redeemed } = message;
    let redeemed = match redeemed.is_empty() {
        true => None,
        false => Some(key_hash("join_token.redeemed", &redeemed)?),
    };
    let (at, ends) = (Timestamp(at_ms), Timestamp(ends_ms));
    let token = JoinToken { agent, region: Caseless::new(&region), author, at, ends, redeemed };
    Ok((token_hash(&hash).ok_or_else(|| no_hash("join_token.hash"))?, token))
}

/// The token as operators see it.
pub fn token_message(hash: TokenHash, token: &JoinToken) -> wire::JoinToken {
    let JoinToken { agent, region, author, at, ends, redeemed } = token;
    wire::JoinToken {
        id: hash.id(),
        agent: agent.clone(),
        region: region.to_string(),
        author: author.clone(),
        at_ms: at.0,
        ends_ms: ends.0,
        redeemed: redeemed.is_some(),
    }
}

/// The hash of a token; `None` if `bytes` are none.
pub fn token_hash(bytes: &[u8]) -> Option<TokenHash> {
    bytes.try_into().ok().map(TokenHash)
}

fn key_hash(field: &'static str, bytes: &[u8]) -> Result<KeyHash, Malformed> {
    bytes.try_into().map(KeyHash).map_err(|_| no_hash(field))
}

fn no_hash(field: &'static str) -> Malformed {
    Malformed::new(field, "is no SHA-256 of 32 bytes")
}

fn hash_bytes(hash: &[u8; 32]) -> Bytes {
    Bytes::copy_from_slice(hash)
}
