//! Canary targets (PRB-14): places beside the endpoints that an agent looks at to know whether it can see at all.

use std::fmt;
use std::sync::Arc;

use http::Uri;
use waymark_core::health::Check;
use waymark_core::model::{Protocol, Revision, StatusRange, Target, parse_target};

/// Most canary targets of one agent: each costs a probe every ten seconds, and more of them tell no more.
pub const CANARIES_MAX: usize = 8;
/// How often each is probed, in milliseconds.
pub(crate) const INTERVAL_MS: u64 = 10_000;
/// How long a probe of one may take, in milliseconds.
const TIMEOUT_MS: u64 = 5_000;

/// One canary target, with the probe that it gets: `host:port` a connection, a URL a request whose answer may be any
/// complete response head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canary {
    text: String,
    pub(crate) check: Arc<Check>,
}

impl Canary {
    /// Reads a target as an operator writes it: `192.0.2.1:443`, `[2001:db8::1]:443`, `www.example.org:443`,
    /// `https://www.example.org/health`. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fault = |why: &str| format!("'{text}' {why}; write HOST:PORT or an http(s) URL");
        let (protocol, host, port, path) = match text.split_once("://") {
            Some(_) => url(text).map_err(|why| fault(&why))?,
            None => {
                let (host, port) = text.rsplit_once(':').ok_or_else(|| fault("names no port"))?;
                let port = port.parse::<u16>().ok().filter(|port| *port > 0);
                let port = port.ok_or_else(|| fault("names no port from 1 to 65535"))?;
                (Protocol::Tcp, host.to_owned(), port, "/".to_owned())
            }
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
        let target = parse_target(bare).map_err(|why| fault(&format!("has a host that {why}")))?;
        Ok(Self { text: text.to_owned(), check: Arc::new(check(protocol, target, port, path)) })
    }
}

impl fmt::Display for Canary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

fn url(text: &str) -> Result<(Protocol, String, u16, String), String> {
    let url: Uri = text.parse().map_err(|error| format!("is no URL: {error}"))?;
    let (protocol, usual_port) = match url.scheme_str() {
        Some("http") => (Protocol::Http, 80),
        Some("https") => (Protocol::Https, 443),
        _ => return Err("is neither an http nor an https URL".to_owned()),
    };
    if url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("has a user, whom nobody asks for".to_owned());
    }
    let host = url.host().filter(|host| !host.is_empty()).ok_or("has no host")?.to_owned();
    let path = url.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    Ok((protocol, host, url.port_u16().unwrap_or(usual_port), path))
}

fn check(protocol: Protocol, target: Target, port: u16, path: String) -> Check {
    Check {
        protocol,
        target,
        port,
        path,
        interval_ms: INTERVAL_MS,
        timeout_ms: TIMEOUT_MS,
        // Whoever answers is there, whatever the answer.
        expect: vec![StatusRange { min: 0, max: 999 }],
        headers: Vec::new(),
        revision: Revision(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prb_14_canaries_are_read_as_they_are_written() {
        for (text, protocol, target, port, path) in [
            ("192.0.2.1:443", Protocol::Tcp, "192.0.2.1", 443, "/"),
            ("[2001:db8::1]:53", Protocol::Tcp, "2001:db8::1", 53, "/"),
            ("www.example.org:80", Protocol::Tcp, "www.example.org", 80, "/"),
            ("http://192.0.2.1", Protocol::Http, "192.0.2.1", 80, "/"),
            ("https://www.example.org/up?x=1", Protocol::Https, "www.example.org", 443, "/up?x=1"),
            ("http://[2001:db8::1]:8080/", Protocol::Http, "2001:db8::1", 8080, "/"),
        ] {
            let canary = Canary::parse(text).unwrap();
            let Check { protocol: found, target: to, port: at, path: asked, .. } = (*canary.check).clone();
            assert_eq!(
                (found, to.to_string(), asked.as_str()),
                (protocol, target.to_owned(), path),
                "{text}"
            );
            assert_eq!((at, canary.to_string()), (port, text.to_owned()));
        }
    }

    #[test]
    fn prb_14_what_is_no_canary_is_refused_with_what_is_wanted() {
        for text in [
            "192.0.2.1",
            "192.0.2.1:0",
            "192.0.2.1:70000",
            "www.example.org",
            "ftp://www.example.org/",
            "http://user@www.example.org/",
            "https://",
            "0.0.0.0:80",
            ":80",
            "",
        ] {
            let fault = Canary::parse(text).unwrap_err();
            assert!(fault.starts_with(&format!("'{text}' ")) && fault.ends_with("http(s) URL"), "{fault}");
        }
    }
}
