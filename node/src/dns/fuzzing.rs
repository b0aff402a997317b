//! What fuzzers feed: plain functions of bytes that panic when a promise is broken. In no build but those for tests and for
//! `make fuzz`, whose targets in `tests/fuzz` call one function each.

pub(super) mod zones;

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use hickory_server::proto::op::Message;
use hickory_server::proto::serialize::binary::DecodeError;
use waymark_core::state::{CookieSecret, CookieSecrets, View};

use super::ahead::Alone;
use super::client_subnet::ClientSubnet;
use super::cookie::Cookie;
use super::prepared::Replies;
use super::read::{HEADER_LEN, read};
use super::respond::{Arrival, Condition, PLAIN_UDP_MAX, Transport, Verdict, cut, respond};
use super::write::PAYLOAD_MAX;
use crate::config::AnswerSettings;

const QR: u8 = 0x80;
const TC: u8 = 0x02;
const RD: u8 = 0x01;
/// RA, Z and AD, which no reply of ours has set.
const NEVER_TOLD: u8 = 0xe0;
const TRANSPORTS: [Transport; 5] =
    [Transport::Udp, Transport::Tcp, Transport::Tls, Transport::Https, Transport::Quic];

/// In the byte that says how a packet came.
const STALE: u8 = 0x40;
const CROWDED: u8 = 0x80;

/// A moment at which cookies of the corpus are good.
const NOW_S: u32 = 1_700_000_000;

static VIEW: LazyLock<View> = LazyLock::new(|| zones::view().0);

thread_local! {
    /// The fast way, deciding on each query and out of prepared replies.
    static FAST: RefCell<[Alone; 2]> = RefCell::new([Replies::none(), Replies::of_one_among(1)].map(Alone::new));
}

/// The parser: reads `data` as a packet (DNS-13).
///
/// # Panics
/// When a promise is broken.
pub fn packet(data: &[u8]) {
    let must_be_silent = data.len() < HEADER_LEN || data[2] & QR != 0;
    let Some(received) = read(data) else {
        assert!(must_be_silent, "nothing was read");
        return;
    };
    assert!(!must_be_silent, "what must not be answered was read");
    if let Some(question) = &received.question {
        assert!(data[HEADER_LEN..].starts_with(question.name), "the question's name is where it stands");
        assert_eq!(question.name.last(), Some(&0), "a name ends with the root");
    }
    if !received.is_sound {
        return;
    }
    assert!(received.question.is_some() || received.asks_nothing);
    let is_sound = |packet: &[u8]| read(packet).is_some_and(|received| received.is_sound);
    assert!(
        !is_sound(&data[..data.len() - 1]) || data.len() == HEADER_LEN,
        "it is whole without its last byte"
    );
    assert!(!is_sound(&[data, &[0]].concat()), "it is whole with a byte more");
}

/// The whole way from a packet to its reply, and the fast way beside it: four bytes say how it came, the rest is the packet
/// (DNS-3, DNS-8, DNS-9, DNS-13, DNS-19).
///
/// # Panics
/// When a promise is broken.
pub fn answer(data: &[u8]) {
    let Some((&[how, draw, made, host], packet)) = data.split_first_chunk() else { return };
    let arrival = Arrival {
        packet,
        transport: TRANSPORTS[usize::from(how) % TRANSPORTS.len()],
        source: source(how >> 4, host),
        draw: u64::from(draw).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        now_s: NOW_S + u32::from(made) * 32,
        condition: Condition { is_stale: how & STALE != 0, is_crowded: how & CROWDED != 0 },
    };
    let (view, settings, mut out) = (&*VIEW, AnswerSettings::default(), b"what was there before".to_vec());
    let verdict = respond(view, &settings, &arrival, &mut out);
    let must_be_silent = packet.len() < HEADER_LEN || packet[2] & QR != 0;
    let Verdict::Reply { code, is_proven, .. } = verdict else {
        assert!(must_be_silent, "silence");
        return;
    };
    assert!(!must_be_silent, "a reply to what must not have one");
    check_reply(&arrival, &out, code);
    if arrival.transport != Transport::Udp || arrival.condition.is_stale {
        return;
    }
    let mut quick = [0xee; PAYLOAD_MAX as usize];
    FAST.with_borrow_mut(|fast| {
        for fast in fast {
            if let Some(written) = fast.respond(view, &arrival, &mut quick) {
                assert_eq!((written.is_proven, 0), (is_proven, code), "both ways");
                assert_eq!(quick[..written.length], out[..], "both ways answer the same");
            }
        }
    });
    let verdict = cut(&settings, &view.state.cookies, &arrival, &mut out);
    let Verdict::Reply { code, .. } = verdict else { panic!("silence instead of a cut reply") };
    check_reply(&arrival, &out, code);
    assert!(out.len() <= packet.len(), "{} bytes for {}, over the limit", out.len(), packet.len());
}

/// Whoever asks: a few networks of both families.
fn source(network: u8, host: u8) -> IpAddr {
    match network % 4 {
        0 => Ipv4Addr::new(192, 0, 2, host).into(),
        1 => Ipv4Addr::new(10, host, 2, 3).into(),
        2 => Ipv6Addr::new(0x2001, 0xdb8, host.into(), 0, 0, 0, 0, 9).into(),
        _ => Ipv4Addr::new(192, 0, 2, host).to_ipv6_mapped().into(),
    }
}

/// What holds for each reply.
fn check_reply(arrival: &Arrival<'_>, out: &[u8], code: u16) {
    let packet = arrival.packet;
    assert_eq!(out[..2], packet[..2], "the id");
    assert_eq!(out[2] & (QR | 0x78), QR | packet[2] & 0x78, "QR and the opcode");
    assert_eq!(out[3] & NEVER_TOLD, 0, "RA, Z or AD");
    assert!(out[2] & RD == 0 || packet[2] & RD != 0, "RD was not asked with");
    let message = match Message::from_vec(out) {
        Ok(message) => message,
        // hickory does not know that a client subnet may be of no family (RFC 7871 §7.1.2).
        Err(DecodeError::UnknownAddressFamily(0)) => return,
        Err(error) => panic!("a reply cannot be read: {error}"),
    };
    assert_eq!(u16::from(message.metadata.response_code), code);
    if arrival.transport == Transport::Udp {
        let size_max = if message.edns.is_some() { PAYLOAD_MAX } else { PLAIN_UDP_MAX };
        assert!(out.len() <= size_max.into(), "{} bytes over UDP", out.len());
    } else {
        assert_eq!(out[2] & TC, 0, "cut where nothing must be");
    }
    if let Some(query) = message.queries.first() {
        let length = query.name().iter().map(|label| 1 + label.len()).sum::<usize>() + 5;
        assert_eq!(out[HEADER_LEN..HEADER_LEN + length], packet[HEADER_LEN..HEADER_LEN + length]);
    }
    if out[2] & TC != 0 || !matches!(code, 0 | 3) {
        assert_eq!(message.all_sections().count(), 0, "records in a reply that says nothing");
    }
}

/// A client subnet: `data` as the option's (DNS-10).
///
/// # Panics
/// When a promise is broken.
pub fn subnet(data: &[u8]) {
    let Some(read) = ClientSubnet::read(data) else { return };
    assert_eq!(ClientSubnet::read(data), Some(read), "read twice");
    let longest = if read.network.address().is_ipv4() { 32 } else { 128 };
    assert!(read.network.prefix() <= longest);
    for scope in 0..=longest {
        let (echo, length) = read.scoped(scope);
        let echo = &echo[..length];
        assert_eq!((&echo[..3], &echo[4..]), (&data[..3], &data[4..]), "the echo");
        assert!(echo[3] >= scope && echo[3] <= 128, "the scope");
    }
    assert_eq!(read.scoped(0).0[3], 0, "for everybody");
}

/// A cookie: two bytes say who asks and when, the rest is the option's data (DNS-11).
///
/// # Panics
/// When a promise is broken.
pub fn cookie(data: &[u8]) {
    let Some((&[host, later], data)) = data.split_first_chunk() else { return };
    let is_possible = matches!(data.len(), 8 | 16..=40);
    let Some(read) = Cookie::read(data) else {
        assert!(!is_possible, "a cookie of {} bytes was not read", data.len());
        return;
    };
    assert!(is_possible, "a cookie of {} bytes was read", data.len());
    let secrets = CookieSecrets { current: Some(zones::SECRET), ..CookieSecrets::default() };
    let (source, now_s) = (source(host >> 4, host), NOW_S + u32::from(later) * 32);
    let made = read.for_next_time(&secrets, source, now_s).expect("there is a secret");
    assert_eq!(made[..8], data[..8], "the client's part");
    let next = Cookie::read(&made).expect("a cookie of ours is one");
    let others = CookieSecrets { current: Some(CookieSecret([4; 16])), ..CookieSecrets::default() };
    let elsewhere = Ipv4Addr::new(203, 0, 113, 1).into();
    assert!(next.is_ours(&secrets, source, now_s), "a cookie of ours is known");
    assert!(!next.is_ours(&secrets, elsewhere, now_s), "and not elsewhere");
    assert!(!next.is_ours(&others, source, now_s), "nor by others");
    // An hour, and five minutes that the clock of whoever made it may have been ahead.
    assert!(!next.is_ours(&secrets, source, now_s + 3_901), "nor for ever");
    assert_eq!(next.for_next_time(&secrets, source, now_s), Some(made), "and stays while it is fresh");
}
