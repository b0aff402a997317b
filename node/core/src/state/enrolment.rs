//! How an agent comes to an identity by the cluster itself (SEC-1): an authority that issues it, and join tokens, each of which
//! is good for one agent once. Of a token the state has the hash alone, of the authority's key an encrypted form.

use std::fmt;
use std::sync::Arc;

use imbl::OrdMap;
use sha2::{Digest, Sha256};

use crate::model::{Caseless, Revision, Timestamp};

/// A private key, encrypted by the member that was given it (SEC-4): core never sees another form.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedKey(pub Arc<[u8]>);

impl fmt::Debug for SealedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedKey({} bytes)", self.0.len())
    }
}

/// The authority that the cluster issues agents' identities by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuingAuthority {
    /// Its certificate, and behind it those that lead to one that members trust, in DER.
    pub chain: Vec<Arc<[u8]>>,
    /// The certificate's private key.
    pub key: SealedKey,
    /// How long identities last that it issues, in seconds.
    pub lifetime_s: u64,
    /// Who installed it.
    pub author: String,
    /// When.
    pub since: Timestamp,
    /// The counter then.
    pub revision: Revision,
}

impl IssuingAuthority {
    /// The SHA-256 of its certificate `certificate`, in hexadecimal.
    pub fn fingerprint(certificate: &[u8]) -> String {
        Sha256::digest(certificate).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// SHA-256 of a join token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    /// That of the token `secret`.
    pub fn of(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// What the token is called where it is listed and taken back: 16 hexadecimal digits, by which nobody can redeem it.
    pub fn id(&self) -> String {
        self.0[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// SHA-256 of the public key that an agent asks a certificate for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHash(pub [u8; 32]);

impl KeyHash {
    /// That of the public key `key`, in DER.
    pub fn of(key: &[u8]) -> Self {
        Self(Sha256::digest(key).into())
    }
}

/// What lets one agent in once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinToken {
    /// The agent that it is for.
    pub agent: String,
    /// Its region.
    pub region: Caseless,
    /// Who made it.
    pub author: String,
    /// When.
    pub at: Timestamp,
    /// When it ends: it is forgotten then, redeemed or not.
    pub ends: Timestamp,
    /// The key that it was redeemed for. Whoever holds that may ask again, as its answer may have been lost.
    pub redeemed: Option<KeyHash>,
}

/// The authority and the tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enrolment {
    /// None: the cluster issues nothing.
    pub authority: Option<Arc<IssuingAuthority>>,
    /// By their hashes.
    pub tokens: OrdMap<TokenHash, Arc<JoinToken>>,
}

impl Enrolment {
    /// Most tokens at once: enough to set a fleet up, and some 200 KiB.
    pub const TOKENS_MAX: usize = 1_000;
    /// How long a token may last, in milliseconds: a second to a week.
    pub const SPAN_MS: (u64, u64) = (1_000, 7 * 24 * 3_600_000);
    /// How long an identity may last, in seconds: ten, with which nothing but a trial is run, to a year.
    pub const LIFETIME_S: (u64, u64) = (10, 365 * 24 * 3_600);
    /// Most certificates in the authority's chain.
    pub const CHAIN_MAX: usize = 4;
    /// Most bytes in one of them, and in the encrypted key: an RSA key of 8,192 bits has 5 KiB.
    pub const PART_BYTES_MAX: usize = 8 * 1024;

    /// Is there somebody who could be let in without an identity?
    pub fn is_open(&self) -> bool {
        self.authority.is_some() && !self.tokens.is_empty()
    }
}

/// One request about the authority or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnrolmentWish {
    /// An authority, in the place of any that there is. Whether members believe what it issues was judged by the member that
    /// was asked, which has the key's plain form.
    Install {
        /// As [`IssuingAuthority::chain`].
        chain: Vec<Arc<[u8]>>,
        /// Its key.
        key: SealedKey,
        /// As [`IssuingAuthority::lifetime_s`].
        lifetime_s: u64,
    },
    /// The end of the authority, and of all tokens.
    Uninstall,
    /// A new token.
    MakeToken {
        /// Its hash.
        hash: TokenHash,
        /// The agent that it is for.
        agent: String,
        /// Its region.
        region: String,
        /// How long it lasts, in milliseconds.
        span_ms: u64,
    },
    /// A token is taken back.
    DropToken {
        /// As [`TokenHash::id`] has it.
        id: String,
    },
    /// An agent has shown a token to a member, which found it good.
    Redeem {
        /// The token.
        hash: TokenHash,
        /// The key that a certificate is wished for.
        key: KeyHash,
    },
    /// The time of tokens is up: proposed by the leader's timers.
    EndTokens {
        /// These.
        ended: Vec<TokenHash>,
    },
}
