//! `waymark pki`: the authority whose certificates say who members, agents and people are. It works on files alone, without a
//! cluster, but for the authority that is installed in one (SEC-1).

mod installed;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use comfy_table::Cell;
use serde::Serialize;
use waymark_process::identity::Role;
use waymark_process::pki::{
    AUTHORITY, AUTHORITY_KEY, Authority, Described, Issued, PkiError, Subject, describe, lifetime,
};
use waymark_process::secrets::Keys;
use waymark_process::settings::place_name;

use crate::failure::{Exit, Failure};
use crate::flags::duration::{Millis, with_days};
use crate::output::time::rfc_3339;
use crate::output::{Shown, Style, table};
use crate::session::Session;

/// What is done with an authority.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Make an authority in a directory.
    #[command(after_help = "Examples:\n  waymark pki init pki --trust-domain example.com\n  \
waymark pki init /media/usb/pki --trust-domain prod.example.com -o json")]
    Init {
        /// The directory; it is made if it is missing.
        dir: PathBuf,
        /// The realm of all identities that it issues, as in example.com.
        #[arg(long, value_name = "NAME")]
        trust_domain: String,
    },
    /// Issue an identity: a certificate and its key.
    #[command(after_help = "Examples:\n  waymark pki issue pki member m1\n  \
waymark pki issue pki agent a1 --region eu-central\n  waymark pki issue pki operator alice --for 30d --into alice")]
    Issue {
        /// The authority's directory.
        dir: PathBuf,
        /// What the identity is for.
        role: Word,
        /// The name of the member, the agent or the person.
        name: String,
        /// The region that an agent probes from.
        #[arg(long, value_name = "REGION")]
        region: Option<String>,
        /// How long it lasts.
        #[arg(long = "for", value_name = "LIFETIME", default_value = "90d", value_parser = lifetime)]
        lasts: Duration,
        /// The directory for both files [default: the authority's].
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
    /// Take an identity back: put the authority's file in place of the one before, wherever it is trusted.
    #[command(after_help = "Examples:\n  waymark pki revoke pki pki/operator-alice.pem\n  \
waymark pki revoke pki 6fd45a22b31f0e7719fa12c0a1b2c3d4")]
    Revoke {
        /// The authority's directory.
        dir: PathBuf,
        /// The certificate's file, or its serial number.
        #[arg(value_name = "FILE|SERIAL")]
        which: String,
        /// The serial number is that of a certificate which the cluster has issued: 'waymark audit list' has it, the authority's
        /// directory has not.
        #[arg(long)]
        by_cluster: bool,
    },
    /// Have the cluster issue and renew agents' certificates by an authority, whose key it keeps encrypted.
    #[command(after_help = "Examples:\n  waymark pki install agents/authority.pem agents/authority.key\n  \
waymark pki install agents/authority.pem agents/authority.key --for 7d")]
    Install {
        /// The file with the authority's certificate, and behind it those that lead to one that members trust.
        // Not named as the flag that says who asks.
        #[arg(value_name = "CERTIFICATE")]
        own_certificate: PathBuf,
        /// The file with its private key.
        #[arg(value_name = "KEY-FILE")]
        own_key: PathBuf,
        /// How long what it issues lasts, 10s to 365d; agents renew at half of that.
        #[arg(long = "for", value_name = "LIFETIME", default_value = "30d", value_parser = with_days)]
        lasts: Millis,
    },
    /// Take the authority out of the cluster, and all join tokens with it; what it has issued stays good.
    #[command(after_help = "Examples:\n  waymark pki uninstall\n  waymark pki uninstall --wait all")]
    Uninstall,
    /// Show which authority is installed in the cluster; never its key.
    #[command(after_help = "Examples:\n  waymark pki installed\n  waymark pki installed -o json")]
    Installed,
    /// Make the file with the key that secret headers are encrypted with: the same one for all members of a cluster.
    #[command(
        after_help = "Examples:\n  waymark pki secret-key secret.key\n  waymark pki secret-key secret.key -o json"
    )]
    SecretKey {
        /// The file; there must be none of that name.
        file: PathBuf,
    },
    /// Show what is in a file of certificates.
    #[command(
        after_help = "Examples:\n  waymark pki show pki/member-m1.pem\n  waymark pki show pki/authority.pem -o json"
    )]
    Show {
        /// The file.
        file: PathBuf,
    },
}

impl Verb {
    /// Does it work on files alone?
    pub(crate) fn is_local(&self) -> bool {
        !matches!(self, Self::Install { .. } | Self::Uninstall | Self::Installed)
    }
}

/// What an identity is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Word {
    /// A member of the cluster.
    Member,
    /// An agent, in one region.
    Agent,
    /// Someone who may change everything.
    Operator,
    /// Someone who may read everything but secrets.
    Viewer,
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::Init { dir, trust_domain } => {
            let authority = Authority::create(&dir, &trust_domain).map_err(failure)?;
            let (certificate, key) = (text(&dir.join(AUTHORITY)), text(&dir.join(AUTHORITY_KEY)));
            Ok(session.show(&Made { trust_domain: authority.trust_domain, certificate, key }))
        }
        Verb::Issue { dir, role, name, region, lasts, into } => {
            let role = wished(role, &name, region.as_deref())
                .map_err(|reason| Failure::new(Exit::Refused, reason))?;
            let authority = Authority::open(&dir).map_err(failure)?;
            let issued = authority.issue(role, lasts, &into.unwrap_or(dir.clone())).map_err(failure)?;
            Ok(session.show(&ShownIssue::new(issued, &dir.join(AUTHORITY))))
        }
        Verb::Revoke { dir, which, by_cluster } => revoke(&dir, &which, by_cluster, session),
        Verb::Install { own_certificate, own_key, lasts: Millis(lasts_ms) } => {
            installed::install(&own_certificate, &own_key, lasts_ms / 1_000, session).await
        }
        Verb::Uninstall => installed::uninstall(session).await,
        Verb::Installed => installed::show(session).await,
        Verb::SecretKey { file } => {
            let key = Keys::create(&file).map_err(failure)?;
            Ok(session.show(&SecretKey { file: text(&file), key }))
        }
        Verb::Show { file } => {
            let (certificates, revoked) = read(&file)?;
            Ok(session
                .show(&File { certificates: certificates.into_iter().map(Into::into).collect(), revoked }))
        }
    }
}

/// The role of an identity that is to be issued; the error names the argument, its value and the rule.
fn wished(word: Word, name: &str, region: Option<&str>) -> Result<Role, String> {
    place_name(name).map_err(|reason| format!("NAME {reason}"))?;
    match (word, region) {
        (Word::Agent, None) => {
            return Err(format!(
                "--region is missing: an agent's identity, as that of '{name}', has its region in it"
            ));
        }
        (Word::Agent, Some(region)) => {
            place_name(region).map_err(|reason| format!("--region {reason}"))?;
        }
        (_, Some(region)) => {
            return Err(format!("--region '{region}': only an agent's identity has a region in it"));
        }
        (_, None) => {}
    }
    let word = word.to_possible_value().expect("no role is hidden");
    Role::new(word.get_name(), region, name)
}

fn revoke(dir: &Path, which: &str, by_cluster: bool, session: &Session) -> Result<String, Failure> {
    let authority = Authority::open(dir).map_err(failure)?;
    let (serial, revoked) = match Path::new(which) {
        file if file.is_file() => authority.revoke_file(file).map_err(failure)?,
        _ if by_cluster => (which.to_owned(), authority.revoke_unrecorded(which).map_err(failure)?),
        _ => (which.to_owned(), authority.revoke(which).map_err(failure)?),
    };
    Ok(session.show(&Revoked { serial, authority: text(&dir.join(AUTHORITY)), revoked }))
}

fn read(file: &Path) -> Result<(Vec<Described>, Vec<String>), Failure> {
    let refused = |reason: String| Failure::new(Exit::Refused, format!("{}: {reason}", file.display()));
    waymark_process::follow::read(file).and_then(|text| describe(&text)).map_err(refused)
}

fn failure(error: PkiError) -> Failure {
    Failure::new(Exit::Refused, error.to_string())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn moment(seconds: u64) -> String {
    rfc_3339(seconds.saturating_mul(1_000))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    trust_domain: String,
    certificate: String,
    key: String,
}

impl Shown for Made {
    const KIND: &'static str = "Authority";

    fn names(&self) -> Vec<String> {
        vec![self.certificate.clone()]
    }

    fn text(&self, _: &Style) -> String {
        format!(
            "made the authority of '{}'\n  {}  goes to every member, agent and operator\n  {}  is the authority: keep it, and \
             keep it offline\n",
            self.trust_domain, self.certificate, self.key
        )
    }
}

#[derive(Debug, Serialize)]
struct SecretKey {
    file: String,
    /// Its number, which tells nothing of it.
    key: String,
}

impl Shown for SecretKey {
    const KIND: &'static str = "SecretKey";

    fn names(&self) -> Vec<String> {
        vec![self.file.clone()]
    }

    fn text(&self, _: &Style) -> String {
        let Self { file, key } = self;
        format!(
            "made {file} with the key {key}: every member gets the same file, by its setting secret_key_file\n"
        )
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownIssue {
    identity: String,
    serial: String,
    expires: String,
    certificate: String,
    key: String,
    authority: String,
}

impl ShownIssue {
    fn new(issued: Issued, authority: &Path) -> Self {
        let Issued { identity, certificate, key, serial, expires } = issued;
        Self {
            identity: identity.to_string(),
            serial,
            expires: moment(expires),
            certificate: text(&certificate),
            key: text(&key),
            authority: text(authority),
        }
    }
}

impl Shown for ShownIssue {
    const KIND: &'static str = "IssuedIdentity";

    fn names(&self) -> Vec<String> {
        vec![self.certificate.clone()]
    }

    fn text(&self, _: &Style) -> String {
        let Self { identity, serial, expires, certificate, key, authority } = self;
        format!(
            "issued {identity}, until {expires}, serial {serial}\n  {certificate}\n  {key}\ntogether with {authority}\n"
        )
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Revoked {
    serial: String,
    authority: String,
    revoked: usize,
}

impl Shown for Revoked {
    const KIND: &'static str = "RevokedIdentity";

    fn names(&self) -> Vec<String> {
        vec![self.serial.clone()]
    }

    fn text(&self, _: &Style) -> String {
        let Self { serial, authority, revoked } = self;
        format!(
            "revoked {serial}; {revoked} in all stand in {authority}\nput that file where it is trusted, on members first: \
             they read it within two seconds, and cut what is open\n"
        )
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Certificate {
    subject: String,
    serial: String,
    issuer: String,
    begins: String,
    expires: String,
}

impl From<Described> for Certificate {
    fn from(described: Described) -> Self {
        let Described { subject, serial, issuer, begins, expires } = described;
        let subject = match subject {
            Subject::Identity(identity) => identity.to_string(),
            Subject::Authority(realm) => format!("authority of '{realm}'"),
            Subject::Nobody(reason) => format!("nobody: {reason}"),
        };
        Self { subject, serial, issuer, begins: moment(begins), expires: moment(expires) }
    }
}

#[derive(Debug, Serialize)]
struct File {
    certificates: Vec<Certificate>,
    revoked: Vec<String>,
}

impl Shown for File {
    const KIND: &'static str = "CertificateList";

    fn names(&self) -> Vec<String> {
        self.certificates.iter().map(|certificate| certificate.serial.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["FOR", "FROM", "UNTIL", "SERIAL", "ISSUER"]);
        for Certificate { subject, serial, issuer, begins, expires } in &self.certificates {
            shown.add_row([subject, begins, expires, serial, issuer].map(Cell::new));
        }
        let revoked = self.revoked.iter().map(|serial| format!("revoked: {serial}\n"));
        table::finish(shown) + &revoked.collect::<String>()
    }
}
