//! What an answer looks like on the wire (DNS-3, DNS-4, DNS-7, DNS-8, DNS-9).

use std::net::Ipv6Addr;

use hickory_server::proto::op::Message;
use waymark_core::answer::{Answer, Rcode, Record, RecordData};
use waymark_core::state::View;

use super::packets::*;
use crate::config::AnswerSettings;
use crate::dns::respond::{Transport, Verdict, respond};

const MIXED: &str = "aPp.eXaMpLe.CoM";

fn udp(packet: &[u8], answer: Answer) -> Seen {
    ask_for(packet, Transport::Udp, answer).expect("a reply")
}

#[test]
fn dns_3_the_question_comes_back_byte_for_byte_and_owners_point_to_it() {
    let packet = query(MIXED);
    for transport in [Transport::Udp, Transport::Tcp] {
        let seen = ask_for(&packet, transport, positive("app.example.com", 2)).expect("a reply");
        let question_end = packet.len();
        assert_eq!(seen.bytes[12..question_end], packet[12..]);
        let first = b"\xc0\x0c\0\x01\0\x01\0\0\0\x1e\0\x04\xc0\0\x02\x01";
        let second = b"\xc0\x0c\0\x01\0\x01\0\0\0\x1e\0\x04\xc0\0\x02\x02";
        assert_eq!(seen.bytes[question_end..], [first.as_slice(), second].concat());
    }
}

/// F-DNS-24.
#[test]
fn dns_3_flags_are_ours_but_for_rd_and_cd() {
    let kinds = [positive("app.example.com", 1), empty(Rcode::NoError), empty(Rcode::NxDomain)];
    for (answer, code) in kinds.into_iter().zip([NO_ERROR, NO_ERROR, NX_DOMAIN]) {
        for (asked, told) in [
            (0, 0),
            (RD, RD),
            (CD, CD),
            (AD | RA | Z | AA | TC, 0),
            (RD | CD | AD | RA | Z | AA | TC, RD | CD),
        ] {
            let packet = [header(asked, [1, 0, 0, 0]), question("app.example.com", A, IN)].concat();
            let seen = udp(&packet, answer.clone());
            assert_eq!((seen.flags, seen.rcode), (QR | AA | told, code), "asked with {asked:#06x}");
        }
    }
}

#[test]
fn dns_4_a_name_that_is_not_ours_is_refused_without_aa_or_records() {
    let view = View::default();
    for name in [".", "com", "other.test", MIXED] {
        for kind in [A, 2, 6, 255] {
            let packet = [header(RD, [1, 0, 0, 1]), question(name, kind, IN), opt(1232)].concat();
            let mut out = Vec::new();
            let verdict =
                respond(&view, &AnswerSettings::default(), &arrival(&packet, Transport::Udp), &mut out);
            assert_eq!(verdict, Verdict::Reply { code: REFUSED, is_proven: false, fresh_s: None }, "{name}");
            let seen = Seen::of(&out);
            assert_eq!((seen.flags, seen.counts), (QR | RD, [1, 0, 0, 1]), "{name}");
            assert_eq!(seen.bytes[12..packet.len() - 11], packet[12..packet.len() - 11]);
        }
    }
}

#[test]
fn dns_5_the_soa_of_a_negative_answer_points_into_the_question_whatever_its_case() {
    let mut answer = empty(Rcode::NxDomain);
    answer.authority.push(start_of_authority("example.com"));
    let packet = query("nOpe.eXample.cOM");
    let seen = udp(&packet, answer);
    // The zone's name begins behind the label `nOpe`.
    assert_eq!(seen.bytes[packet.len()..packet.len() + 4], [0xc0, 12 + 5, 0, 6]);
    let read = Message::from_vec(&seen.bytes).expect("hickory reads it");
    assert_eq!(read.authorities[0].name.to_string(), "eXample.cOM.", "the asker's letters, by the pointer");
    let soa = read.authorities[0].data.to_string();
    assert_eq!(soa, "ns1.eXample.cOM. hostmaster.eXample.cOM. 7 3600 600 2147483647 30");
}

#[test]
fn dns_6_every_kind_of_record_is_written_whole() {
    let record = |owner, data| Record { name: name(owner), ttl: 60, data };
    let answer = Answer {
        answers: vec![
            record("app.example.com", RecordData::Cname(name("only6.example.com"))),
            record("only6.example.com", RecordData::Aaaa(Ipv6Addr::LOCALHOST)),
        ],
        authority: vec![record("example.com", RecordData::Ns(name("ns1.example.com")))],
        additional: positive("ns1.example.com", 1).answers,
        ..empty(Rcode::NoError)
    };
    let seen = udp(&query_with("app.example.com", &opt(1232)), answer);
    assert_eq!(seen.counts, [1, 2, 1, 2]);
    let read = Message::from_vec(&seen.bytes).expect("hickory reads it");
    let lines: Vec<String> = read.all_sections().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "app.example.com. 60 IN CNAME only6.example.com.",
            "only6.example.com. 60 IN AAAA ::1",
            "example.com. 60 IN NS ns1.example.com.",
            "ns1.example.com. 30 IN A 192.0.2.1",
        ]
    );
}

/// F-DNS-11, F-DNS-12.
#[test]
fn dns_8_a_reply_over_udp_has_the_size_that_the_asker_takes() {
    let name = "app.example.com";
    // Header 12, question 21, OPT 11, each address 16.
    let fitting = |size: usize| ((size - 12 - 21 - 11) / 16) as u8;
    for (payload, size_max) in [(0, 512), (100, 512), (512, 512), (700, 700), (1232, 1232), (65_535, 1232)] {
        let packet = query_with(name, &opt(payload));
        let fits = udp(&packet, positive(name, fitting(size_max)));
        assert_eq!((fits.flags & TC, fits.counts[1]), (0, fitting(size_max).into()), "{payload}");
        assert!(fits.bytes.len() <= size_max && fits.bytes.len() > size_max - 16);
        let cut = udp(&packet, positive(name, fitting(size_max) + 1));
        assert_eq!((cut.flags, cut.counts, cut.rcode), (QR | AA | TC, [1, 0, 0, 1], NO_ERROR), "{payload}");
        assert_eq!((cut.opt, &cut.bytes[12..33]), (Some((1232, 0, 0)), &packet[12..33]), "{payload}");
    }
}

/// F-DNS-11.
#[test]
fn dns_8_without_edns_512_bytes_are_the_most() {
    let name = "app.example.com";
    let fits = udp(&query(name), positive(name, 29));
    assert_eq!((fits.flags & TC, fits.counts[1], fits.bytes.len()), (0, 29, 12 + 21 + 29 * 16));
    let cut = udp(&query(name), positive(name, 30));
    assert_eq!((cut.flags & TC, cut.counts, cut.bytes.len()), (TC, [1, 0, 0, 0], 12 + 21));
}

/// F-DNS-12.
#[test]
fn dns_8_what_does_not_fit_leaves_no_part_of_any_section() {
    let mut answer = positive("app.example.com", 10);
    answer.additional = positive("a-name-server-with-a-long-name.example.net", 30).answers;
    answer.authority.push(start_of_authority("example.com"));
    let cut = udp(&query("app.example.com"), answer);
    assert_eq!((cut.flags & TC, cut.counts), (TC, [1, 0, 0, 0]));
}

#[test]
fn dns_8_over_tcp_an_answer_is_complete() {
    let name = "app.example.com";
    for packet in [query(name), query_with(name, &opt(512))] {
        let seen = ask_for(&packet, Transport::Tcp, positive(name, 250)).expect("a reply");
        assert_eq!((seen.flags & TC, seen.counts[1]), (0, 250));
    }
}

/// F-DNS-13.
#[test]
fn dns_8_25_addresses_of_a_long_name_fit_512_bytes() {
    let long = "a-rather-long-name-of-40-bytes.example.com";
    let seen = udp(&query(long), positive(long, 25));
    assert_eq!((seen.flags & TC, seen.counts[1]), (0, 25));
}

#[test]
fn dns_9_do_is_copied_and_unknown_flags_are_not() {
    for (asked, told) in [(0, 0), (0x8000, 0x8000), (0x7fff, 0), (0xffff, 0x8000)] {
        let packet = query_with("app.example.com", &opt_at(&[0], 4096, 0, asked, &[]));
        let seen = udp(&packet, positive("app.example.com", 1));
        assert_eq!(seen.opt, Some((1232, 0, told)));
    }
}

#[test]
fn dns_7_an_answer_to_any_is_bounded_like_others() {
    let packet = [header(0, [1, 0, 0, 0]), question("app.example.com", 255, IN)].concat();
    let any = udp(&packet, positive("app.example.com", 1));
    assert_eq!(any.bytes.len(), udp(&query("app.example.com"), positive("app.example.com", 1)).bytes.len());
}
