//! DNS-17 on the wire: static records of any type go out byte by byte as they were set.

use std::sync::Arc;

use hickory_server::proto::op::Message;
use waymark_core::model::{Edit, LogIndex, RecordType, Timestamp, ZonePatch};
use waymark_core::state::{Action, Command, Context, State, View, apply};

use super::packets::*;
use crate::config::AnswerSettings;
use crate::dns::respond::{Transport, respond};
use crate::record_text;

const CLASS_AND_TTL: [u8; 6] = [0, 1, 0, 0, 0, 60];

fn carry_out(state: State, action: Action) -> State {
    let context = Context { index: LogIndex(1), at: Timestamp(0) };
    let applied =
        apply(&state, context, &Command { id: None, author: "operator".to_owned(), note: None, action });
    applied.reply.expect("a good command");
    applied.state
}

/// A zone with records of these types, all at one name.
fn view(sets: &[(&str, &[&str])]) -> View {
    let servers = vec![("ns.example.net".to_owned(), Vec::new())];
    let fields = ZonePatch { name_servers: Edit::Set(servers), ..ZonePatch::default() };
    let mut state =
        carry_out(State::default(), Action::CreateZone { name: "example.com".to_owned(), fields });
    for (kind, texts) in sets {
        let record_type: RecordType = kind.parse().expect(kind);
        let read = |text: &&str| -> Arc<[u8]> { record_text::read(record_type, text).expect(text).into() };
        let data = texts.iter().map(read).collect();
        let (zone, relative_name) = ("example.com".to_owned(), "static".to_owned());
        state = carry_out(
            state,
            Action::SetRecords { zone, relative_name, record_type, ttl: 60, data, if_revision: None },
        );
    }
    View::of(state, LogIndex(9))
}

fn ask(view: &View, kind: u16, transport: Transport) -> Vec<u8> {
    let packet = [header(RD, [1, 0, 0, 0]), question("Static.example.com", kind, IN)].concat();
    let mut out = Vec::new();
    respond(view, &AnswerSettings::default(), &arrival(&packet, transport), &mut out);
    assert_eq!(out[12..packet.len()], packet[12..], "the question, in its letters");
    out
}

/// What stands behind the question: each record's owner points at the asked name.
fn expected(kind: u16, data: &[&[u8]]) -> Vec<u8> {
    let record = |data: &&[u8]| {
        let length = u16::try_from(data.len()).expect("short data").to_be_bytes();
        [&[0xc0, 12][..], &kind.to_be_bytes(), &CLASS_AND_TTL, &length, data].concat()
    };
    data.iter().flat_map(record).collect()
}

#[test]
fn dns_17_data_goes_out_as_it_was_set_and_uncompressed() {
    let mail: &[&[u8]] = &[b"\0\x0a\x04mail\x07example\x03com\0", b"\0\x14\0"];
    let view = view(&[
        ("MX", &["10 mail.example.com", "20 ."]),
        ("TXT", &["\"say \\\"hi\\\"\" \"\\255\""]),
        ("A", &["192.0.2.1"]),
        ("CAA", &["0 issue \"ca.example\""]),
        ("HTTPS", &["1 . port=443 alpn=h2"]),
        ("TYPE65280", &["\\# 3 0a0b0c"]),
        ("TYPE65281", &["\\# 0"]),
    ]);
    for (kind, data) in [
        (15, mail),
        (16, &[b"\x08say \"hi\"\x01\xff"]),
        (1, &[&[192, 0, 2, 1]]),
        (257, &[b"\0\x05issueca.example"]),
        (65, &[b"\0\x01\0\0\x01\0\x03\x02h2\0\x03\0\x02\x01\xbb"]),
        (65_280, &[&[10, 11, 12]]),
        (65_281, &[&[]]),
    ] {
        let reply = ask(&view, kind, Transport::Udp);
        let seen = Seen::of(&reply);
        assert_eq!((seen.rcode, seen.flags), (NO_ERROR, QR | AA | RD), "type {kind}");
        let question = 12 + wire("static.example.com").len() + 4;
        assert_eq!(reply[question..], expected(kind, data), "type {kind}");
        // hickory reads no record without data, which RFC 3597 allows.
        assert!(kind == 65_281 || Message::from_vec(&reply).is_ok(), "type {kind}: a resolver can read it");
    }
}

/// DNS-8: a set that does not fit is cut over UDP and whole over TCP.
#[test]
fn dns_8_a_long_set_is_cut_over_udp_and_whole_over_tcp() {
    let texts: Vec<String> = (0..60).map(|number| format!("\"{number:>200}\"")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let view = view(&[("TXT", &texts)]);
    let cut = ask(&view, 16, Transport::Udp);
    assert!(cut.len() <= 512 && Seen::of(&cut).flags & TC != 0);
    let whole = Message::from_vec(&ask(&view, 16, Transport::Tcp)).expect("a reply can be read");
    assert_eq!(whole.answers.len(), 60);
}
