//! The client subnet on the wire: echoed with the answer's scope, judged, and never there unasked (DNS-10).

use hickory_server::proto::op::Message;
use waymark_core::answer::{Answer, Rcode};

use super::packets::*;
use crate::dns::respond::Transport;

/// A query with these options.
fn query_of(options: &[u8]) -> Vec<u8> {
    query_with("app.example.com", &opt_at(&[0], 1232, 0, 0, options))
}

/// A client subnet option.
fn option(data: &[u8]) -> Vec<u8> {
    [&[0, 8, 0, data.len() as u8], data].concat()
}

/// The options in the reply to a query with `options`, when `scope` is decided.
fn reply_options(options: &[u8], scope: Option<u8>) -> Vec<u8> {
    let answer = Answer { scope, ..positive("app.example.com", 1) };
    let seen = ask_for(&query_of(options), Transport::Udp, answer).expect("a reply");
    assert_eq!(seen.rcode, NO_ERROR);
    // Owner, type, payload, code and version, flags, length: 11 bytes stand in front of the options.
    let at = seen.bytes.windows(3).rposition(|bytes| bytes == [0, 0, 41]).expect("an OPT");
    seen.bytes[at + 11..].to_vec()
}

#[test]
fn dns_10_family_source_length_and_address_come_back_with_the_scope() {
    let asked = option(&[0, 1, 24, 0, 198, 51, 100]);
    let seen = ask_for(&query_of(&asked), Transport::Udp, positive("app.example.com", 1)).expect("a reply");
    Message::from_vec(&seen.bytes).expect("hickory reads it");
    assert_eq!(reply_options(&asked, Some(20)), option(&[0, 1, 24, 20, 198, 51, 100]));
    let asked = option(&[0, 2, 56, 0, 0x20, 1, 0x0d, 0xb8, 0, 1, 2]);
    assert_eq!(reply_options(&asked, Some(48)), option(&[0, 2, 56, 48, 0x20, 1, 0x0d, 0xb8, 0, 1, 2]));
    for nothing_told in [&[0, 0, 0, 0], &[0, 1, 0, 0], &[0, 2, 0, 0]] {
        assert_eq!(reply_options(&option(nothing_told), Some(0)), option(nothing_told));
    }
}

#[test]
fn dns_10_no_option_without_one_in_the_query_nor_where_the_zone_takes_none() {
    assert!(reply_options(&[], Some(24)).is_empty());
    assert!(reply_options(&option(&[0, 1, 24, 0, 198, 51, 100]), None).is_empty());
    let unknown = [0xff, 0xf0, 0, 2, 1, 2];
    assert!(reply_options(&unknown, Some(24)).is_empty(), "unknown options are not echoed");
}

#[test]
fn dns_10_a_malformed_one_is_a_format_error() {
    let good = option(&[0, 1, 24, 0, 198, 51, 100]);
    for (options, why) in [
        (option(&[0, 1, 24, 0, 198, 51]), "an address that is too short"),
        (option(&[0, 1, 24, 0, 198, 51, 100, 0]), "an address that is too long"),
        (option(&[0, 1, 20, 0, 198, 51, 100]), "a bit behind the prefix"),
        (option(&[0, 1, 24, 1, 198, 51, 100]), "a scope in a query"),
        (option(&[0, 9, 8, 0, 198]), "an unknown family"),
        ([good.clone(), good.clone()].concat(), "two of them"),
    ] {
        let seen = ask_for(&query_of(&options), Transport::Udp, empty(Rcode::NoError)).expect("a reply");
        assert_eq!(seen.rcode, FORMAT_ERROR, "{why}");
        assert!(seen.opt.is_some(), "{why}: the reply has an OPT");
    }
}
