//! What is wrong with a packet, and what it is told (DNS-4, DNS-9, DNS-13).

use super::packets::*;
use crate::dns::respond::Transport;

const NAME: &str = "app.example.com";

fn rcode(packet: &[u8]) -> Option<u16> {
    ask(packet).map(|seen| {
        assert_eq!((seen.id, seen.flags & QR), (ID, QR), "{seen:?}");
        seen.rcode
    })
}

/// A query with these counts and nothing behind the question.
fn lying(counts: [u16; 4]) -> Vec<u8> {
    [header(0, counts), question(NAME, A, IN)].concat()
}

/// A query whose name is these bytes.
fn named(name: &[u8]) -> Vec<u8> {
    [header(0, [1, 0, 0, 0]), name.to_vec(), vec![0, 1, 0, 1]].concat()
}

/// A query whose OPT has these options.
fn with_options(options: &[u8]) -> Vec<u8> {
    query_with(NAME, &opt_at(&[0], 1232, 0, 0, options))
}

/// F-DNS-20.
#[test]
fn dns_13_silence_for_less_than_a_header_and_for_responses() {
    let query = query(NAME);
    for length in 0..12 {
        assert_eq!(rcode(&query[..length]), None, "{length} bytes");
    }
    let response = |flags| [header(flags, [1, 0, 0, 0]), question(NAME, A, IN)].concat();
    assert_eq!(rcode(&response(QR)), None);
    assert_eq!(rcode(&response(QR | NOT_IMPLEMENTED)), None, "two servers must not shout at each other");
    assert_eq!(rcode(&header(QR, [9, 9, 9, 9])), None, "nor over what they cannot read");
    assert_eq!(rcode(&query), Some(NO_ERROR));
}

#[test]
fn dns_13_lying_counts_and_lengths_are_format_errors() {
    for counts in [
        [0, 0, 0, 0],
        [0, 0, 0, 1],
        [2, 0, 0, 0],
        [1, 1, 0, 0],
        [1, 0, 1, 0],
        [1, 0, 0, 1],
        [u16::MAX, 0, 0, 0],
        [1, u16::MAX, u16::MAX, u16::MAX],
    ] {
        assert_eq!(rcode(&lying(counts)), Some(FORMAT_ERROR), "{counts:?}");
    }
    for counts in [[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]] {
        assert_eq!(rcode(&header(0, counts)), Some(FORMAT_ERROR), "only a header, {counts:?}");
    }
    let query = query_with(NAME, &opt(1232));
    for length in 12..query.len() {
        assert_eq!(rcode(&query[..length]), Some(FORMAT_ERROR), "cut to {length} bytes");
    }
    let two = [header(0, [2, 0, 0, 0]), question(NAME, A, IN), question(NAME, 28, IN)].concat();
    assert_eq!(rcode(&two), Some(FORMAT_ERROR));
    let mut long_rdata = query.clone();
    *long_rdata.last_mut().expect("it has bytes") = 1;
    assert_eq!(rcode(&long_rdata), Some(FORMAT_ERROR));
}

#[test]
fn dns_13_trailing_bytes_are_format_errors() {
    for tail in [&b"\0"[..], b"\xff\xff\xff\xff\xff\xff\xff", &opt(1232)] {
        assert_eq!(rcode(&[query(NAME), tail.to_vec()].concat()), Some(FORMAT_ERROR), "{tail:?}");
        let packet = [query_with(NAME, &opt(1232)), tail.to_vec()].concat();
        assert_eq!(rcode(&packet), Some(FORMAT_ERROR), "{tail:?} behind OPT");
    }
}

#[test]
fn dns_13_names_that_cannot_be_are_format_errors() {
    let long_label = [vec![64], vec![b'a'; 64], vec![0]].concat();
    let labels = |lengths: &[usize]| {
        let labels = lengths.iter().flat_map(|&length| [vec![length as u8], vec![b'a'; length]].concat());
        labels.chain([0]).collect::<Vec<u8>>()
    };
    for (name, why) in [
        (b"\xc0\x0c".to_vec(), "a pointer to itself"),
        (b"\x01a\xc0\x0c".to_vec(), "a pointer to its own start"),
        (b"\xc0\x0e\xc0\x0c".to_vec(), "two that point at each other"),
        (b"\xc0\x00".to_vec(), "a pointer into the header"),
        (b"\xc0\x04".to_vec(), "a pointer to a zero byte in the header"),
        (b"\xc0\xff".to_vec(), "a pointer behind the end"),
        (b"\xc0".to_vec(), "half a pointer"),
        (long_label, "a label of 64 bytes"),
        (b"\x80a\0".to_vec(), "an unknown kind of label"),
        (b"\x41\x01a\0".to_vec(), "an extended label"),
        (b"\x05ab\0".to_vec(), "a label behind the end"),
        (labels(&[63, 63, 63, 62]), "a name of 256 bytes"),
        (labels(&[1; 128]), "a name of 257 bytes in small labels"),
    ] {
        assert_eq!(rcode(&named(&name)), Some(FORMAT_ERROR), "{why}");
    }
    assert_eq!(rcode(&named(&labels(&[63, 63, 63, 61]))), Some(NO_ERROR), "255 bytes are a name");
    assert_eq!(rcode(&named(&labels(&[1; 127]))), Some(NO_ERROR), "so are 127 labels");
    assert_eq!(rcode(&named(&[0])), Some(NO_ERROR), "so is the root");
    assert_eq!(rcode(&named(b"\x04\0\xff.\x07\0")), Some(NO_ERROR), "any byte may stand in a label");
}

#[test]
fn dns_9_opt_stands_once_in_the_additional_section_at_the_root() {
    let all = |counts, records: &[Vec<u8>]| [lying(counts), records.concat()].concat();
    let at_a = opt_at(b"\x01a\0", 1232, 0, 0, &[]);
    assert_eq!(rcode(&all([1, 0, 0, 1], &[opt(1232)])), Some(NO_ERROR));
    assert_eq!(rcode(&all([1, 0, 0, 2], &[opt(1232), opt(1232)])), Some(FORMAT_ERROR), "two");
    assert_eq!(rcode(&all([1, 0, 0, 1], &[at_a])), Some(FORMAT_ERROR), "off the root");
    assert_eq!(rcode(&all([1, 1, 0, 0], &[opt(1232)])), Some(FORMAT_ERROR), "as an answer");
    assert_eq!(rcode(&all([1, 0, 1, 0], &[opt(1232)])), Some(FORMAT_ERROR), "as authority");
}

#[test]
fn dns_9_unknown_options_are_ignored_and_not_echoed() {
    let unknown = [0xfd_u16.to_be_bytes(), 3_u16.to_be_bytes()].concat();
    for options in [&b"\0\x05\0\0"[..], b"\xff\xff\0\x01x", &[&unknown[..], b"abc"].concat()] {
        let seen = ask(&with_options(options)).expect("a reply");
        assert_eq!((seen.rcode, seen.opt), (NO_ERROR, Some((1232, 0, 0))), "{options:?}");
    }
}

#[test]
fn dns_13_options_with_lying_lengths_are_format_errors_with_an_opt() {
    for options in [&b"\0"[..], b"\0\x03", b"\0\x03\0", b"\0\x03\0\x01", b"\0\x03\xff\xffab", b"\0\x03\0\0\0"]
    {
        let seen = ask(&with_options(options)).expect("a reply");
        assert_eq!((seen.rcode, seen.opt), (FORMAT_ERROR, Some((1232, 0, 0))), "{options:?}");
    }
}

#[test]
fn dns_9_a_version_above_zero_is_told_ours() {
    for version in [1, 2, 255] {
        let seen =
            ask(&query_with(NAME, &opt_at(&[0], 4096, version, 0x8000, b"not options"))).expect("a reply");
        assert_eq!((seen.rcode, seen.opt, seen.counts), (BAD_VERSION, Some((1232, 0, 0x8000)), [1, 0, 0, 1]));
        assert_eq!(seen.flags & AA, 0);
    }
}

#[test]
fn dns_9_opt_comes_back_iff_it_was_sent() {
    let all = |flags, counts, records: &[Vec<u8>]| [header(flags, counts), records.concat()].concat();
    let (asked, opt) = (question(NAME, A, IN), opt(4096));
    for (packet, code) in [
        (all(0, [1, 0, 0, 1], &[asked.clone(), opt.clone()]), NO_ERROR),
        (all(0, [1, 0, 0, 1], &[question(NAME, A, 4), opt.clone()]), REFUSED),
        (all(0, [0, 0, 0, 1], std::slice::from_ref(&opt)), FORMAT_ERROR),
        (all(0, [2, 0, 0, 1], &[asked.clone(), asked.clone(), opt.clone()]), FORMAT_ERROR),
        (all(0, [1, 0, 0, 2], &[asked.clone(), opt.clone(), opt.clone()]), FORMAT_ERROR),
        (all(0, [1, 0, 0, 1], &[asked.clone(), opt.clone(), vec![0]]), FORMAT_ERROR),
        (all(0x2000, [1, 0, 0, 1], &[asked.clone(), opt.clone()]), NOT_IMPLEMENTED),
    ] {
        let seen = ask(&packet).expect("a reply");
        assert_eq!((seen.rcode, seen.opt), (code, Some((1232, 0, 0))), "{packet:?}");
    }
    assert_eq!(ask(&query(NAME)).expect("a reply").counts, [1, 1, 0, 0]);
}

#[test]
fn dns_13_other_opcodes_are_not_implemented_even_where_nothing_else_can_be_read() {
    for opcode in 1..16 {
        for body in [question(NAME, A, IN), Vec::new(), b"\xc0\x0c".to_vec()] {
            let seen = ask(&[header(opcode << 11, [1, 0, 0, 0]), body].concat()).expect("a reply");
            assert_eq!((seen.rcode, seen.opcode()), (NOT_IMPLEMENTED, opcode));
        }
        let all_flags = opcode << 11 | AA | TC | RD | RA | Z | AD | CD;
        let seen = ask(&header(all_flags, [0; 4])).expect("a reply");
        assert_eq!(
            (seen.flags, seen.counts),
            (QR | opcode << 11, [0; 4]),
            "a header, and no flag of it copied"
        );
    }
}

#[test]
fn dns_13_other_classes_and_transfers_are_refused() {
    for class in [0, 2, 4, 254, 255, 4_660] {
        let seen = ask(&[header(RD, [1, 0, 0, 0]), question(NAME, 16, class)].concat()).expect("a reply");
        assert_eq!((seen.rcode, seen.flags, seen.counts), (REFUSED, QR | RD, [1, 0, 0, 0]), "class {class}");
    }
    for kind in [251, 252] {
        for transport in [Transport::Udp, Transport::Tcp] {
            let packet = [header(0, [1, 0, 0, 0]), question(NAME, kind, IN)].concat();
            let seen = ask_for(&packet, transport, positive(NAME, 1)).expect("a reply");
            assert_eq!((seen.rcode, seen.counts), (REFUSED, [1, 0, 0, 0]), "type {kind}");
        }
    }
}

#[test]
fn dns_13_records_that_a_query_has_no_need_of_do_no_harm() {
    let record = b"\xc0\x0c\0\x01\0\x01\0\0\0\0\0\x04\x01\x02\x03\x04".to_vec();
    let unknown = b"\0\xff\0\0\x01\0\0\0\0\0\x02ab".to_vec();
    assert_eq!(rcode(&[lying([1, 1, 0, 0]), record.clone()].concat()), Some(NO_ERROR));
    assert_eq!(rcode(&[lying([1, 0, 1, 1]), record.clone(), unknown.clone()].concat()), Some(NO_ERROR));
    let many = vec![unknown; 8].concat();
    assert_eq!(rcode(&[lying([1, 0, 0, 7]), many[..7 * 13].to_vec()].concat()), Some(NO_ERROR));
    assert_eq!(
        rcode(&[lying([1, 0, 0, 8]), many].concat()),
        Some(FORMAT_ERROR),
        "but there is an end to them"
    );
}

#[test]
fn dns_13_format_errors_and_refusals_are_not_larger_than_the_query() {
    for packet in [lying([1, 0, 0, 1]), header(0, [1, 0, 0, 0]), query(NAME)] {
        let seen = ask_for(&packet, Transport::Udp, {
            let mut refused = empty(waymark_core::answer::Rcode::Refused);
            refused.authoritative = false;
            refused
        });
        assert!(seen.expect("a reply").bytes.len() <= packet.len());
    }
}
