//! Whatever comes, a reply is a reply: 200,000 packets that were right before some of their bits fell over (DNS-13).

use std::collections::BTreeSet;

use waymark_core::answer::Rcode;
use waymark_core::state::{CookieSecrets, View};

use super::packets::*;
use crate::config::AnswerSettings;
use crate::dns::draws::Draws;
use crate::dns::respond::{Transport, Verdict, respond, respond_with};
use waymark_process::chance;

const MUTATIONS: usize = 200_000;

fn originals() -> Vec<Vec<u8>> {
    let record = b"\xc0\x0c\0\x01\0\x01\0\0\0\0\0\x04\x01\x02\x03\x04".to_vec();
    let soa = b"\xc0\x0c\0\x06\0\x01\0\0\0\0\0\x18\xc0\x0c\xc0\x0c\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01";
    let options = b"\0\x08\0\x07\0\x01\x18\0\xc0\0\x02\0\x0a\0\x08abcdefgh\0\x0b\0\0";
    let full = opt_at(&[0], 4096, 0, 0x8000, options);
    let asked = |name: &str, kind| question(name, kind, IN);
    let long = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(61)].join(".");
    vec![
        query("app.example.com"),
        query(&long),
        query_with("aPp.ExAmPlE.cOm", &opt(1232)),
        query_with("app.example.com", &full),
        [header(RD, [1, 1, 1, 1]), asked("a.b.c.d.example.com", 251), record.clone(), soa.to_vec(), full]
            .concat(),
        [header(0x2800, [1, 0, 1, 0]), asked("example.com", 6), record].concat(),
    ]
}

/// A right packet with up to eight things wrong: bytes turned, cut, doubled or added.
fn mutate(packet: &mut Vec<u8>, draws: &mut Draws) {
    for _ in 0..=draws.next() % 8 {
        let at = draws.next() as usize % packet.len().max(1);
        match draws.next() % 8 {
            0..=2 if !packet.is_empty() => packet[at] ^= 1 << (draws.next() % 8),
            3 | 4 if !packet.is_empty() => packet[at] = draws.next() as u8,
            5 => packet.truncate(at),
            6 => packet.extend(draws.next().to_be_bytes().into_iter().take(at % 8)),
            _ => packet.extend_from_within(at..),
        }
        packet.truncate(4096);
    }
}

/// One packet, by every rule that holds for all of them. Returns the code it was told.
fn check(packet: &[u8], transport: Transport, addresses: u8) -> Option<u16> {
    let mut out = Vec::new();
    let (settings, secrets) = (AnswerSettings::default(), CookieSecrets::default());
    let verdict = respond_with(&settings, &secrets, &arrival(packet, transport), &mut out, |_, _| {
        let mut answer = positive("app.example.com", addresses);
        answer.authority.push(start_of_authority("example.com"));
        answer.rcode = if addresses == 0 { Rcode::NxDomain } else { Rcode::NoError };
        answer
    });
    let must_be_silent = packet.len() < 12 || packet[2] & 0x80 != 0;
    let Verdict::Reply { code, .. } = verdict else {
        assert!(must_be_silent, "silence");
        return None;
    };
    assert!(!must_be_silent, "a reply to what must not have one");
    let seen = Seen::of(&out);
    assert_eq!(out[..2], packet[..2], "the id");
    assert_eq!(seen.flags & (QR | RA | Z | AD), QR);
    assert_eq!(seen.opcode(), u16::from(packet[2] >> 3 & 0xf));
    assert_eq!(seen.rcode, code);
    assert!(transport == Transport::Tcp || out.len() <= 1232, "{} bytes", out.len());
    assert!(seen.opt.is_some() || transport == Transport::Tcp || out.len() <= 512, "{} bytes", out.len());
    if seen.counts[0] == 1 {
        let name = out[12..].iter().position(|&byte| byte == 0).map_or(0, |_| name_length(&out[12..]));
        assert_eq!(out[12..12 + name + 4], packet[12..12 + name + 4], "the question");
    }
    let read = hickory_server::proto::op::Message::from_vec(&out).expect("a reply can be read");
    let records = [read.answers.len(), read.authorities.len()];
    if seen.flags & TC != 0 || (code != NO_ERROR && code != NX_DOMAIN) {
        assert_eq!(records, [0, 0]);
    } else {
        assert_eq!(records, [usize::from(addresses), 1]);
    }
    Some(code)
}

/// The same packet, decided on for real: only what was decidable may be told something else.
fn check_decided(view: &View, packet: &[u8], transport: Transport, code: Option<u16>) {
    let mut out = Vec::new();
    let decided = match respond(view, &AnswerSettings::default(), &arrival(packet, transport), &mut out) {
        Verdict::Reply { code, .. } => Some(code),
        Verdict::Drop => None,
    };
    let was_decided = matches!(code, Some(NO_ERROR | NX_DOMAIN));
    assert!(decided == code || was_decided, "{decided:?} instead of {code:?}");
}

fn name_length(wire: &[u8]) -> usize {
    let mut at = 0;
    while wire[at] != 0 {
        at += 1 + usize::from(wire[at]);
    }
    at + 1
}

#[test]
fn dns_13_no_packet_breaks_a_reply() {
    let seed =
        std::env::var("WAYMARK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(chance::draw);
    let mut draws = Draws::from_seed(seed);
    let (originals, view) = (originals(), super::zone::view());
    let mut codes = BTreeSet::new();
    for nth in 0..MUTATIONS {
        let mut packet = originals[nth % originals.len()].clone();
        mutate(&mut packet, &mut draws);
        let transport = if draws.next().is_multiple_of(2) { Transport::Udp } else { Transport::Tcp };
        let addresses = (draws.next() % 100) as u8;
        let outcome = std::panic::catch_unwind(|| {
            let code = check(&packet, transport, addresses);
            check_decided(&view, &packet, transport, code);
            code
        });
        let Ok(code) = outcome else {
            panic!(
                "WAYMARK_SEED={seed}: packet {nth} over {transport:?}, {addresses} addresses: {packet:02x?}"
            )
        };
        codes.insert(code);
    }
    // A fuzzer that reaches only one branch proves nothing.
    let expected = [NO_ERROR, FORMAT_ERROR, NX_DOMAIN, NOT_IMPLEMENTED, REFUSED, BAD_VERSION].map(Some);
    assert!(codes.contains(&None) && expected.iter().all(|code| codes.contains(code)), "{codes:?}");
}
