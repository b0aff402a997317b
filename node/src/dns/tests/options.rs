//! Cookies, names of members, keep-alive, padding, and what is told of the member itself (DNS-11, DNS-12, DNS-14, DNS-15).

use hickory_server::proto::op::Message;
use waymark_core::answer::Rcode;
use waymark_core::state::{CookieSecret, CookieSecrets};

use super::packets::*;
use crate::config::AnswerSettings;
use crate::dns::respond::{Arrival, Condition, Transport, Verdict, cut, respond_with};

const NAME: &str = "app.example.com";
const BAD_COOKIE: u16 = 23;
const CH: u16 = 3;
const TXT: u16 = 16;
const CLIENT: &[u8] = b"abcdefgh";

const ENCRYPTED: [Transport; 3] = [Transport::Tls, Transport::Https, Transport::Quic];

fn secrets() -> CookieSecrets {
    CookieSecrets { current: Some(CookieSecret([7; 16])), ..CookieSecrets::default() }
}

fn settings() -> AnswerSettings {
    AnswerSettings {
        member: "m1".into(),
        version_text: Some("Waymark of ours".into()),
        ..AnswerSettings::default()
    }
}

/// The reply and its verdict, decided for one address.
fn told(packet: &[u8], transport: Transport, secrets: &CookieSecrets) -> (Seen, bool) {
    let mut out = Vec::new();
    let arrival = arrival(packet, transport);
    let verdict = respond_with(&settings(), secrets, &arrival, &mut out, |_, _| positive(NAME, 1));
    let Verdict::Reply { code, is_proven, .. } = verdict else { panic!("a reply") };
    Message::from_vec(&out).expect("hickory reads it");
    let seen = Seen::of(&out);
    assert_eq!(seen.rcode, code);
    (seen, is_proven)
}

/// Options behind the only OPT of a reply.
fn options(seen: &Seen) -> &[u8] {
    let at = seen.bytes.windows(3).rposition(|bytes| bytes == [0, 0, 41]).expect("an OPT");
    &seen.bytes[at + 11..]
}

fn option(code: u8, data: &[u8]) -> Vec<u8> {
    [&[0, code, 0, data.len() as u8], data].concat()
}

fn with(options: &[u8]) -> Vec<u8> {
    query_with(NAME, &opt_at(&[0], 1232, 0, 0, options))
}

/// A cookie that a member gave to 192.0.2.9.
fn learnt() -> Vec<u8> {
    let (seen, _) = told(&with(&option(10, CLIENT)), Transport::Udp, &secrets());
    options(&seen)[4..].to_vec()
}

#[test]
fn dns_11_a_client_learns_a_cookie_and_proves_itself_by_it() {
    let learnt = learnt();
    assert_eq!((&learnt[..8], learnt.len(), learnt[8]), (CLIENT, 24, 1));
    for transport in [Transport::Udp, Transport::Tcp, Transport::Quic] {
        let (seen, is_proven) = told(&with(&option(10, &learnt)), transport, &secrets());
        assert_eq!((seen.rcode, is_proven, options(&seen)), (NO_ERROR, true, &option(10, &learnt)[..]));
    }
    for unknown in [&b"abcdefgh12345678"[..], &[&learnt[..23], b"x"].concat(), &[&learnt[..], b"12"].concat()]
    {
        let (seen, is_proven) = told(&with(&option(10, unknown)), Transport::Udp, &secrets());
        assert_eq!((seen.rcode, is_proven), (NO_ERROR, false), "it is answered all the same");
        assert_eq!((&options(&seen)[4..12], options(&seen).len()), (CLIENT, 28), "and told a good one");
    }
    let (seen, _) = told(&with(&option(10, CLIENT)), Transport::Udp, &CookieSecrets::default());
    assert_eq!((seen.rcode, options(&seen).len()), (NO_ERROR, 0), "without a secret there are no cookies");
}

#[test]
fn dns_11_a_malformed_cookie_is_a_format_error() {
    for length in [0, 1, 7, 9, 15, 41, 60] {
        let seen = ask(&with(&option(10, &vec![1; length]))).expect("a reply");
        assert_eq!((seen.rcode, seen.opt), (FORMAT_ERROR, Some((1232, 0, 0))), "{length}");
    }
    let two = [option(10, CLIENT), option(10, b"ABCDEFGH")].concat();
    let (seen, _) = told(&with(&two), Transport::Udp, &secrets());
    assert_eq!((seen.rcode, &options(&seen)[4..12]), (NO_ERROR, CLIENT), "the first of two counts");
}

/// DNS-13, RFC 7873 §5.4: nothing asked, but for a cookie.
#[test]
fn dns_13_no_question_is_answered_if_it_has_a_cookie() {
    let learnt = learnt();
    for (cookie, code) in [(CLIENT, NO_ERROR), (&learnt[..], NO_ERROR), (b"abcdefgh12345678", BAD_COOKIE)] {
        let packet = [header(0, [0, 0, 0, 1]), opt_at(&[0], 1232, 0, 0, &option(10, cookie))].concat();
        let (seen, _) = told(&packet, Transport::Udp, &secrets());
        assert_eq!((seen.rcode, seen.counts, options(&seen).len()), (code, [0, 0, 0, 1], 28));
    }
    let two = [header(0, [2, 0, 0, 1]), question(NAME, A, IN), question(NAME, A, IN)].concat();
    let packet = [two, opt_at(&[0], 1232, 0, 0, &option(10, CLIENT))].concat();
    assert_eq!(told(&packet, Transport::Udp, &secrets()).0.rcode, FORMAT_ERROR);
}

/// DNS-19: over the limit, whoever has a cookie of another secret is told a good one, others to come over TCP, and what is
/// wrong is told what is wrong; nobody gets more than it sent.
#[test]
fn dns_19_what_is_cut_says_how_to_come_back_and_is_no_longer_than_the_query() {
    let asked = |packet: &[u8]| {
        let mut out = Vec::new();
        let verdict = cut(&AnswerSettings::default(), &secrets(), &arrival(packet, Transport::Udp), &mut out);
        let Verdict::Reply { code, .. } = verdict else { panic!("a reply") };
        assert!(out.len() <= packet.len(), "{} bytes for {}", out.len(), packet.len());
        (code, Seen::of(&out))
    };
    let with_do = |options: &[u8]| query_with(NAME, &opt_at(&[0], 1232, 0, 0x8000, options));
    for options in [&[][..], &option(3, &[]), &option(8, &[0, 1, 24, 0, 192, 0, 2]), &option(10, CLIENT)] {
        let (code, seen) = asked(&with_do(options));
        assert_eq!((code, seen.flags, seen.counts), (NO_ERROR, QR | TC, [1, 0, 0, 1]));
        assert_eq!(seen.opt, Some((1232, 0, 0x8000)));
    }
    let (code, seen) = asked(&with_do(&option(10, b"abcdefgh0123456789abcdef")));
    assert_eq!((code, seen.flags & TC, options(&seen).len()), (BAD_COOKIE, 0, 28));
    assert_eq!(asked(&query(NAME)).1.flags, QR | TC);
    let notify = [header(0x2000, [1, 0, 0, 0]), question(NAME, 6, IN)].concat();
    assert_eq!((asked(&notify).0, asked(&notify).1.flags & TC), (NOT_IMPLEMENTED, 0));
    assert_eq!(asked(&[query(NAME), vec![0]].concat()).0, FORMAT_ERROR);
}

#[test]
fn dns_12_a_member_says_its_name_on_request() {
    for data in [&[][..], b"anything"] {
        let (seen, _) = told(&with(&option(3, data)), Transport::Udp, &secrets());
        assert_eq!((seen.rcode, options(&seen)), (NO_ERROR, &option(3, b"m1")[..]));
    }
    let refused = query_with("other.test", &opt_at(&[0], 1232, 0, 0, &option(3, &[])));
    let mut out = Vec::new();
    let arrival = arrival(&refused, Transport::Udp);
    respond_with(&settings(), &secrets(), &arrival, &mut out, |_, _| empty(Rcode::Refused));
    assert_eq!(options(&Seen::of(&out)), option(3, b"m1"), "whatever it answers");
}

#[test]
fn dns_12_class_ch_tells_name_and_version() {
    let asked = |name: &str, kind, settings: &AnswerSettings| {
        let packet = [header(RD, [1, 0, 0, 0]), question(name, kind, CH)].concat();
        let mut out = Vec::new();
        let arrival = Arrival { packet: &packet, ..arrival(&packet, Transport::Udp) };
        let verdict = respond_with(settings, &secrets(), &arrival, &mut out, |_, _| panic!("not decided on"));
        let Verdict::Reply { code, .. } = verdict else { panic!("a reply") };
        let message = Message::from_vec(&out).expect("hickory reads it");
        assert_eq!(out[12..packet.len()], packet[12..], "the question in its letters");
        let answers: Vec<String> =
            message.answers.iter().map(|record| record.to_string().to_lowercase()).collect();
        (code, answers.join("; "))
    };
    let told = |name: &str, text: &str| (NO_ERROR, format!("{name}. 0 ch txt {text}"));
    for name in ["id.server", "hostname.bind"] {
        assert_eq!(asked(name, TXT, &settings()), told(name, "m1"));
    }
    assert_eq!(asked("Version.BIND", TXT, &settings()), told("version.bind", "waymark of ours"));
    assert_eq!(asked("version.server", 255, &settings()), told("version.server", "waymark of ours"));
    let silent = AnswerSettings { version_text: None, ..settings() };
    for (name, kind, settings) in [
        ("version.bind", TXT, &silent),
        ("id.server", A, &settings()),
        ("authors.bind", TXT, &settings()),
        (NAME, TXT, &settings()),
    ] {
        assert_eq!(asked(name, kind, settings), (REFUSED, String::new()), "{name} {kind}");
    }
    let (in_class_in, _) =
        super::packets::ask(&query("id.server")).map(|seen| (seen.rcode, seen)).expect("a reply");
    assert_eq!(in_class_in, NO_ERROR, "class IN is decided on");
}

#[test]
fn dns_14_keep_alive_is_told_over_streams_and_ignored_elsewhere() {
    for (transport, length, expected) in [
        (Transport::Tcp, 0, Some(option(11, &[0, 100]))),
        (Transport::Tls, 0, Some(option(11, &[0, 100]))),
        (Transport::Tcp, 2, Some(option(11, &[0, 100]))),
        (Transport::Tcp, 1, None),
        (Transport::Tls, 3, None),
        (Transport::Udp, 0, Some(vec![])),
        (Transport::Udp, 5, Some(vec![])),
        (Transport::Https, 0, Some(vec![])),
    ] {
        let (seen, _) = told(&with(&option(11, &vec![0; length])), transport, &secrets());
        let code = if expected.is_some() { NO_ERROR } else { FORMAT_ERROR };
        assert_eq!(seen.rcode, code, "{transport:?} {length}");
        assert_eq!(options(&seen), expected.unwrap_or_default(), "{transport:?} {length}");
    }
    let (seen, _) = told(&with(&[]), Transport::Tcp, &secrets());
    assert!(options(&seen).is_empty(), "not unasked");
}

/// DNS-14, RFC 7828: while places are scarce clients are asked to give theirs back.
#[test]
fn dns_14_a_crowded_member_asks_clients_to_close() {
    let packet = with(&option(11, &[]));
    let mut out = Vec::new();
    let condition = Condition { is_crowded: true, ..Condition::default() };
    let arrival = Arrival { condition, ..arrival(&packet, Transport::Tcp) };
    respond_with(&settings(), &secrets(), &arrival, &mut out, |_, _| positive(NAME, 1));
    assert_eq!(options(&Seen::of(&out)), option(11, &[0, 0]));
}

/// DNS-21, RFC 8914: a member that is cut off for too long says so, and still tells who it is.
#[test]
fn dns_21_a_stale_member_answers_servfail_and_why() {
    let condition = Condition { is_stale: true, ..Condition::default() };
    let told = |packet: &[u8]| {
        let mut out = Vec::new();
        let arrival = Arrival { condition, ..arrival(packet, Transport::Udp) };
        respond_with(&settings(), &secrets(), &arrival, &mut out, |_, _| panic!("not decided on"));
        Message::from_vec(&out).expect("hickory reads it");
        Seen::of(&out)
    };
    let seen = told(&with(&[]));
    assert_eq!((seen.rcode, seen.flags & AA, seen.counts), (SERVER_FAILURE, 0, [1, 0, 0, 1]));
    assert_eq!(options(&seen), option(15, b"\0\x0ecut off from the cluster"));
    let plain = told(&query(NAME));
    assert_eq!((plain.rcode, plain.counts), (SERVER_FAILURE, [1, 0, 0, 0]), "no EDNS without EDNS");
    let who = [header(RD, [1, 0, 0, 0]), question("id.server", TXT, CH)].concat();
    assert_eq!((told(&who).rcode, told(&who).counts[1]), (NO_ERROR, 1));
    let transfer = [header(RD, [1, 0, 0, 0]), question(NAME, 252, IN)].concat();
    assert_eq!(told(&transfer).rcode, REFUSED);
}

/// DNS-15, RFC 8467: over encrypted transports, and only if the query is padded too.
#[test]
fn dns_15_replies_to_padded_queries_have_lengths_that_tell_little() {
    let padded = with(&option(12, &[0; 40]));
    for transport in ENCRYPTED {
        let (seen, _) = told(&padded, transport, &secrets());
        assert_eq!((seen.rcode, seen.bytes.len()), (NO_ERROR, 468), "{transport:?}");
        let (seen, _) = told(&with(&[]), transport, &secrets());
        assert!(seen.bytes.len() < 100);
    }
    for transport in [Transport::Udp, Transport::Tcp] {
        assert!(told(&padded, transport, &secrets()).0.bytes.len() < 100);
    }
    for addresses in 20..60 {
        let mut out = Vec::new();
        let answer = positive(NAME, addresses);
        let (all, arrival) = (settings(), arrival(&padded, Transport::Tls));
        respond_with(&all, &secrets(), &arrival, &mut out, |_, _| answer);
        assert!(out.len().is_multiple_of(468) && Message::from_vec(&out).is_ok(), "{addresses}");
    }
}
