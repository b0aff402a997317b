//! Where a member is reached: `https://HOST:PORT`, in every setting, flag and message; `http://` on loopback (CLU-1, SEC-1).

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use super::Name;

/// The URL of a member's gRPC port, as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberUrl {
    text: String,
    is_encrypted: bool,
    /// The host's address; none for a name.
    address: Option<IpAddr>,
}

/// Why a text is no member's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemberUrlFault {
    /// Neither of the schemes there are.
    #[error("does not begin with https://; write https://HOST:PORT")]
    Scheme,
    /// A path, a query, a user, no host or no port.
    #[error("is not a host and a port alone; write https://HOST:PORT")]
    NotBare,
    /// Everybody on the way could read and change it (SEC-1).
    #[error("asks for plain text, which is for loopback only; write https://HOST:PORT")]
    Plain,
}

impl MemberUrl {
    /// Reads a URL; one slash behind the port is taken.
    pub fn parse(text: &str) -> Result<Self, MemberUrlFault> {
        let (scheme, rest) = text.split_once("://").ok_or(MemberUrlFault::Scheme)?;
        let is_encrypted = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(MemberUrlFault::Scheme),
        };
        let (host, port) =
            rest.strip_suffix('/').unwrap_or(rest).rsplit_once(':').ok_or(MemberUrlFault::NotBare)?;
        if !port.bytes().all(|byte| byte.is_ascii_digit()) || port.parse::<u16>().unwrap_or(0) == 0 {
            return Err(MemberUrlFault::NotBare);
        }
        Ok(Self { text: text.to_owned(), is_encrypted, address: read_host(host)? })
    }

    /// Where a listener at `address` is reached; a zone index means nothing on another machine.
    pub fn of(address: SocketAddr, is_encrypted: bool) -> Self {
        let place = SocketAddr::new(address.ip(), address.port());
        let scheme = if is_encrypted { "https" } else { "http" };
        Self { text: format!("{scheme}://{place}"), is_encrypted, address: Some(address.ip()) }
    }

    /// The URL, if one may speak to it as it says: plain text stays on this machine (SEC-1).
    ///
    /// # Errors
    /// It asks for plain text elsewhere.
    pub fn safe(self) -> Result<Self, MemberUrlFault> {
        let is_here = match self.address {
            Some(address) => address.to_canonical().is_loopback(),
            None => self.text.to_ascii_lowercase().starts_with("http://localhost:"),
        };
        if self.is_encrypted || is_here { Ok(self) } else { Err(MemberUrlFault::Plain) }
    }

    /// Does it ask for TLS?
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
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
            "https://m2.example:7400",
        ] {
            assert_eq!(MemberUrl::parse(good).map(|url| url.to_string()), Ok(good.to_owned()));
        }
        for (text, fault) in [
            ("", MemberUrlFault::Scheme),
            ("m2:7400", MemberUrlFault::Scheme),
            ("192.0.2.12:7400", MemberUrlFault::Scheme),
            ("ftp://m2:1", MemberUrlFault::Scheme),
            ("https://m2", MemberUrlFault::NotBare),
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
    fn sec_1_plain_text_stays_on_this_machine() {
        for text in [
            "http://127.0.0.1:1",
            "http://127.9.9.9:1",
            "http://[::1]:1",
            "HTTP://LocalHost:1",
            "https://m2:1",
        ] {
            assert!(MemberUrl::parse(text).unwrap().safe().is_ok(), "{text}");
        }
        for text in
            ["http://192.0.2.1:1", "http://m2.example:1", "http://localhost.example:1", "http://0.0.0.0:1"]
        {
            assert_eq!(MemberUrl::parse(text).unwrap().safe(), Err(MemberUrlFault::Plain), "{text}");
        }
        let here = |is_encrypted| MemberUrl::of(([127, 0, 0, 1], 7400).into(), is_encrypted);
        assert_eq!(
            [here(true).as_str(), here(false).as_str()],
            ["https://127.0.0.1:7400", "http://127.0.0.1:7400"]
        );
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
