//! The settings of encrypted DNS (DNS-15): addresses for each transport, and one certificate for all of them.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use waymark_process::settings::{self, Reader};

use super::Config;

/// Where DNS is served encrypted; nowhere unless somebody says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncryptedDns {
    /// Addresses for TLS over TCP (RFC 7858).
    pub tls_listen: Vec<SocketAddr>,
    /// Addresses for HTTPS (RFC 8484).
    pub https_listen: Vec<SocketAddr>,
    /// Addresses for QUIC (RFC 9250).
    pub quic_listen: Vec<SocketAddr>,
    /// The file of the certificate and its chain, in PEM.
    pub certificate: Option<PathBuf>,
    /// The file of the certificate's private key, in PEM.
    pub key: Option<PathBuf>,
}

/// The same as flags and environment variables.
#[derive(Args, Clone, Debug, Default)]
pub struct EncryptedFlags {
    /// Where DNS is served over TLS, once for each address [default: nowhere]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_DNS_TLS_LISTEN", value_delimiter = ',')]
    pub dns_tls_listen: Vec<String>,
    /// Where DNS is served over HTTPS, once for each address [default: nowhere]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_DNS_HTTPS_LISTEN", value_delimiter = ',')]
    pub dns_https_listen: Vec<String>,
    /// Where DNS is served over QUIC, once for each address [default: nowhere]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_DNS_QUIC_LISTEN", value_delimiter = ',')]
    pub dns_quic_listen: Vec<String>,
    /// The certificate for encrypted DNS and those that lead to its root, in PEM
    #[arg(long, value_name = "FILE", env = "WAYMARK_NODE_DNS_TLS_CERT")]
    pub dns_tls_cert: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", env = "WAYMARK_NODE_DNS_TLS_KEY")]
    pub dns_tls_key: Option<PathBuf>,
}

impl EncryptedDns {
    pub(super) fn read(given: &mut Reader, flags: &EncryptedFlags) -> Self {
        let mut listen = |key, flags: &[String]| given.list(key, flags, settings::listen).unwrap_or_default();
        let tls_listen = listen("dns_tls_listen", &flags.dns_tls_listen);
        let https_listen = listen("dns_https_listen", &flags.dns_https_listen);
        let quic_listen = listen("dns_quic_listen", &flags.dns_quic_listen);
        // A path need not be text, so a flag's is taken as it is.
        let mut path = |key, flag: &Option<PathBuf>| {
            let in_file = given.value(key, None, settings::text).map(PathBuf::from);
            flag.clone().or(in_file).filter(|path| !path.as_os_str().is_empty())
        };
        let certificate = path("dns_tls_cert", &flags.dns_tls_cert);
        let key = path("dns_tls_key", &flags.dns_tls_key);
        Self { tls_listen, https_listen, quic_listen, certificate, key }
    }

    /// Every address.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.listens().into_iter().flat_map(|(_, addresses)| addresses.iter().copied())
    }

    fn listens(&self) -> [(&'static str, &[SocketAddr]); 3] {
        [
            ("dns_tls_listen", &self.tls_listen),
            ("dns_https_listen", &self.https_listen),
            ("dns_quic_listen", &self.quic_listen),
        ]
    }

    /// Each address needs a certificate and is nobody else's.
    pub(super) fn check(&self, given: &mut Reader, config: &Config) {
        let files = [("dns_tls_cert", &self.certificate), ("dns_tls_key", &self.key)];
        let missing: Vec<&str> =
            files.iter().filter(|(_, path)| path.is_none()).map(|(key, _)| *key).collect();
        let users = self.listens().into_iter().filter(|(_, addresses)| !addresses.is_empty());
        for (key, _) in users.filter(|_| !missing.is_empty()) {
            let missing = missing.join(" and ");
            given.refuse(
                key,
                format!("needs {missing}, which nobody gives; name files in PEM, or listen nowhere"),
            );
        }
        let plain = || config.dns_listen.iter().map(|address| ("dns_listen", *address));
        let mut over_tcp = vec![("grpc_listen", config.grpc_listen), ("http_listen", config.http_listen)];
        over_tcp.extend(plain());
        for (key, addresses) in
            [("dns_tls_listen", &self.tls_listen), ("dns_https_listen", &self.https_listen)]
        {
            take(given, key, addresses, &mut over_tcp);
        }
        take(given, "dns_quic_listen", &self.quic_listen, &mut plain().collect());
    }
}

/// Adds `addresses` to those that others hold on the same transport, and refuses those that have a holder.
fn take(
    given: &mut Reader,
    key: &'static str,
    addresses: &[SocketAddr],
    holders: &mut Vec<(&'static str, SocketAddr)>,
) {
    for address in addresses {
        match holders.iter().find(|(_, other)| other == address) {
            Some((holder, _)) if *holder == key => given.refuse(key, format!("{address} is named twice")),
            Some((holder, _)) => {
                given.refuse(key, format!("{address} is {holder} as well: each needs its own"));
            }
            None => holders.push((key, *address)),
        }
    }
}
