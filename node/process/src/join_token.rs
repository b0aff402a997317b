//! The text of a join token (SEC-1): whom it is for, and the secret. `spiffe://example.com/agent/eu-central/a1#SECRET`.
//!
//! It says the trust domain, which an agent cannot know otherwise before it has a certificate; whom to believe it does not say: the
//! authorities' file is the same for everybody, no secret, and needed in any case, for what is revoked.

use std::fmt;
use std::path::Path;

use data_encoding::BASE64URL_NOPAD;

use crate::chance;
use crate::follow;
use crate::identity::{Identity, Role};
use crate::pki::{PkiError, file};

/// Bytes of a secret: nobody guesses 256 bits.
const SECRET_BYTES: usize = 32;

/// A token as whoever is let in by it has it. It is shown by [`JoinToken::text`] alone.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinToken {
    /// The agent that it is for.
    pub identity: Identity,
    secret: [u8; SECRET_BYTES],
}

/// Whom it is for.
impl fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinToken of {}", self.identity)
    }
}

impl JoinToken {
    /// A fresh one for the agent `identity`.
    pub fn draw(identity: Identity) -> Self {
        let [one, other]: [[u8; 16]; 2] = [chance::bytes(), chance::bytes()];
        let mut secret = [0; SECRET_BYTES];
        secret[..16].copy_from_slice(&one);
        secret[16..].copy_from_slice(&other);
        Self { identity, secret }
    }

    /// What a member is shown, and what the cluster knows the hash of.
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// The token itself.
    pub fn text(&self) -> String {
        format!("{}#{}", self.identity, BASE64URL_NOPAD.encode(&self.secret))
    }

    /// Puts the token into a file that must not be there, and that nobody else can read.
    ///
    /// # Errors
    /// There is one, or it cannot be written.
    pub fn create(&self, path: &Path) -> Result<(), PkiError> {
        file::create(path, (self.text() + "\n").as_bytes(), file::PRIVATE)
    }

    /// The token in the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, everybody can read it, or it has none in it; nothing of the token is repeated.
    pub fn open(path: &Path) -> Result<Self, PkiError> {
        file::refuse_open_key(path, "join in the agent's place")?;
        let content = follow::read(path).map_err(|reason| PkiError::file(path, reason))?;
        let none =
            || PkiError::file(path, "there is no join token in it; 'waymark agent token create' makes one");
        let text = String::from_utf8(content).map_err(|_| none())?;
        let (identity, secret) = text.trim().split_once('#').ok_or_else(none)?;
        let identity = Identity::parse(identity).map_err(|_| none())?;
        let secret = BASE64URL_NOPAD.decode(secret.as_bytes()).ok();
        match (&identity.role, secret.and_then(|secret| secret.try_into().ok())) {
            (Role::Agent { .. }, Some(secret)) => Ok(Self { identity, secret }),
            _ => Err(none()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn agent() -> Identity {
        Identity::parse("spiffe://example.com/agent/aws.eu/a1").unwrap()
    }

    #[test]
    fn sec_1_a_token_says_whom_it_is_for_and_hides_its_secret() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let token = JoinToken::draw(agent());
        assert_ne!(token, JoinToken::draw(agent()));
        assert!(
            token.text().starts_with("spiffe://example.com/agent/aws.eu/a1#") && token.text().len() == 80
        );
        assert_eq!(format!("{token:?}"), "JoinToken of spiffe://example.com/agent/aws.eu/a1");
        token.create(&path).unwrap();
        assert_eq!(JoinToken::open(&path).unwrap(), token);
        assert!(matches!(token.create(&path), Err(PkiError::Exists(_))));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        let refused = JoinToken::open(&path).unwrap_err().to_string();
        assert!(refused.contains("join in the agent's place; chmod 600"), "{refused}");
    }

    #[test]
    fn sec_1_what_is_no_token_is_refused_without_being_repeated() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let secret = "A".repeat(43);
        for text in [
            String::new(),
            secret.clone(),
            format!("spiffe://example.com/member/m1#{secret}"),
            format!("spiffe://example.com/agent/a1#{secret}"),
            "spiffe://example.com/agent/eu/a1#AAAA".to_owned(),
            format!("spiffe://example.com/agent/eu/a1#{secret}AA"),
        ] {
            let _ = std::fs::remove_file(&path);
            file::create(&path, text.as_bytes(), file::PRIVATE).unwrap();
            let refused = JoinToken::open(&path).unwrap_err().to_string();
            assert!(refused.contains("no join token") && !refused.contains("AAAA"), "{text}: {refused}");
        }
    }
}
