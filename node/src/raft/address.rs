//! What an advertised address says about where it can be reached from (CLU-1).

use std::net::{IpAddr, SocketAddr};

/// Is it an address that is only good to listen on?
pub(super) fn is_unspecified(address: &str) -> bool {
    ip(address).is_some_and(|ip| ip.is_unspecified())
}

/// Is it reachable from the same machine alone?
pub(super) fn is_loopback(address: &str) -> bool {
    host(address).is_some_and(|host| host.eq_ignore_ascii_case("localhost"))
        || ip(address).is_some_and(|ip| ip.is_loopback())
}

fn ip(address: &str) -> Option<IpAddr> {
    let authority = authority(address);
    let host = host(address)?.trim_start_matches('[').trim_end_matches(']');
    authority
        .parse::<SocketAddr>()
        .map(|socket| socket.ip())
        .or_else(|_| host.parse())
        .ok()
        .map(|ip| ip.to_canonical())
}

/// Host and port of an address with or without a scheme.
fn authority(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

fn host(address: &str) -> Option<&str> {
    let authority = authority(address);
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(host),
        _ => Some(authority),
    }
    .filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clu_1_loopback_in_every_spelling() {
        for address in [
            "http://127.0.0.1:7400",
            "http://127.9.9.9:7400/",
            "http://[::1]:7400",
            "http://localhost:7400",
            "127.0.0.1:53",
            "[::ffff:127.0.0.1]:53",
        ] {
            assert!(is_loopback(address), "{address}");
            assert!(!is_unspecified(address), "{address}");
        }
    }

    #[test]
    fn clu_1_unspecified_in_every_spelling() {
        for address in ["http://0.0.0.0:7400", "http://[::]:7400", "0.0.0.0:53", "[::]:53"] {
            assert!(is_unspecified(address), "{address}");
            assert!(!is_loopback(address), "{address}");
        }
    }

    #[test]
    fn clu_1_everything_else_is_elsewhere() {
        for address in ["http://192.0.2.1:7400", "http://ns1.example.com:7400", "[2001:db8::1]:53", ""] {
            assert!(!is_loopback(address) && !is_unspecified(address), "{address}");
        }
    }
}
