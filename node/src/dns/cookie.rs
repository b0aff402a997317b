//! DNS cookies: what shows that an asker is where it says that it is (RFC 7873), made so that every member, and every
//! server of the same secret, understands them (RFC 9018, DNS-11).
//!
//! ```text
//!  client's part 8 | version 1 | 0 0 0 | made, Unix seconds 4 | SipHash-2-4 of all in front and the client's address 8
//!                  └───────────────────────── server's part, 16 bytes ─────────────────────────┘
//! ```

use std::net::IpAddr;

use hickory_server::proto::rr::rdata::opt::EdnsOption;
use siphasher::sip::SipHasher24;
use waymark_core::state::{CookieSecret, CookieSecrets};

use super::respond::Arrival;

/// The option's code.
pub(super) const CODE: u16 = 10;

/// The length of the client's part.
const CLIENT_LEN: usize = 8;
/// The length of a server's part as RFC 9018 makes it.
const SERVER_LEN: usize = 16;
/// How much of the server's part is in front of the hash.
const FIXED_LEN: usize = 8;
/// What other servers make may be as long.
const FOREIGN_LEN: std::ops::RangeInclusive<usize> = 8..=32;
/// RFC 9018's way of making them.
const VERSION: u8 = 1;
/// A cookie is good for an hour (RFC 9018 §4.3), in seconds,
const AGE_MAX_S: i32 = 3_600;
/// also if the clock that it was made by is ahead by five minutes,
const AHEAD_MAX_S: i32 = 300;
/// and is made anew after half of its time.
const RENEWED_AFTER_S: i32 = 1_800;

/// A query's cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cookie {
    client: [u8; CLIENT_LEN],
    server: Server,
}

/// The server's part of a query's cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    /// The client has none yet.
    Missing,
    /// Of a length that ours never have.
    Foreign,
    /// Perhaps one of ours.
    Made([u8; SERVER_LEN]),
}

impl Cookie {
    /// Reads the option's data; `None` if its length can't be (RFC 7873 §5.2.2).
    pub(super) fn read(data: &[u8]) -> Option<Self> {
        let (client, server) = data.split_first_chunk()?;
        let server = match server.len() {
            0 => Server::Missing,
            length if !FOREIGN_LEN.contains(&length) => return None,
            _ => server.try_into().map_or(Server::Foreign, Server::Made),
        };
        Some(Self { client: *client, server })
    }

    /// Does it show that a member gave it to this very client, not long ago?
    pub(super) fn is_ours(&self, secrets: &CookieSecrets, source: IpAddr, now_s: u32) -> bool {
        let Server::Made(server) = self.server else { return false };
        let age_s = age_s(&server, now_s);
        server[0] == VERSION
            && (-AHEAD_MAX_S..=AGE_MAX_S).contains(&age_s)
            && [secrets.current, secrets.previous].into_iter().flatten().any(|secret| {
                let (fixed, hash) = server.split_at(FIXED_LEN);
                self.hash(secret, fixed, source) == hash
            })
    }

    /// Does it have a server's part of the length of ours?
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.server, Server::Made(_))
    }

    /// Does it have a server's part?
    pub(super) fn has_server_part(&self) -> bool {
        self.server != Server::Missing
    }

    /// The option of the reply: the client's part with a server's part for next time. `None` while there is no secret.
    pub(super) fn reply(&self, secrets: &CookieSecrets, arrival: &Arrival<'_>) -> Option<EdnsOption> {
        Some(EdnsOption::Unknown(CODE, self.for_next_time(secrets, arrival.source, arrival.now_s)?.to_vec()))
    }

    /// Client's and server's part for next time: the one that came while it is fresh, else a new one.
    pub(super) fn for_next_time(
        &self,
        secrets: &CookieSecrets,
        source: IpAddr,
        now_s: u32,
    ) -> Option<[u8; CLIENT_LEN + SERVER_LEN]> {
        let current = secrets.current?;
        let only_current = CookieSecrets { previous: None, ..secrets.clone() };
        let server = match self.server {
            Server::Made(server)
                if age_s(&server, now_s) <= RENEWED_AFTER_S && self.is_ours(&only_current, source, now_s) =>
            {
                server
            }
            _ => self.make(current, source, now_s),
        };
        let mut whole = [0; CLIENT_LEN + SERVER_LEN];
        whole[..CLIENT_LEN].copy_from_slice(&self.client);
        whole[CLIENT_LEN..].copy_from_slice(&server);
        Some(whole)
    }

    fn make(&self, secret: CookieSecret, source: IpAddr, now_s: u32) -> [u8; SERVER_LEN] {
        let mut server = [0; SERVER_LEN];
        server[0] = VERSION;
        server[4..FIXED_LEN].copy_from_slice(&now_s.to_be_bytes());
        let hash = self.hash(secret, &server[..FIXED_LEN], source);
        server[FIXED_LEN..].copy_from_slice(&hash);
        server
    }

    /// The hash over the client's part, the server's fixed part as it is, and the client's address.
    fn hash(&self, secret: CookieSecret, fixed: &[u8], source: IpAddr) -> [u8; 8] {
        let mut input = [0; CLIENT_LEN + FIXED_LEN + 16];
        let (client, rest) = input.split_at_mut(CLIENT_LEN);
        let (fixed_part, address) = rest.split_at_mut(FIXED_LEN);
        client.copy_from_slice(&self.client);
        fixed_part.copy_from_slice(fixed);
        let length = match source.to_canonical() {
            IpAddr::V4(v4) => {
                address[..4].copy_from_slice(&v4.octets());
                4
            }
            IpAddr::V6(v6) => {
                address.copy_from_slice(&v6.octets());
                16
            }
        };
        let hashed = &input[..CLIENT_LEN + FIXED_LEN + length];
        SipHasher24::new_with_key(&secret.0).hash(hashed).to_le_bytes()
    }
}

/// How long ago a cookie was made, by the serial arithmetic that RFC 9018 §4.3 wants.
fn age_s(server: &[u8; SERVER_LEN], now_s: u32) -> i32 {
    let made = u32::from_be_bytes([server[4], server[5], server[6], server[7]]);
    now_s.wrapping_sub(made).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const LEN: usize>(hex: &str) -> [u8; LEN] {
        std::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
    }

    fn secrets(current: &str, previous: Option<&str>) -> CookieSecrets {
        let secret = |hex| CookieSecret(bytes(hex));
        CookieSecrets {
            current: Some(secret(current)),
            previous: previous.map(secret),
            ..CookieSecrets::default()
        }
    }

    fn cookie(client: &str, server: Option<&str>) -> Cookie {
        Cookie {
            client: bytes(client),
            server: server.map_or(Server::Missing, |hex| Server::Made(bytes(hex))),
        }
    }

    /// DNS-11: the examples of RFC 9018, appendix A: what one server made, another of the same secret takes.
    #[test]
    fn dns_11_the_examples_of_rfc_9018() {
        let first = secrets("e5e973e5a6b2a43f48e7dc849e37bfcf", None);
        let address: IpAddr = "198.51.100.100".parse().unwrap();
        let learnt = cookie("2464c4abcf10c957", None).for_next_time(&first, address, 1_559_731_985).unwrap();
        assert_eq!(learnt[8..], bytes::<16>("010000005cf79f111f8130c3eee29480"));
        let asked = cookie("2464c4abcf10c957", Some("010000005cf79f111f8130c3eee29480"));
        assert!(asked.is_ours(&first, address, 1_559_734_385));
        let renewed = asked.for_next_time(&first, address, 1_559_734_385).unwrap();
        assert_eq!(renewed[8..], bytes::<16>("010000005cf7a871d4a564a1442aca77"));

        // Another server's, with its reserved bytes in use.
        let asked = cookie("fc93fc62807ddb86", Some("01abcdef5cf78f71a314227b6679ebf5"));
        let address = "203.0.113.203".parse().unwrap();
        assert!(asked.is_ours(&first, address, 1_559_727_985));
        let renewed = asked.for_next_time(&first, address, 1_559_734_700).unwrap();
        assert_eq!(renewed[8..], bytes::<16>("010000005cf7a9acf73a7810aca2381e"));

        // Over IPv6, across a change of the secret.
        let both = secrets("445536bcd2513298075a5d379663c962", Some("dd3bdf9344b678b185a6f5cb60fca715"));
        let asked = cookie("22681ab97d52c298", Some("010000005cf7c57926556bd0934c72f8"));
        let address = "2001:db8:220:1:59de:d0f4:8769:82b8".parse().unwrap();
        assert!(asked.is_ours(&both, address, 0x5cf7_c609));
        let renewed = asked.for_next_time(&both, address, 0x5cf7_c609).unwrap();
        assert_eq!(renewed[8..], bytes::<16>("010000005cf7c609a6bb79d16625507a"));
    }

    #[test]
    fn dns_11_a_cookie_is_good_for_its_client_and_its_hour() {
        let secrets = secrets("e5e973e5a6b2a43f48e7dc849e37bfcf", None);
        let here: IpAddr = "192.0.2.1".parse().unwrap();
        let mapped = "::ffff:192.0.2.1".parse().unwrap();
        let elsewhere = "192.0.2.2".parse().unwrap();
        // Around the moment at which the seconds wrap.
        for made_s in [1_000_000_u32, u32::MAX - 100] {
            let fresh = cookie("0102030405060708", None).for_next_time(&secrets, here, made_s).unwrap();
            let asked = Cookie::read(&fresh).unwrap();
            for (source, age_s, is_ours) in [
                (here, 0, true),
                (mapped, 0, true),
                (elsewhere, 0, false),
                (here, 3_600, true),
                (here, 3_601, false),
                (here, -300, true),
                (here, -301, false),
            ] {
                let now_s = made_s.wrapping_add_signed(age_s);
                assert_eq!(asked.is_ours(&secrets, source, now_s), is_ours, "{source} {age_s} {made_s}");
            }
            let kept = asked.for_next_time(&secrets, here, made_s.wrapping_add(1_800)).unwrap();
            let renewed = asked.for_next_time(&secrets, here, made_s.wrapping_add(1_801)).unwrap();
            assert!(kept == fresh && renewed != fresh);
            for bit in 64..192 {
                let mut forged = fresh;
                forged[bit / 8] ^= 1 << (bit % 8);
                assert!(!Cookie::read(&forged).unwrap().is_ours(&secrets, here, made_s), "bit {bit}");
            }
        }
    }

    #[test]
    fn dns_11_the_lengths_that_can_be() {
        for length in 0..=48 {
            let read = Cookie::read(&vec![1; length]);
            assert_eq!(read.is_some(), length == 8 || (16..=40).contains(&length), "{length}");
            if let Some(cookie) = read {
                assert_eq!(cookie.has_server_part(), length > 8);
            }
        }
        assert_eq!(
            cookie("0102030405060708", None).for_next_time(&CookieSecrets::default(), [0; 4].into(), 9),
            None
        );
    }
}
