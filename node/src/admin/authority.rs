//! The authority by which the cluster issues agents' certificates (SEC-1): judged by what it issues, and encrypted before
//! anything is proposed.

use std::time::Duration;

use rustls_pki_types::{CertificateDer, UnixTime};
use tonic::{Request, Response, Status};
use waymark_core::model::Violations;
use waymark_core::state::{Action, Enrolment, EnrolmentWish, IssuingAuthority, SealedKey};
use waymark_process::identity::{Identity, Role};
use waymark_process::pki::{FreshKey, Issuing, SigningRequest, certificates_in, name_of};
use waymark_process::tls::Refusal;
use waymark_proto::admin::v1::{
    GetAuthorityRequest, InstallAuthorityRequest, InstalledAuthority, UninstallAuthorityRequest,
    WriteResponse, authority_server,
};

use super::caller::Caller;
use super::handles::{Handles, Marks};

/// Why the writes here cannot be bound to a revision.
const UNBOUND: &str = "cannot be given here: whatever is installed is meant";

/// The service.
#[derive(Clone)]
pub(super) struct AuthorityService {
    handles: Handles,
}

impl AuthorityService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }

    /// The wish for the authority, if there is nothing wrong with it that this member can see. No fault repeats a part of `key`.
    fn judge(&self, certificates: &[u8], key: &[u8], lifetime_s: u64) -> Result<EnrolmentWish, Fault> {
        let credentials = self.handles.credentials.as_ref();
        let credentials = credentials.ok_or_else(|| {
            Fault::of(
                "",
                "this member speaks plain text, in which nobody has an identity: nothing can be issued",
            )
        })?;
        let (shortest, longest) = Enrolment::LIFETIME_S;
        if !(shortest..=longest).contains(&lifetime_s) {
            return Err(Fault::of("for", format!("{lifetime_s} s is outside 10s–365d")));
        }
        let chain = certificates_in(certificates).map_err(|reason| Fault::of("certificates", reason))?;
        let key = std::str::from_utf8(key).map_err(|_| Fault::of("key", "is no text"))?;
        let issuing = Issuing::new(chain.clone(), key).map_err(|reason| Fault::of("certificates", reason))?;
        let trust_domain = credentials.identity().trust_domain;
        if let Some(foreign) = issuing.realm().filter(|named| *named != trust_domain) {
            let text =
                format!("it is the authority of '{foreign}', and the trust domain here is '{trust_domain}'");
            return Err(Fault::of("certificates", text));
        }
        let left = issuing.expires.saturating_sub(UnixTime::now().as_secs());
        if left < lifetime_s {
            let text = format!("{lifetime_s} s is longer than the authority itself lasts, which is {left} s");
            return Err(Fault::of("for", text));
        }
        let believe = |chain: &[CertificateDer<'_>]| credentials.believe(chain);
        try_out(&issuing, trust_domain, believe).map_err(|reason| Fault::of("certificates", reason))?;
        let sealed = self.handles.keys.seal_authority(&chain[0], key).map_err(|_| {
            Fault::of(
                "key",
                "this member has nothing to encrypt it with: give all members of the cluster the same secret_key_file \
                 ('waymark pki secret-key FILE' makes one)",
            )
        })?;
        let chain = chain.iter().map(|certificate| certificate.as_ref().into()).collect();
        Ok(EnrolmentWish::Install { chain, key: SealedKey(sealed.into()), lifetime_s })
    }
}

/// What is wrong with a wish.
struct Fault {
    field: &'static str,
    description: String,
}

impl Fault {
    fn of(field: &'static str, description: impl Into<String>) -> Self {
        Self { field, description: description.into() }
    }
}

/// Issues something that nobody gets, to see whether it is believed.
fn try_out(
    issuing: &Issuing,
    trust_domain: String,
    believe: impl FnOnce(&[CertificateDer<'_>]) -> Result<Identity, Refusal>,
) -> Result<(), String> {
    let text = |error: waymark_process::pki::PkiError| error.to_string();
    let request = FreshKey::draw().and_then(|key| key.signing_request()).map_err(text)?;
    let identity = Identity { trust_domain, role: Role::new("agent", Some("trial"), "trial")? };
    let minute = Duration::from_secs(60);
    let granted = issuing.issue(&SigningRequest::read(&request)?, &identity, minute)?;
    match believe(&granted.chain) {
        Ok(_) => Ok(()),
        Err(Refusal::UnknownAuthority) => {
            Err("the authorities that this member trusts (tls_authority) do not lead to it: add \
            its certificate to that file, everywhere, first"
                .to_owned())
        }
        Err(reason) => Err(format!("what it issues is not believed here: {reason}")),
    }
}

#[tonic::async_trait]
impl authority_server::Authority for AuthorityService {
    async fn install_authority(
        &self,
        request: Request<InstallAuthorityRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let InstallAuthorityRequest { certificates, key, lifetime_s, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of_unbound(write, UNBOUND, &mut violations);
        let wish = match self.judge(&certificates, &key, lifetime_s) {
            Ok(wish) => Some(Action::Enrolment(wish).into()),
            Err(Fault { field, description }) => {
                violations.add(field, description);
                None
            }
        };
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn uninstall_authority(
        &self,
        request: Request<UninstallAuthorityRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let UninstallAuthorityRequest { write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of_unbound(write, UNBOUND, &mut violations);
        let action = Action::Enrolment(EnrolmentWish::Uninstall);
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }

    async fn get_authority(
        &self,
        request: Request<GetAuthorityRequest>,
    ) -> Result<Response<InstalledAuthority>, Status> {
        let view = self.handles.view(request.into_inner().read).await?;
        let none =
            || Status::not_found("the cluster has no issuing authority: 'waymark pki install' gives it one");
        let installed = view.state.enrolment.authority.as_ref().ok_or_else(none)?;
        let own = installed.chain.first().map(|own| &own[..]).unwrap_or_default();
        let (subject, expires_s) = name_of(own).map_err(Status::internal)?;
        Ok(Response::new(InstalledAuthority {
            subject,
            expires_s,
            fingerprint: IssuingAuthority::fingerprint(own),
            lifetime_s: installed.lifetime_s,
            author: installed.author.clone(),
            since_ms: installed.since.0,
            revision: installed.revision.0,
            usable: self.handles.keys.unseal_authority(own, &installed.key.0).is_ok(),
        }))
    }
}
