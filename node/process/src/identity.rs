//! Who a certificate is for: role and names, from its one URI of the form `spiffe://TRUST-DOMAIN/ROLE/…` (SEC-1).

use std::fmt;

use rustls_pki_types::CertificateDer;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::settings::place_name;

/// How identities are written, for messages.
const FORMS: &str = "spiffe://TRUST-DOMAIN/ and member/NAME, agent/REGION/NAME, operator/NAME or viewer/NAME";

/// Longest trust domain, as SPIFFE has it.
const TRUST_DOMAIN_MAX: usize = 255;

/// Someone who may speak to a member, or a member itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The realm that the name is in; identities of another are nobody here.
    pub trust_domain: String,
    /// What they may do, and their name.
    pub role: Role,
}

/// What an identity is for. Names are as they stand in the certificate: with `.` where the cluster has `:`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A member of the cluster.
    Member {
        /// Its name.
        name: String,
    },
    /// An agent.
    Agent {
        /// The region that it probes from.
        region: String,
        /// Its name.
        name: String,
    },
    /// Someone who may change everything.
    Operator {
        /// Their name.
        name: String,
    },
    /// Someone who may read everything but secrets.
    Viewer {
        /// Their name.
        name: String,
    },
}

/// Why a certificate, or what is wished for one, names nobody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// It is no certificate that can be read.
    #[error("it is no readable certificate: {0}")]
    Unreadable(String),
    /// A host name or a common name is no identity.
    #[error("it has no URI among its alternative names; an identity is one, {FORMS}")]
    NoUri,
    /// Nobody can say which of them counts.
    #[error("it has {0} URIs among its alternative names; an identity is exactly one, {FORMS}")]
    SeveralUris(usize),
    /// The URI is of another form.
    #[error("'{uri}' is no identity: {reason}; write {FORMS}")]
    Malformed {
        /// The URI.
        uri: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It may be a good one elsewhere.
    #[error("'{uri}' is of another trust domain than '{ours}'")]
    Foreign {
        /// The URI.
        uri: String,
        /// The trust domain here.
        ours: String,
    },
}

impl Role {
    /// A role by its word, with names as the cluster has them; `region` goes with agents only.
    ///
    /// # Errors
    /// What is wrong with the word or a name.
    pub fn new(word: &str, region: Option<&str>, name: &str) -> Result<Self, String> {
        let name = written(name)?;
        let region = region.map(written).transpose()?;
        match (word, region) {
            ("agent", Some(region)) => Ok(Self::Agent { region, name }),
            ("agent", None) => Err("an agent's identity has its region in it; name it".to_owned()),
            (_, Some(_)) => Err(format!("only an agent has a region, not the role '{word}'")),
            ("member", None) => Ok(Self::Member { name }),
            ("operator", None) => Ok(Self::Operator { name }),
            ("viewer", None) => Ok(Self::Viewer { name }),
            _ => Err(format!("'{word}' is no role; known are member, agent, operator and viewer")),
        }
    }

    /// Is it the member of this name?
    pub fn is_member(&self, wanted: &str) -> bool {
        matches!(self, Self::Member { name } if is_same(name, wanted))
    }

    /// Is it the agent of this name in this region?
    pub fn is_agent(&self, wanted_region: &str, wanted: &str) -> bool {
        matches!(self, Self::Agent { region, name } if is_same(region, wanted_region) && is_same(name, wanted))
    }
}

/// Are two names one in certificates? Case does not count in names of the cluster (OBJ-9), and `:` is written `.`.
pub fn is_same(one: &str, other: &str) -> bool {
    one.replace(':', ".").eq_ignore_ascii_case(&other.replace(':', "."))
}

/// A name as it stands in a certificate: SPIFFE knows no `:` in a path.
fn written(name: &str) -> Result<String, String> {
    place_name(name).map(|name| name.replace(':', "."))
}

impl fmt::Display for Role {
    /// As behind the trust domain, which is also the author of what they do: `operator/alice`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member { name } => write!(f, "member/{name}"),
            Self::Agent { region, name } => write!(f, "agent/{region}/{name}"),
            Self::Operator { name } => write!(f, "operator/{name}"),
            Self::Viewer { name } => write!(f, "viewer/{name}"),
        }
    }
}

impl fmt::Display for Identity {
    /// The URI.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "spiffe://{}/{}", self.trust_domain, self.role)
    }
}

impl Identity {
    /// Whom `certificate` is for, whoever has issued it.
    ///
    /// # Errors
    /// It names nobody, or more than one.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, IdentityError> {
        let unreadable = |error: String| IdentityError::Unreadable(error);
        let (_, parsed) =
            X509Certificate::from_der(certificate).map_err(|error| unreadable(error.to_string()))?;
        let names = parsed.subject_alternative_name().map_err(|error| unreadable(error.to_string()))?;
        let names = names.map_or(&[][..], |names| names.value.general_names.as_slice());
        let uris: Vec<&str> = names
            .iter()
            .filter_map(|name| match name {
                GeneralName::URI(uri) => Some(*uri),
                _ => None,
            })
            .collect();
        match uris.as_slice() {
            [] => Err(IdentityError::NoUri),
            [uri] => Self::parse(uri),
            several => Err(IdentityError::SeveralUris(several.len())),
        }
    }

    /// Reads the URI of an identity.
    ///
    /// # Errors
    /// It has another form.
    pub fn parse(uri: &str) -> Result<Self, IdentityError> {
        let malformed = |reason: String| IdentityError::Malformed { uri: shown(uri), reason };
        let rest = uri.strip_prefix("spiffe://").ok_or_else(|| malformed("it is no spiffe:// URI".into()))?;
        let (realm, path) = rest.split_once('/').ok_or_else(|| malformed("it has no path".into()))?;
        check_realm(realm).map_err(malformed)?;
        let role = match path.split('/').collect::<Vec<_>>().as_slice() {
            [word, name] => Role::new(word, None, name),
            [word @ "agent", region, name] => Role::new(word, Some(region), name),
            _ => Err("its path has another number of parts".to_owned()),
        };
        if path.contains(':') {
            return Err(malformed("':' is written '.'".into()));
        }
        Ok(Self { trust_domain: realm.to_owned(), role: role.map_err(malformed)? })
    }

    /// The same, unless it is of another trust domain than `ours`.
    ///
    /// # Errors
    /// It is.
    pub fn within(self, ours: &str) -> Result<Self, IdentityError> {
        if self.trust_domain == ours {
            return Ok(self);
        }
        Err(IdentityError::Foreign { uri: shown(&self.to_string()), ours: ours.to_owned() })
    }
}

/// A foreign text, to be repeated in a message: no control characters, and not endless.
fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 200;
    text.chars().filter(|character| !character.is_control()).take(SHOWN_MAX).collect()
}

/// May `text` be a trust domain?
///
/// # Errors
/// Why not.
pub fn check_realm(text: &str) -> Result<(), String> {
    let may_be = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
    if text.is_empty() || text.len() > TRUST_DOMAIN_MAX || !text.bytes().all(may_be) {
        return Err(format!(
            "'{}' is no trust domain: 1–{TRUST_DOMAIN_MAX} of a-z, 0-9, '-', '.' and '_'",
            shown(text)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_1_an_identity_is_role_and_names() {
        for uri in [
            "spiffe://example.com/member/m1",
            "spiffe://example.com/agent/aws.eu-central-1/a_1",
            "spiffe://prod/operator/alice.b",
            "spiffe://prod/viewer/wall",
        ] {
            assert_eq!(Identity::parse(uri).unwrap().to_string(), uri);
        }
        let agent = Identity::parse("spiffe://x/agent/aws.eu-central-1/a1").unwrap().role;
        assert!(agent.is_agent("aws:EU-central-1", "A1"), "case does not count, and ':' is written '.'");
        assert!(!agent.is_agent("aws:eu-central-2", "a1") && !agent.is_agent("aws:eu-central-1", "a2"));
        assert!(!agent.is_member("a1"));
        assert_eq!(agent, Role::new("agent", Some("aws:eu-central-1"), "a1").unwrap());
    }

    #[test]
    fn sec_1_every_other_form_is_refused_with_its_reason() {
        for (uri, reason) in [
            ("https://example.com/member/m1", "spiffe://"),
            ("spiffe://example.com", "no path"),
            ("spiffe:///member/m1", "trust domain"),
            ("spiffe://Example.com/member/m1", "trust domain"),
            ("spiffe://e/member", "parts"),
            ("spiffe://e/member/m1/x", "parts"),
            ("spiffe://e/agent/a1", "region"),
            ("spiffe://e/member/", "is empty"),
            ("spiffe://e/boss/m1", "'boss' is no role"),
            ("spiffe://e/agent/aws:eu/a1", "':' is written '.'"),
            ("spiffe://e/member/m%31", "m%31"),
        ] {
            let error = Identity::parse(uri).expect_err(uri).to_string();
            assert!(error.contains(reason), "{uri}: {error}");
        }
        let foreign = Identity::parse("spiffe://theirs/member/m1").unwrap().within("ours").unwrap_err();
        assert!(foreign.to_string().contains("another trust domain than 'ours'"));
        assert!(Role::new("member", Some("eu"), "m1").is_err());
    }
}
