//! The first certificate: for a join token, from any member (SEC-1). The key is made here and stays here.

use std::path::PathBuf;

use http::Uri;
use rustls::pki_types::CertificateDer;
use tonic::Code;
use waymark_process::chance;
use waymark_process::identity::{Identity, Role};
use waymark_process::join_token::JoinToken;
use waymark_process::pki::{FreshKey, Kept, PkiError};
use waymark_process::tls::{
    Connector, CredentialFiles, Credentials, CredentialsError, PairError, Refusal, Trust,
};
use waymark_proto::agent::v1::EnrolRequest;

use super::member::{Trouble, ask};
use crate::config::Config;
use crate::uplink::{Backoff, Ending};

/// An agent that has a token, and no certificate that is good for anything.
#[derive(Clone, Debug)]
pub struct Joining {
    agent: String,
    region: String,
    files: CredentialFiles,
    token: PathBuf,
    members: Vec<Uri>,
}

/// Why an agent does not come to a certificate; somebody must do something.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The token cannot be used.
    #[error("join_token_file {0}")]
    Token(PkiError),
    /// It is another one's.
    #[error("join_token_file {}: it is for {wanted}, and this is the agent '{agent}' in '{region}'", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Whose token it is.
        wanted: String,
        /// This agent's name.
        agent: String,
        /// Its region.
        region: String,
    },
    /// The authorities cannot be used.
    #[error(transparent)]
    Authority(#[from] PairError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Files(#[from] PkiError),
    /// The identity that there is cannot be used.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// A member says that the token is not good.
    #[error("the cluster does not take this agent in: {0}")]
    Refused(String),
}

/// Why one try gave nothing.
enum Failure {
    Final(JoinError),
    Passing(String),
}

impl<E: Into<JoinError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Final(error.into())
    }
}

impl Joining {
    /// What there is to do for the agent of `config` before it can report; `None` if it has a certificate already, or no token.
    ///
    /// # Errors
    /// The files that there are cannot be used.
    pub fn of(config: &Config) -> Result<Option<Self>, JoinError> {
        let (Some(files), Some(token)) = (&config.credentials, &config.join_token_file) else {
            return Ok(None);
        };
        let is_missing = Kept::new(&files.certificate, &files.key).is_missing();
        if !is_missing {
            let has_expired = || Ok(Credentials::open(files.clone())?.trouble() == Some(Refusal::Expired));
            let wants_another = token.exists() && has_expired().map_err(|error: CredentialsError| error)?;
            if !wants_another {
                return Ok(None);
            }
        }
        let joining = Self {
            agent: config.name.clone(),
            region: config.region.clone(),
            files: files.clone(),
            token: token.clone(),
            members: config.encrypted_members(),
        };
        // What can be known to be wrong is to be known at once.
        joining.trust(&joining.read_token()?)?;
        Ok(Some(joining))
    }

    /// Asks one member after the other until one gives a certificate, and puts it where it belongs.
    ///
    /// # Errors
    /// Nothing will come of asking again.
    pub async fn run(&self) -> Result<(), JoinError> {
        let mut backoff = Backoff::new(self.members.len());
        for member in self.members.iter().cycle() {
            match self.join(member).await {
                Ok(()) => return Ok(()),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(reason)) => {
                    let wait = backoff.wait(Ending::Failed, chance::draw());
                    let (member, wait_ms) = (member.to_string(), wait.as_millis());
                    tracing::warn!(member, wait_ms, reason, "no certificate yet; trying the next member");
                    tokio::time::sleep(wait).await;
                }
            }
        }
        // There is a member at least: the settings were checked.
        Ok(())
    }

    async fn join(&self, member: &Uri) -> Result<(), Failure> {
        // Read anew each time: another one may lie there by now.
        let token = self.read_token()?;
        let trust = self.trust(&token)?;
        let kept = Kept::new(&self.files.certificate, &self.files.key);
        let key = kept.first_key()?;
        let request = EnrolRequest {
            token: token.secret().to_vec().into(),
            agent: self.agent.clone(),
            region: self.region.clone(),
            signing_request: key.signing_request()?.into(),
        };
        let connector = Connector::of_nobody(trust.clone());
        let asked = ask(member, connector, async |mut client| client.enrol(request).await).await;
        let chain = asked.map_err(failure)?;
        check(&chain, &key, &trust, &token).map_err(Failure::Passing)?;
        kept.put(&chain)?;
        tracing::info!(identity = %token.identity, member = %member, "this agent has joined, and has a certificate");
        Ok(())
    }

    fn read_token(&self) -> Result<JoinToken, JoinError> {
        let token = JoinToken::open(&self.token).map_err(JoinError::Token)?;
        if token.identity.role.is_agent(&self.region, &self.agent) {
            return Ok(token);
        }
        Err(JoinError::Foreign {
            path: self.token.clone(),
            wanted: token.identity.role.to_string(),
            agent: self.agent.clone(),
            region: self.region.clone(),
        })
    }

    fn trust(&self, token: &JoinToken) -> Result<Trust, PairError> {
        Trust::open(self.files.keys[2], &self.files.authority, &token.identity.trust_domain)
    }
}

/// | what the member says | then |
/// |---|---|
/// | the token is not good, the request is not understood | somebody must do something |
/// | anything else: no leader, no key, too many tries | another member, or a later moment, may do |
fn failure(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Refused(status)
            if matches!(
                status.code(),
                Code::PermissionDenied | Code::InvalidArgument | Code::Unauthenticated | Code::Unimplemented
            ) =>
        {
            Failure::Final(JoinError::Refused(status.message().to_owned()))
        }
        Trouble::Unreachable(reason) if reason.ends_with("none was shown") => Failure::Passing(
            "the member lets nobody in without a certificate now: no join token is outstanding there. If this one's time is up, \
             'waymark agent token create' makes another, which may be put in its place"
                .to_owned(),
        ),
        passing => Failure::Passing(passing.to_string()),
    }
}

/// Case does not count in the names of agents and regions.
fn is_same(one: &Identity, other: &Identity) -> bool {
    let has_role = match &other.role {
        Role::Agent { region, name } => one.role.is_agent(region, name),
        _ => false,
    };
    has_role && one.trust_domain == other.trust_domain
}

/// What a member gives is looked at before anything is written.
fn check(
    chain: &[CertificateDer<'static>],
    key: &FreshKey,
    trust: &Trust,
    token: &JoinToken,
) -> Result<(), String> {
    let own = chain.first().ok_or("the member gave no certificate")?;
    if !key.fits(own) {
        return Err("the member gave a certificate for another key".to_owned());
    }
    match trust.believe(chain) {
        Ok(identity) if is_same(&identity, &token.identity) => Ok(()),
        Ok(identity) => Err(format!("the member gave a certificate of {}", identity.role)),
        Err(reason) => {
            Err(format!("the authorities in tls_authority do not believe what the member gave: {reason}"))
        }
    }
}
