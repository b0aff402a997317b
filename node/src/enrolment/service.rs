//! The gRPC service by which agents enrol, and renew.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tonic::{Request, Response, Status};
use waymark_core::model::quote;
use waymark_core::state::{
    Action, AuditNote, AuditOutcome, Command, EnrolmentWish, JoinToken, KeyHash, TokenHash,
};
use waymark_process::identity::{Identity, Role, is_same};
use waymark_process::pki::{Granted, Issuing, SigningRequest};
use waymark_process::secrets::Keys;
use waymark_process::seldom::Seldom;
use waymark_process::tls::Credentials;
use waymark_proto::agent::v1::enrolment_server::{Enrolment, EnrolmentServer};
use waymark_proto::agent::v1::{EnrolRequest, IssuedCertificate, RenewRequest};

use super::allowances::{Allowances, Rate};
use crate::acceptor::Peer;
use crate::clock;
use crate::publication::Reader;
use crate::raft::{ProposeError, Proposer};

/// Largest message that is taken, in bytes: a request for a certificate has some hundred.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;

/// Tries of one address (of one network of 64 bits in IPv6) that may fail: whoever has a good token needs one.
const FAILURES: Rate = Rate { at_once: 10, every: Duration::from_secs(6) };

/// Certificates for one identity from one member: each is an entry of the audit trail, of which nobody may make many.
const ISSUES: Rate = Rate { at_once: 20, every: Duration::from_secs(10) };

/// What the service stands on.
#[derive(Debug)]
pub struct Door {
    /// Sees the state.
    pub reader: Reader,
    /// Redeems tokens.
    pub proposer: Proposer,
    /// Decrypt the authority's key.
    pub keys: Arc<Keys>,
    /// Say what the members' trust domain is, and whom they believe; none in plain text, where nothing is issued.
    pub credentials: Option<Arc<Credentials>>,
}

/// The service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Enrolling {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    door: Door,
    failures: Allowances<IpAddr>,
    issues: Allowances<String>,
    refusals: Seldom,
}

impl Enrolling {
    /// The service behind `door`.
    pub fn new(door: Door) -> Self {
        let (failures, issues) = (Allowances::new(FAILURES), Allowances::new(ISSUES));
        Self { shared: Arc::new(Shared { door, failures, issues, refusals: Seldom::default() }) }
    }

    /// To be added to a gRPC server.
    pub fn service(&self) -> EnrolmentServer<Self> {
        EnrolmentServer::new(self.clone()).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }
}

#[tonic::async_trait]
impl Enrolment for Enrolling {
    async fn enrol(&self, request: Request<EnrolRequest>) -> Result<Response<IssuedCertificate>, Status> {
        let from = request.extensions().get::<Peer>().map(Peer::address);
        let whence = network(from.map_or(IpAddr::from([0, 0, 0, 0]), |from| from.ip()));
        if !self.shared.failures.take(whence, Instant::now()) {
            return Err(Status::resource_exhausted(format!(
                "too many tries from {whence} have failed: {} at once and one more every {} s are the most there may be",
                FAILURES.at_once,
                FAILURES.every.as_secs()
            )));
        }
        let from = from.map(|from| from.to_string()).unwrap_or_default();
        let enrolled = self.shared.enrol(&from, request.into_inner()).await;
        match &enrolled {
            Ok(_) => self.shared.failures.give_back(whence),
            // Whoever reaches the port can cause such lines.
            Err(status) => {
                if let Some(untold) = self.shared.refusals.turn() {
                    let reason = status.message();
                    tracing::warn!(target: "audit", from, reason, untold, "an agent was not enrolled");
                }
            }
        }
        enrolled.map(|granted| Response::new(message(granted)))
    }

    async fn renew(&self, request: Request<RenewRequest>) -> Result<Response<IssuedCertificate>, Status> {
        let peer = request.extensions().get::<Peer>().cloned();
        let identity = peer.as_ref().and_then(Peer::identity);
        let identity = identity.ok_or_else(|| Status::failed_precondition(PLAIN))?.clone();
        let from = peer.map(|peer| peer.address().to_string()).unwrap_or_default();
        let granted = self.shared.renew(&from, identity, request.into_inner()).await?;
        Ok(Response::new(message(granted)))
    }
}

/// Why nothing is issued in plain text.
const PLAIN: &str = "this member speaks plain text, in which nobody has an identity";

fn message(granted: Granted) -> IssuedCertificate {
    let Granted { chain, serial: _, expires: _ } = granted;
    IssuedCertificate { chain: chain.into_iter().map(|certificate| certificate.to_vec().into()).collect() }
}

/// Whose failures are counted together: whoever has one address of IPv6 has as many as they like.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

impl Shared {
    async fn enrol(&self, from: &str, request: EnrolRequest) -> Result<Granted, Status> {
        let EnrolRequest { token, agent, region, signing_request } = request;
        let request = read(&signing_request)?;
        let hash = TokenHash::of(&token);
        let found = self.find(hash).await?;
        let key = KeyHash::of(request.public_key());
        judge(&found, hash, key, &agent, &region)?;
        let role = Role::new("agent", Some(found.region.as_str()), &found.agent);
        let role = role.map_err(Status::failed_precondition)?;
        let granted = self.grant(role, &request)?;
        // What is issued is nobody's before the token is redeemed for it.
        let action = Action::Enrolment(EnrolmentWish::Redeem { hash, key });
        self.note(from, "redeem join token", &granted, Some(hash), action).await?;
        Ok(granted.certificate)
    }

    async fn renew(&self, from: &str, identity: Identity, request: RenewRequest) -> Result<Granted, Status> {
        let request = read(&request.signing_request)?;
        let granted = self.grant(identity.role, &request)?;
        self.note(from, "renew certificate", &granted, None, Action::Audit { outcome: AuditOutcome::Done })
            .await?;
        Ok(granted.certificate)
    }

    /// The token, if this member knows it now or once it has applied what is committed: it may have been made a moment ago.
    async fn find(&self, hash: TokenHash) -> Result<Arc<JoinToken>, Status> {
        let known = || self.door.reader.view().state.enrolment.tokens.get(&hash).cloned();
        if let Some(token) = known() {
            return Ok(token);
        }
        self.door.proposer.read_barrier().await.map_err(|error| Status::unavailable(error.to_string()))?;
        known().ok_or_else(|| {
            Status::permission_denied(
                "this join token is not known: it was never made here, was taken back, or its time is up; 'waymark agent \
                 token' makes another",
            )
        })
    }

    /// A certificate for `role` with the key of `request`, which all members believe.
    fn grant(&self, role: Role, request: &SigningRequest) -> Result<ToBeNoted, Status> {
        let cannot = |reason: String| Status::failed_precondition(reason);
        let credentials = self.door.credentials.as_ref().ok_or_else(|| cannot(PLAIN.to_owned()))?;
        let installed = self.door.reader.view().state.enrolment.authority.clone();
        let installed = installed.ok_or_else(|| {
            cannot("the cluster has no issuing authority: 'waymark pki install' gives it one".to_owned())
        })?;
        let who = role.to_string();
        if !self.issues.take(who.to_ascii_lowercase(), Instant::now()) {
            return Err(Status::resource_exhausted(format!(
                "{who} was issued too many certificates: {} at once and one more every {} s are the most there may be",
                ISSUES.at_once,
                ISSUES.every.as_secs()
            )));
        }
        let issuing = Issuing::unseal(&installed, &self.door.keys).map_err(|reason| {
            cannot(format!("this member cannot use the issuing authority's key: {reason}"))
        })?;
        let identity = Identity { trust_domain: credentials.identity().trust_domain, role };
        let lifetime = Duration::from_secs(installed.lifetime_s);
        let certificate = issuing.issue(request, &identity, lifetime).map_err(cannot)?;
        credentials.believe(&certificate.chain).map_err(|reason| {
            cannot(format!("the authorities that this member trusts do not believe what is issued: {reason}"))
        })?;
        Ok(ToBeNoted { certificate, who })
    }

    /// Has `action` carried out, and what is issued by it noted: nothing is ever out of which the audit trail does not know.
    async fn note(
        &self,
        from: &str,
        act: &str,
        granted: &ToBeNoted,
        token: Option<TokenHash>,
        action: Action,
    ) -> Result<(), Status> {
        let ToBeNoted { certificate: Granted { serial, expires, .. }, who } = granted;
        let token = token.map(|hash| format!("id={} ", hash.id())).unwrap_or_default();
        let detail = format!("{token}serial={serial} expires={expires}");
        let note = Some(AuditNote::new(from, act, who, &detail));
        let command = Command { id: None, author: who.clone(), note, action };
        let proposed = self.door.proposer.propose(vec![command]).await.map_err(|error| match error {
            ProposeError::OutcomeUnknown => {
                Status::unavailable(format!("{error}; ask again with the same key"))
            }
            error => Status::unavailable(error.to_string()),
        })?;
        match proposed.replies.into_iter().next() {
            Some(Err(rejection)) => Err(Status::permission_denied(rejection.to_string())),
            _ => {
                tracing::info!(target: "audit", who, from, serial, expires, act, "a certificate was issued");
                Ok(())
            }
        }
    }
}

/// A certificate that nobody has been given.
struct ToBeNoted {
    certificate: Granted,
    who: String,
}

fn read(signing_request: &[u8]) -> Result<SigningRequest, Status> {
    SigningRequest::read(signing_request)
        .map_err(|reason| Status::invalid_argument(format!("signing_request {reason}")))
}

/// Is the token good for `key` of `agent` in `region` now?
fn judge(token: &JoinToken, hash: TokenHash, key: KeyHash, agent: &str, region: &str) -> Result<(), Status> {
    let denied =
        |reason: String| Err(Status::permission_denied(format!("the join token {} {reason}", hash.id())));
    if !is_same(agent, &token.agent) || !is_same(region, token.region.as_str()) {
        return denied(format!(
            "is for the agent '{}' in '{}', not for {} in {}",
            token.agent,
            token.region,
            quote(agent),
            quote(region)
        ));
    }
    if token.redeemed.is_some_and(|redeemed| redeemed != key) {
        return denied(
            "was redeemed already: each lets one agent in, once; 'waymark agent token create' makes another"
                .into(),
        );
    }
    if clock::now() >= token.ends {
        return denied("is over: its time is up; 'waymark agent token create' makes another".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tonic::Code;
    use waymark_core::model::Timestamp;

    use super::*;

    #[test]
    fn sec_1_a_token_is_good_for_its_agent_its_key_and_its_time() {
        let (hash, key, other) = (TokenHash::of(b"t"), KeyHash::of(b"k"), KeyHash::of(b"o"));
        let token = |redeemed, ends| JoinToken {
            agent: "a1".into(),
            region: "aws:eu".into(),
            author: "operator/x".into(),
            at: Timestamp(0),
            ends: Timestamp(ends),
            redeemed,
        };
        let good = token(None, u64::MAX);
        assert!(judge(&good, hash, key, "A1", "aws:EU").is_ok());
        assert!(judge(&token(Some(key), u64::MAX), hash, key, "a1", "aws:eu").is_ok(), "its answer was lost");
        for (token, agent, region, words) in [
            (&good, "a2", "aws:eu", "is for the agent 'a1' in 'aws:eu', not for 'a2' in 'aws:eu'"),
            (&good, "a1", "us", "not for 'a1' in 'us'"),
            (&token(Some(other), u64::MAX), "a1", "aws:eu", "was redeemed already"),
            (&token(None, 1), "a1", "aws:eu", "its time is up"),
        ] {
            let status = judge(token, hash, key, agent, region).unwrap_err();
            assert_eq!(status.code(), Code::PermissionDenied);
            assert!(status.message().contains(words), "{status}");
        }
    }

    #[test]
    fn sec_6_failures_are_counted_by_networks_of_ipv6() {
        let of = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!([of("192.0.2.7"), of("::ffff:192.0.2.7")], ["192.0.2.7", "192.0.2.7"]);
    }
}
