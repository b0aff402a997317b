//! The authority that a cluster issues agents' certificates by: installed, shown, taken away (SEC-1).

use std::path::Path;

use serde::Serialize;
use waymark_proto::admin::v1::authority_client::AuthorityClient;
use waymark_proto::admin::v1::{
    GetAuthorityRequest, InstallAuthorityRequest, InstalledAuthority, UninstallAuthorityRequest,
};

use super::moment;
use crate::client::Attempt;
use crate::failure::{Exit, Failure};
use crate::output::{Shown, Style, table, time};
use crate::session::Session;

/// The noun of what is written.
const NOUN: &str = "issuing authority";

pub(super) async fn install(
    certificates: &Path,
    key: &Path,
    lifetime_s: u64,
    session: &Session,
) -> Result<String, Failure> {
    let read = |path: &Path| {
        let refused = |reason| Failure::new(Exit::Refused, format!("{}: {reason}", path.display()));
        waymark_process::follow::read(path).map_err(refused)
    };
    let request = InstallAuthorityRequest {
        certificates: read(certificates)?.into(),
        key: read(key)?.into(),
        lifetime_s,
        write: session.write(None),
    };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        AuthorityClient::new(at.channel).install_authority(request).await
    };
    let written = session.client.write(call).await?;
    Ok(session.written(NOUN, &certificates.display().to_string(), "installed", written))
}

pub(super) async fn uninstall(session: &Session) -> Result<String, Failure> {
    let request = UninstallAuthorityRequest { write: session.write(None) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        AuthorityClient::new(at.channel).uninstall_authority(request).await
    };
    Ok(session.written(NOUN, "of the cluster", "uninstalled", session.client.write(call).await?))
}

pub(super) async fn show(session: &Session) -> Result<String, Failure> {
    let request = GetAuthorityRequest { read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        AuthorityClient::new(at.channel).get_authority(request).await
    };
    Ok(session.show(&Installed::from(session.client.read(call).await?)))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Installed {
    subject: String,
    fingerprint: String,
    expires: String,
    /// How long what it issues lasts.
    lifetime_seconds: u64,
    /// Whether the member that was asked can use it.
    usable: bool,
    author: String,
    since: String,
    revision: u64,
}

impl From<InstalledAuthority> for Installed {
    fn from(message: InstalledAuthority) -> Self {
        let InstalledAuthority {
            subject,
            expires_s,
            fingerprint,
            lifetime_s,
            author,
            since_ms,
            revision,
            usable,
        } = message;
        Self {
            subject,
            fingerprint,
            expires: moment(expires_s),
            lifetime_seconds: lifetime_s,
            usable,
            author,
            since: time::rfc_3339(since_ms),
            revision,
        }
    }
}

impl Shown for Installed {
    const KIND: &'static str = "InstalledAuthority";

    fn names(&self) -> Vec<String> {
        vec![self.fingerprint.clone()]
    }

    fn text(&self, style: &Style) -> String {
        let Self { subject, fingerprint, expires, lifetime_seconds, usable, author, since, revision: _ } =
            self;
        let usable = if *usable {
            "yes"
        } else {
            "no: this member has not got the key that its key is encrypted with"
        };
        table::pairs(
            style,
            &[
                ("authority", subject.clone()),
                ("fingerprint", fingerprint.clone()),
                ("expires", expires.clone()),
                ("issues for", format!("{lifetime_seconds} s")),
                ("usable here", usable.to_owned()),
                ("installed", format!("{since} by {author}")),
            ],
        )
    }
}
