//! Who the person at the command line is to members: the files that three flags name (SEC-1).

use std::path::PathBuf;
use std::sync::Arc;

use waymark_process::tls::{CredentialFiles, Credentials};

use crate::failure::{Exit, Failure};
use crate::grammar::Globals;

/// The flags, as failures name them.
const FLAGS: [&str; 3] = ["--certificate", "--key", "--authority"];

/// The credentials that the flags name, if they do; all three go together.
pub(crate) fn credentials(globals: &Globals) -> Result<Option<Arc<Credentials>>, Failure> {
    let given = [&globals.certificate, &globals.key, &globals.authority];
    // An empty variable is as good as none.
    let given = given.map(|path| path.clone().filter(|path| !path.as_os_str().is_empty()));
    let missing = FLAGS.iter().zip(&given).find(|(_, path)| path.is_none()).map(|(flag, _)| flag);
    let all: Option<Vec<PathBuf>> = given.iter().cloned().collect();
    let Some([certificate, key, authority]) = all.as_deref() else {
        return match missing {
            Some(flag) if given.iter().any(Option::is_some) => {
                let all = FLAGS.join(", ");
                Err(Failure::usage(format!(
                    "{flag} is missing: {all} go together, or their variables WAYMARK_…"
                )))
            }
            _ => Ok(None),
        };
    };
    let files = CredentialFiles {
        keys: FLAGS,
        certificate: certificate.clone(),
        key: key.clone(),
        authority: authority.clone(),
    };
    let refused = |reason: String| Failure::new(Exit::NotAllowed, reason);
    let credentials = Credentials::open(files).map_err(|error| refused(error.to_string()))?;
    match credentials.trouble() {
        None => Ok(Some(credentials)),
        Some(reason) => Err(refused(format!(
            "--certificate {}: no member believes it: {reason}; 'waymark pki issue' makes another",
            certificate.display()
        ))),
    }
}
