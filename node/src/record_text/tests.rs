//! DNS-17: each type's text, what it is on the wire, how it is shown; and what is wrong with what cannot be read.

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert_eq, proptest};
use waymark_core::model::RecordType;

use super::layout::Layout;
use super::{read, show};

fn kind(word: &str) -> RecordType {
    word.parse().expect(word)
}

#[track_caller]
fn fault(word: &str, text: &str) -> String {
    read(kind(word), text).map(|bytes| format!("{bytes:?}")).expect_err(text).to_string()
}

/// Type, text, bytes, and the text that is shown if it is another.
const GOOD: [(&str, &str, &[u8], &str); 42] = [
    ("A", "192.0.2.1", &[192, 0, 2, 1], ""),
    ("A", " 192.0.2.1\t", &[192, 0, 2, 1], "192.0.2.1"),
    ("A", "\\# 4 C0000201", &[192, 0, 2, 1], "192.0.2.1"),
    ("AAAA", "2001:DB8::1", b"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", "2001:db8::1"),
    ("CNAME", "WWW.example.net", b"\x03www\x07example\x03net\0", "www.example.net."),
    ("PTR", "_x.example.", b"\x02_x\x07example\0", ""),
    ("MX", "10 mail.example.net.", b"\0\x0a\x04mail\x07example\x03net\0", ""),
    ("MX", "0 .", b"\0\0\0", ""),
    ("TXT", "\"v=spf1 -all\"", b"\x0bv=spf1 -all", ""),
    ("TXT", "one", b"\x03one", "\"one\""),
    ("TXT", "\"one\" \"two\"", b"\x03one\x03two", ""),
    ("TXT", "\"one\"\"two\"", b"\x03one\x03two", "\"one\" \"two\""),
    ("TXT", "\"\"", b"\0", ""),
    ("TXT", "\"say \\\"a\\\\b\\\"\"", b"\x09say \"a\\b\"", ""),
    ("TXT", "\"\\065\\255;(\"", b"\x04A\xff;(", "\"A\\255;(\""),
    ("TXT", "\\065\\;", b"\x02A;", "\"A;\""),
    ("TXT", "\"\u{fc}\"", b"\x02\xc3\xbc", "\"\\195\\188\""),
    ("SRV", "1 2 65535 sip.example.", b"\0\x01\0\x02\xff\xff\x03sip\x07example\0", ""),
    (
        "NAPTR",
        "100 10 \"u\" \"E2U+sip\" \"!^.*$!sip:a@b!\" .",
        b"\0\x64\0\x0a\x01u\x07E2U+sip\x0e!^.*$!sip:a@b!\0",
        "",
    ),
    ("HINFO", "ARM \"Any OS\"", b"\x03ARM\x06Any OS", "\"ARM\" \"Any OS\""),
    ("CAA", "0 issue \"letsencrypt.org\"", b"\0\x05issueletsencrypt.org", ""),
    (
        "CAA",
        "128 iodef mailto:a@example.org",
        b"\x80\x05iodefmailto:a@example.org",
        "128 iodef \"mailto:a@example.org\"",
    ),
    ("CAA", "0 issue \";\"", b"\0\x05issue;", ""),
    ("DS", "60485 5 1 2BB1 83AF", b"\xec\x45\x05\x01\x2b\xb1\x83\xaf", "60485 5 1 2bb183af"),
    ("SSHFP", "4 2 00ff", b"\x04\x02\0\xff", ""),
    ("TLSA", "3 1 1 0a0b", b"\x03\x01\x01\x0a\x0b", ""),
    ("SMIMEA", "3 0 0 ab", b"\x03\0\0\xab", ""),
    ("OPENPGPKEY", "mQ EN", b"\x99\x01\x0d", "mQEN"),
    ("URI", "10 1 \"https://example.org/a;b\"", b"\0\x0a\0\x01https://example.org/a;b", ""),
    ("HTTPS", "0 web.example.", b"\0\0\x03web\x07example\0", ""),
    ("HTTPS", "1 .", b"\0\x01\0", ""),
    (
        "HTTPS",
        "1 . alpn=h2,h3 port=443",
        b"\0\x01\0\0\x01\0\x06\x02h2\x02h3\0\x03\0\x02\x01\xbb",
        "1 . alpn=\"h2,h3\" port=443",
    ),
    (
        "HTTPS",
        "1 . port=443 alpn=\"h2\"",
        b"\0\x01\0\0\x01\0\x03\x02h2\0\x03\0\x02\x01\xbb",
        "1 . alpn=\"h2\" port=443",
    ),
    ("HTTPS", "1 . ipv4hint=192.0.2.1,192.0.2.2", b"\0\x01\0\0\x04\0\x08\xc0\0\x02\x01\xc0\0\x02\x02", ""),
    ("HTTPS", "1 . ipv6hint=::1", b"\0\x01\0\0\x06\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", ""),
    ("HTTPS", "1 . ech=AAEC", b"\0\x01\0\0\x05\0\x03\0\x01\x02", ""),
    (
        "SVCB",
        "1 . mandatory=alpn alpn=\"a\\\\,b\" no-default-alpn",
        b"\0\x01\0\0\0\0\x02\0\x01\0\x01\0\x04\x03a,b\0\x02\0\0",
        "",
    ),
    (
        "SVCB",
        "1 . dohpath=/q{?dns} key667=\"\\255x\" key668",
        b"\0\x01\0\0\x07\0\x08/q{?dns}\x02\x9b\0\x02\xffx\x02\x9c\0\0",
        "1 . dohpath=\"/q{?dns}\" key667=\"\\255x\" key668",
    ),
    ("TYPE65280", "\\# 3 0a0B 0c", b"\x0a\x0b\x0c", "\\# 3 0a0b0c"),
    ("TYPE65280", "\\# 0", b"", ""),
    ("LOC", "\\# 1 00", b"\0", ""),
    ("CNAME", "\\# 5 0361412e00", b"\x03aA.\0", ""),
];

#[test]
fn dns_17_each_type_is_read_and_shown() {
    for (word, text, bytes, shown) in GOOD {
        let record_type = kind(word);
        let read_bytes = read(record_type, text).unwrap_or_else(|fault| panic!("{word} {text}: {fault}"));
        assert_eq!(read_bytes, bytes, "{word} {text}");
        assert_eq!(show(record_type, bytes), if shown.is_empty() { text } else { shown }, "{word} {text}");
    }
    let tested: Vec<RecordType> = GOOD.iter().map(|(word, ..)| kind(word)).collect();
    assert!(Layout::all().all(|layout| tested.contains(&layout.record_type)), "each layout has a case");
}

/// Type, text, and what is wrong with it.
const BAD: [(&str, &str, &str); 42] = [
    ("A", "192.0.2", "address: '192.0.2' is no IPv4 address"),
    ("A", "\"192.0.2.1\"", "address: '192.0.2.1' is no IPv4 address"),
    ("A", "", "ends before its address; A data is written: ADDRESS"),
    ("A", "192.0.2.1 192.0.2.2", "has '192.0.2.2' behind its last field; A data is written: ADDRESS"),
    ("AAAA", "192.0.2.1", "address: '192.0.2.1' is no IPv6 address"),
    ("CNAME", "a..b", "target: 'a..b' has an empty label"),
    ("CNAME", "*.example", "target: '*.example' is a wildcard; wildcards are not supported"),
    ("CNAME", "a\\046b", "target: 'a.b' must be written without quotes and escapes"),
    ("MX", "mail.example", "preference: 'mail.example' is no whole number, 0–65535"),
    ("MX", "10", "ends before its exchange; MX data is written: PREFERENCE EXCHANGE"),
    ("MX", "65536 a", "preference: '65536' is no whole number, 0–65535"),
    ("MX", "+1 a", "preference: '+1' is no whole number, 0–65535"),
    ("SRV", "1 2 3", "ends before its target; SRV data is written: PRIORITY WEIGHT PORT TARGET"),
    ("TXT", "", "ends before its text; TXT data is written: \"TEXT\" …"),
    ("TXT", "\"open", "has a quote that is not closed"),
    (
        "TXT",
        "v=DKIM1; k=rsa",
        "has a ';' outside quotes, where it means something else; put the text into quotes",
    ),
    ("TXT", "a\"b\"", "has a '\"' outside quotes, where it means something else; put the text into quotes"),
    (
        "TXT",
        "v=spf1 -all",
        "has a blank outside quotes; write \"v=spf1 -all\" with its quotes for one text, or put each of several into \
             quotes",
    ),
    (
        "CAA",
        "0 is-sue x",
        "tag: 'is-sue' is no tag: 1 to 15 letters and digits, as in issue, issuewild, iodef",
    ),
    ("CAA", "256 issue x", "flags: '256' is no whole number, 0–255"),
    ("DS", "1 8 2 abc", "digest: 'abc' is not in hexadecimal digits, two for each byte"),
    ("DS", "1 8 2", "ends before its digest; DS data is written: KEY-TAG ALGORITHM DIGEST-TYPE DIGEST"),
    ("OPENPGPKEY", "!", "key: '!' is not in base 64"),
    ("HTTPS", "1 . aplb=h2", "parameters: 'aplb' is no key; did you mean 'alpn'?"),
    ("HTTPS", "1 . xyz", "parameters: 'xyz' is no key; others are written by their number, as in key65280"),
    ("HTTPS", "1 . port=1 port=2", "parameters: 'port' is given twice"),
    ("HTTPS", "1 . port=a", "port: 'a' is no port, 0–65535"),
    ("HTTPS", "1 . port=+443", "port: '+443' is no port, 0–65535"),
    (
        "HTTPS",
        "1 . mandatory=\u{1b}[31m",
        "mandatory: '\\u{1b}[31m' has '\\u{1b}[31m', which is no key; others are written by their number, as in key65280",
    ),
    ("HTTPS", "1 . alpn=", "alpn: '' has a protocol's name that is empty or longer than 255 bytes"),
    ("HTTPS", "1 . ipv4hint=::1", "ipv4hint: '::1' has '::1', which is no IPv4 address"),
    ("HTTPS", "1 . no-default-alpn", "parameters: 'no-default-alpn' is given without alpn"),
    ("HTTPS", "1 . alpn=h2 no-default-alpn=x", "no-default-alpn: 'x' is a value of a key that has none"),
    ("HTTPS", "1 . mandatory=port", "mandatory: 'port' is not given"),
    ("HTTPS", "1 . mandatory=mandatory", "mandatory: 'mandatory' names itself, or a key twice"),
    ("HTTPS", "1 . ech=x", "ech: 'x' is not in base 64"),
    (
        "LOC",
        "1 2",
        "LOC data is known here by its bytes alone; write it as \\# LENGTH HEX (RFC 3597), as in \\# 4 c0000201",
    ),
    ("LOC", "\\# +1 00", "is not \\# LENGTH HEX: LENGTH is the number of bytes, 0–65535"),
    ("LOC", "\\#4 00", "is not \\# LENGTH HEX: LENGTH is the number of bytes, 0–65535"),
    ("LOC", "\\# 4 00", "is not \\# LENGTH HEX: LENGTH is 4, but there are 1 bytes"),
    ("LOC", "\\# 1 0g", "is not \\# LENGTH HEX: HEX has two hexadecimal digits for each byte"),
    ("MX", "\\# 1 00", "has bytes that are no MX data, which is: PREFERENCE EXCHANGE"),
];

#[test]
fn val_1_what_is_no_data_is_told_by_field_value_and_rule() {
    for (word, text, expected) in BAD {
        assert_eq!(fault(word, text), expected, "{word} {text}");
    }
    for text in ["\\", "\\25", "\\256", "\"\\2a\""] {
        assert!(fault("TXT", text).starts_with("has a '\\' that escapes nothing"), "{text}");
    }
    let long = format!("\"{}\"", "a".repeat(256));
    assert!(fault("TXT", &long).contains("has 256 bytes; a text has at most 255: divide it"));
    // Compressed names, and bytes behind the last field.
    for raw in ["\\# 4 000ac00c", "\\# 4 00000000", "\\# 9 0001000003000301bb"] {
        let word = if raw.len() > 14 { "HTTPS" } else { "MX" };
        assert!(fault(word, raw).starts_with("has bytes that are no"), "{raw}");
    }
    assert!(
        fault("HTTPS", "\\# 13 0001000003000201bb00030000").starts_with("has bytes"),
        "keys are in order"
    );
}

proptest! {
    /// Whatever a set holds can be shown, and set again as it is shown.
    #[test]
    fn dns_17_what_is_shown_reads_as_what_it_was(number in 0..300_u16, data in vec(any::<u8>(), 0..40)) {
        let record_type = RecordType(number);
        let text = show(record_type, &data);
        if let Ok(bytes) = read(record_type, &text) {
            prop_assert_eq!(bytes, data);
        } else {
            // Only data that could not have been set, as it is none of its type.
            prop_assert_eq!(&text.get(..3), &Some("\\# "));
            assert!(Layout::of(record_type).is_some());
        }
    }

    /// Any text is read or refused, and what is read is shown as it can be read again.
    #[test]
    fn any_text_is_read_or_refused_without_a_panic(
        number in proptest::sample::select(Layout::all().map(|layout| layout.record_type.0).collect::<Vec<_>>()),
        text in "[ -~\u{fc}\n]{0,40}",
        words in "(0 |1 |[.] |a[.]b |\"x y\" |aa |alpn=h2 |port=1 |\\\\# 1 ){0,6}",
    ) {
        for text in [text, words] {
            if let Ok(bytes) = read(RecordType(number), &text) {
                prop_assert_eq!(read(RecordType(number), &show(RecordType(number), &bytes)), Ok(bytes));
            }
        }
    }
}
