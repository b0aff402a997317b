//! Whom a process believes that has no certificate of its own yet (SEC-1).

use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls_pki_types::{CertificateDer, UnixTime};

use super::credentials::client_config;
use super::pair::{Named, PairError};
use super::verifier::{Refusal, Side, Verifier};
use crate::follow;
use crate::identity::Identity;

/// The authorities and the trust domain that it goes by.
#[derive(Clone, Debug)]
pub struct Trust {
    verifier: Arc<Verifier>,
    client: Arc<ClientConfig>,
}

impl Trust {
    /// Reads the authorities' file at `path`, which the setting `key` names.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn open(key: &'static str, path: &Path, trust_domain: &str) -> Result<Self, PairError> {
        let fault = Named { key, path }.fault("the certificates of the authorities that are trusted");
        let bundle = follow::read(path).map_err(fault)?;
        let verifier = Arc::new(Verifier::new(&bundle, trust_domain).map_err(fault)?);
        Ok(Self { client: client_config(None, &verifier), verifier })
    }

    /// Whom the first certificate of `chain` is for, if it were shown by a caller now.
    ///
    /// # Errors
    /// Why it is not believed.
    pub fn believe(&self, chain: &[CertificateDer<'_>]) -> Result<Identity, Refusal> {
        self.verifier.verify(chain, Side::Calling, UnixTime::now())
    }

    /// What to begin TLS with, as nobody.
    pub(super) fn client(&self) -> Arc<ClientConfig> {
        self.client.clone()
    }
}
