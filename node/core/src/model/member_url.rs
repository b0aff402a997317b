//! Where a member is reached: `http://HOST:PORT`, in every setting, flag and message (CLU-1).

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use super::Name;

/// The URL of a member's gRPC port, as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberUrl {
    text: String,
    /// The host's address; none for a name.
    address: Option<IpAddr>,
}

/// Why a text is no member's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemberUrlFault {
    /// TLS was asked for.
    #[error("asks for TLS, which is not there yet; write http://HOST:PORT")]
    Tls,
    /// Neither of the schemes there are.
    #[error("does not begin with http://; write http://HOST:PORT")]
    Scheme,
    /// A path, a query, a user, no host or no port.
    #[error("is not a host and a port alone; write http://HOST:PORT")]
    NotBare,
}

impl MemberUrl {
    /// Reads a URL; one slash behind the port is taken.
    pub fn parse(text: &str) -> Result<Self, MemberUrlFault> {
        let (scheme, rest) = text.split_once("://").ok_or(MemberUrlFault::Scheme)?;
        match scheme.to_ascii_lowercase().as_str() {
            "http" => {}
            "https" => return Err(MemberUrlFault::Tls),
            _ => return Err(MemberUrlFault::Scheme),
        }
        let (host, port) =
            rest.strip_suffix('/').unwrap_or(rest).rsplit_once(':').ok_or(MemberUrlFault::NotBare)?;
        if !port.bytes().all(|byte| byte.is_ascii_digit()) || port.parse::<u16>().unwrap_or(0) == 0 {
            return Err(MemberUrlFault::NotBare);
        }
        Ok(Self { text: text.to_owned(), address: read_host(host)? })
    }

    /// The URL as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Is its host an address that is only good to listen on?
    pub fn is_unspecified(&self) -> bool {
        self.address.is_some_and(|address| address.to_canonical().is_unspecified())
    }
}

fn read_host(host: &str) -> Result<Option<IpAddr>, MemberUrlFault> {
    let bare = |_| MemberUrlFault::NotBare;
    if let Some(bracketed) = host.strip_prefix('[') {
        let inner = bracketed.strip_suffix(']').ok_or(MemberUrlFault::NotBare)?;
        return inner.parse().map(IpAddr::V6).map(Some).map_err(bare);
    }
    if let Ok(address) = host.parse() {
        return Ok(Some(IpAddr::V4(address)));
    }
    let name = Name::parse(host).map_err(|_| MemberUrlFault::NotBare)?;
    if name == Name::root() { Err(MemberUrlFault::NotBare) } else { Ok(None) }
}

impl From<SocketAddr> for MemberUrl {
    /// Where a listener at `address` is reached; a zone index means nothing on another machine.
    fn from(address: SocketAddr) -> Self {
        let place = SocketAddr::new(address.ip(), address.port());
        Self { text: format!("http://{place}"), address: Some(address.ip()) }
    }
}

impl fmt::Display for MemberUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clu_1_a_member_is_named_by_a_url_with_host_and_port() {
        for good in [
            "http://192.0.2.12:7400",
            "http://[2001:db8::1]:7400/",
            "HTTP://m2.example:7400",
            "http://localhost:1",
            "http://my_host:7400",
        ] {
            assert_eq!(MemberUrl::parse(good).map(|url| url.to_string()), Ok(good.to_owned()));
        }
        for (text, fault) in [
            ("", MemberUrlFault::Scheme),
            ("m2:7400", MemberUrlFault::Scheme),
            ("192.0.2.12:7400", MemberUrlFault::Scheme),
            ("ftp://m2:1", MemberUrlFault::Scheme),
            ("https://m2:7400", MemberUrlFault::Tls),
            ("http://m2", MemberUrlFault::NotBare),
            ("http://:7400", MemberUrlFault::NotBare),
            ("http://m2:0", MemberUrlFault::NotBare),
            ("http://m2:+1", MemberUrlFault::NotBare),
            ("http://m2:99999", MemberUrlFault::NotBare),
            ("http://m2:7400/x", MemberUrlFault::NotBare),
            ("http://m2:7400?x", MemberUrlFault::NotBare),
            ("http://a@m2:7400", MemberUrlFault::NotBare),
            ("http://::1:7400", MemberUrlFault::NotBare),
            ("http://[192.0.2.1]:7400", MemberUrlFault::NotBare),
            ("http://a b:7400", MemberUrlFault::NotBare),
        ] {
            assert_eq!(MemberUrl::parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn clu_1_an_unspecified_host_is_known_in_every_spelling() {
        for (text, is) in [
            ("http://0.0.0.0:7400", true),
            ("http://[::]:7400", true),
            ("http://[::ffff:0.0.0.0]:7400", true),
            ("http://127.0.0.1:7400", false),
            ("http://m1.example:7400", false),
        ] {
            assert_eq!(MemberUrl::parse(text).unwrap().is_unspecified(), is, "{text}");
        }
    }
}
