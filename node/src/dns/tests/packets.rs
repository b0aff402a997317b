//! Packets made by hand, and replies read by hand: the tests do not trust the codec that they test.

use std::net::{IpAddr, Ipv4Addr};

use waymark_core::answer::{Answer, Rcode, Record, RecordData, Soa};
use waymark_core::model::Name;
use waymark_core::state::CookieSecrets;

use crate::config::AnswerSettings;
use crate::dns::respond::{Arrival, Condition, Transport, Verdict, respond_with};

pub(super) const ID: u16 = 0x1234;
pub(super) const QR: u16 = 0x8000;
pub(super) const AA: u16 = 0x0400;
pub(super) const TC: u16 = 0x0200;
pub(super) const RD: u16 = 0x0100;
pub(super) const RA: u16 = 0x0080;
pub(super) const Z: u16 = 0x0040;
pub(super) const AD: u16 = 0x0020;
pub(super) const CD: u16 = 0x0010;

pub(super) const A: u16 = 1;
pub(super) const IN: u16 = 1;

pub(super) const NO_ERROR: u16 = 0;
pub(super) const FORMAT_ERROR: u16 = 1;
pub(super) const SERVER_FAILURE: u16 = 2;
pub(super) const NX_DOMAIN: u16 = 3;
pub(super) const NOT_IMPLEMENTED: u16 = 4;
pub(super) const REFUSED: u16 = 5;
pub(super) const BAD_VERSION: u16 = 16;

/// A name's wire form, letters kept.
pub(super) fn wire(name: &str) -> Vec<u8> {
    let mut wire = Vec::new();
    for label in name.split('.').filter(|label| !label.is_empty()) {
        wire.push(label.len() as u8);
        wire.extend(label.bytes());
    }
    wire.push(0);
    wire
}

pub(super) fn header(flags: u16, counts: [u16; 4]) -> Vec<u8> {
    let words = [[ID, flags].as_slice(), &counts].concat();
    words.into_iter().flat_map(u16::to_be_bytes).collect()
}

pub(super) fn question(name: &str, kind: u16, class: u16) -> Vec<u8> {
    [wire(name), kind.to_be_bytes().to_vec(), class.to_be_bytes().to_vec()].concat()
}

/// An OPT record: owner, payload size, version, flags, options.
pub(super) fn opt_at(owner: &[u8], payload: u16, version: u8, flags: u16, options: &[u8]) -> Vec<u8> {
    let mut record = owner.to_vec();
    record.extend(41_u16.to_be_bytes());
    record.extend(payload.to_be_bytes());
    record.extend([0, version]);
    record.extend(flags.to_be_bytes());
    record.extend((options.len() as u16).to_be_bytes());
    record.extend(options);
    record
}

pub(super) fn opt(payload: u16) -> Vec<u8> {
    opt_at(&[0], payload, 0, 0, &[])
}

/// A plain query for the name's A record.
pub(super) fn query(name: &str) -> Vec<u8> {
    [header(0, [1, 0, 0, 0]), question(name, A, IN)].concat()
}

/// The same with an OPT.
pub(super) fn query_with(name: &str, opt: &[u8]) -> Vec<u8> {
    [header(0, [1, 0, 0, 1]), question(name, A, IN), opt.to_vec()].concat()
}

/// A reply, taken apart as far as the tests look.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) bytes: Vec<u8>,
    pub(super) id: u16,
    pub(super) flags: u16,
    pub(super) counts: [u16; 4],
    /// The response code, with OPT's part of it.
    pub(super) rcode: u16,
    /// OPT's payload size, version, flags and options, if there is one at the end.
    pub(super) opt: Option<(u16, u8, u16)>,
}

impl Seen {
    /// An OPT is looked for at the end, where ours stands: one whose options end where the reply does.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let is_opt = |at: &usize| {
            let at = *at;
            bytes[at..at + 3] == [0, 0, 41] && at + 11 + usize::from(word(at + 9)) == bytes.len()
        };
        let last = bytes.len().saturating_sub(11);
        let tail = (12..=last).rev().find(is_opt).filter(|_| word(10) > 0);
        let opt = tail.map(|tail| (word(tail + 3), bytes[tail + 6], word(tail + 7)));
        let rcode_high = tail.map_or(0, |tail| u16::from(bytes[tail + 5]));
        Self {
            bytes: bytes.to_vec(),
            id: word(0),
            flags: word(2) & !0x000f,
            counts: [word(4), word(6), word(8), word(10)],
            rcode: rcode_high << 4 | word(2) & 0xf,
            opt,
        }
    }

    pub(super) fn opcode(&self) -> u16 {
        self.flags >> 11 & 0xf
    }
}

/// `packet` as it comes from 192.0.2.9, at a moment that does not matter.
pub(super) fn arrival(packet: &[u8], transport: Transport) -> Arrival<'_> {
    Arrival {
        packet,
        transport,
        source: address(9),
        draw: 7,
        now_s: 1_700_000_000,
        condition: Condition::default(),
    }
}

/// What `packet` is answered when `answer` is decided.
pub(super) fn ask_for(packet: &[u8], transport: Transport, answer: Answer) -> Option<Seen> {
    let mut out = b"what was there before".to_vec();
    let (settings, secrets) = (AnswerSettings::default(), CookieSecrets::default());
    match respond_with(&settings, &secrets, &arrival(packet, transport), &mut out, |_, _| answer) {
        Verdict::Drop => None,
        Verdict::Reply { code, .. } => {
            let seen = Seen::of(&out);
            assert_eq!(seen.rcode, code);
            Some(seen)
        }
    }
}

/// The same over UDP for an answer of one address.
pub(super) fn ask(packet: &[u8]) -> Option<Seen> {
    ask_for(packet, Transport::Udp, positive("app.example.com", 1))
}

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).expect(text)
}

pub(super) fn address(nth: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, nth).into()
}

/// `count` addresses for `owner`.
pub(super) fn positive(owner: &str, count: u8) -> Answer {
    let record = |nth| {
        let IpAddr::V4(address) = address(nth) else { unreachable!("it is one") };
        Record { name: name(owner), ttl: 30, data: RecordData::A(address) }
    };
    Answer { answers: (1..=count).map(record).collect(), ..empty(Rcode::NoError) }
}

/// Nothing but a code, from our zones.
pub(super) fn empty(rcode: Rcode) -> Answer {
    let (answers, authority, additional) = (Vec::new(), Vec::new(), Vec::new());
    Answer { rcode, authoritative: true, answers, authority, additional, scope: None }
}

/// The start of authority of `zone`.
pub(super) fn start_of_authority(zone: &str) -> Record {
    let soa = Soa {
        primary: name(&format!("ns1.{zone}")),
        mailbox: name(&format!("hostmaster.{zone}")),
        serial: 7,
        refresh: 3_600,
        retry: 600,
        expire: u32::MAX,
        minimum: 30,
    };
    Record { name: name(zone), ttl: 30, data: RecordData::Soa(soa) }
}
