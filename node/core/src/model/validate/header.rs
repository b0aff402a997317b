//! Custom headers of a probe's request (SET-10).

use std::collections::BTreeSet;

use crate::model::{Header, HeaderValue, Protocol, Violations, monitor_limits as limits, quote};

/// Headers that say how a message is framed or a connection kept: the probe's own business (RFC 9110 §7.6.1, RFC 9112 §6).
const RESERVED: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Judges the list of headers of a profile's monitor or of an endpoint.
pub(super) fn check_headers(headers: &[Header], protocol: Protocol, violations: &mut Violations) {
    if !headers.is_empty() && !protocol.is_http() {
        violations.add("headers", "are sent by http and https only, not by tcp");
    }
    if headers.len() > limits::HEADERS_MAX {
        violations.add(
            "headers",
            format!("{} are too many; at most {} are allowed", headers.len(), limits::HEADERS_MAX),
        );
    }
    let mut seen = BTreeSet::new();
    for (place, header) in headers.iter().enumerate().take(limits::HEADERS_MAX) {
        violations.within(&format!("headers[{place}]"), |violations| {
            check_name(&header.name, violations);
            if !seen.insert(header.name.to_ascii_lowercase()) {
                violations.add("name", format!("{} is given twice", quote(&header.name)));
            }
            check_value(header, violations);
        });
    }
}

/// A token (RFC 9110 §5.1) that is not reserved.
fn check_name(name: &str, violations: &mut Violations) {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() {
        violations.add("name", "is empty");
    } else if name.len() > limits::HEADER_NAME_MAX {
        violations.add(
            "name",
            format!("is {} bytes long; at most {} are allowed", name.len(), limits::HEADER_NAME_MAX),
        );
    } else if !name.bytes().all(is_token) {
        violations.add("name", format!("{} has a character that a header's name cannot have", quote(name)));
    } else if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
        violations.add("name", format!("'{name}' is set by the probe itself"));
    }
}

fn check_value(header: &Header, violations: &mut Violations) {
    let is_host = header.name.eq_ignore_ascii_case("host");
    match &header.value {
        HeaderValue::Plain(value) => {
            if validate_header_value(value, violations) && is_host {
                check_host(value, violations);
            }
        }
        HeaderValue::Secret(_) | HeaderValue::Sealed(_) if is_host => {
            violations.add("value", "cannot be a secret: certificates are checked against the Host");
        }
        // Judged before it was encrypted.
        HeaderValue::Sealed(bytes) if (1..=limits::HEADER_SEALED_MAX).contains(&bytes.len()) => {}
        HeaderValue::Secret(_) | HeaderValue::Sealed(_) => {
            violations.add("value", "is a secret that was not encrypted");
        }
    }
}

/// Printable ASCII (RFC 9110 §5.5); says whether nothing was found. The value is never repeated in a violation: it may be a secret.
pub fn validate_header_value(value: &str, violations: &mut Violations) -> bool {
    let is_short = value.len() <= limits::HEADER_VALUE_MAX;
    if !is_short {
        violations.add(
            "value",
            format!("is {} bytes long; at most {} are allowed", value.len(), limits::HEADER_VALUE_MAX),
        );
    }
    let is_plain = !value.chars().any(char::is_control);
    if !is_plain {
        violations.add("value", "has a control character");
    } else if !value.is_ascii() {
        violations.add("value", "has a character outside ASCII");
    }
    is_short && is_plain && value.is_ascii()
}

/// Warns of a secret that everybody on the way to the endpoint can read (VAL-5).
pub fn warn_headers(headers: &[Header], protocol: Protocol, warnings: &mut Violations) {
    let is_secret = |header: &Header| header.value.plain().is_none();
    if protocol == Protocol::Http && headers.iter().any(is_secret) {
        warnings.add("headers", "have a secret, which http sends in clear text: https does not");
    }
}

/// A name or an address, with or without a port; no pattern.
fn check_host(value: &str, violations: &mut Violations) {
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if value.contains('*') {
        violations.add("value", "has a '*': a Host must be one name, not a pattern");
    } else if value.is_empty() || !value.bytes().all(is_host) {
        violations.add("value", "is no host name with an optional port");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_4_a_secret_is_taken_encrypted_and_in_no_other_form() {
        let judged = |name: &str, value: HeaderValue| {
            let mut violations = Violations::new();
            let header = Header { name: name.into(), value };
            check_headers(&[header], Protocol::Http, &mut violations);
            violations.into_vec().iter().map(ToString::to_string).collect::<String>()
        };
        let sealed = |length| HeaderValue::Sealed(vec![1; length].into());
        assert_eq!(judged("X-Key", sealed(limits::HEADER_SEALED_MAX)), "");
        for (name, value, words) in [
            ("X-Key", sealed(limits::HEADER_SEALED_MAX + 1), "headers[0].value: is a secret that was not"),
            ("X-Key", sealed(0), "headers[0].value: is a secret that was not encrypted"),
            ("X-Key", HeaderValue::Secret("geheim".into()), "headers[0].value: is a secret that was not"),
            ("hOST", sealed(60), "headers[0].value: cannot be a secret"),
        ] {
            let told = judged(name, value);
            assert!(told.starts_with(words) && !told.contains("geheim"), "{told}");
        }
        assert_eq!(format!("{:?}", HeaderValue::Plain("geheim".into())), "***");
    }

    #[test]
    fn sec_4_a_violation_keeps_the_value_to_itself() {
        let header = |name: &str, value: &str| Header { name: name.into(), value: value.into() };
        let mut violations = Violations::new();
        check_headers(
            &[header("X-Key", "geheim\n"), header("Host", "geheim*")],
            Protocol::Http,
            &mut violations,
        );
        let text = violations.into_vec().iter().map(ToString::to_string).collect::<String>();
        assert!(!text.is_empty() && !text.contains("geheim"), "{text}");
    }
}
