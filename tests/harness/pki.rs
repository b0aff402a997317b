//! A throw-away authority for each test's directory, and the identities of all who take part.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use waymark_process::identity::Role;
use waymark_process::pki::{AUTHORITY, Authority, LIFETIME};
use waymark_process::tls::{CredentialFiles, Credentials};

/// The trust domain of every test.
pub const TRUST_DOMAIN: &str = "waymark.test";

/// Where the authority of a test's `directory` is.
pub fn directory(directory: &Path) -> PathBuf {
    directory.join("pki")
}

/// The authority of a test's `directory`, made when it is first asked for.
///
/// # Panics
/// When its files cannot be written.
pub fn authority(directory: &Path) -> Authority {
    static MAKING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = self::directory(directory);
    let authority =
        if path.exists() { Authority::open(&path) } else { Authority::create(&path, TRUST_DOMAIN) };
    authority.expect("an authority can be made in a test's directory")
}

/// The files of the identity of a role, as in `("agent", Some("eu"), "a1")`; issued when they are first asked for.
///
/// # Panics
/// When they cannot be written.
pub fn identity(directory: &Path, word: &str, region: Option<&str>, name: &str) -> CredentialFiles {
    let role = Role::new(word, region, name).expect("a role with names");
    let (authority, pki) = (authority(directory), self::directory(directory));
    let file = |ending: &str| pki.join(format!("{}.{ending}", role.to_string().replace('/', "-")));
    let files = CredentialFiles {
        keys: ["tls_certificate", "tls_key", "tls_authority"],
        certificate: file("pem"),
        key: file("key"),
        authority: pki.join(AUTHORITY),
    };
    if !files.certificate.exists() {
        authority.issue(role, LIFETIME, &pki).expect("an identity can be issued");
    }
    files
}

/// The operator whose hands tests are.
pub fn operator(directory: &Path) -> CredentialFiles {
    identity(directory, "operator", None, "tester")
}

/// What programs are started with, with `prefix` before each flag's name: `--tls-certificate FILE …`.
pub fn arguments(files: &CredentialFiles, prefix: &str) -> Vec<String> {
    let CredentialFiles { keys: _, certificate, key, authority } = files;
    let pairs = [("certificate", certificate), ("key", key), ("authority", authority)];
    let flags = pairs.map(|(name, path)| [format!("--{prefix}{name}"), path.display().to_string()]);
    flags.into_iter().flatten().collect()
}

/// The credentials in `files`, to be used by the test itself.
///
/// # Panics
/// When they cannot be read.
pub fn open(files: CredentialFiles) -> Arc<Credentials> {
    Credentials::open(files).expect("the test's own identity is in order")
}
