//! The mailbox of whoever answers for a zone, as a name (RFC 1035 §3.3.13).

use super::{Name, NameFault};

/// Why a text is no mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailboxFault {
    /// What stands in front of the `@` cannot be one label.
    #[error("must have 1 to 63 printable characters in front of the '@'")]
    Local,
    /// What stands behind the `@`, or the whole, is no name.
    #[error("{0}")]
    Name(#[from] NameFault),
}

/// Reads `hostmaster@example.com`, or the same as a name, `hostmaster.example.com`. Dots in front of the `@` stay in
/// the first label.
pub fn parse_mailbox(text: &str) -> Result<Name, MailboxFault> {
    let Some((local, domain)) = text.split_once('@') else { return Ok(Name::parse(text)?) };
    if local.is_empty() || local.len() > Name::LABEL_MAX || !local.bytes().all(|byte| byte.is_ascii_graphic())
    {
        return Err(MailboxFault::Local);
    }
    let mut wire = vec![local.len() as u8];
    wire.extend_from_slice(local.as_bytes());
    wire.push(0);
    Ok(Name::from_wire(&wire).join(&Name::parse(domain)?)?)
}

/// Writes a mailbox so that [`parse_mailbox`] reads it back: as a name, or with an `@` behind what can be no label of one.
pub fn mailbox_text(mailbox: &Name) -> String {
    let text = mailbox.to_string();
    if Name::parse(&text).as_ref() == Ok(mailbox) {
        return text;
    }
    let local = mailbox.labels().next().unwrap_or_default();
    let domain = mailbox.parent().unwrap_or_else(Name::root);
    format!("{}@{domain}", String::from_utf8_lossy(local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dns_1_a_mailbox_is_written_as_it_can_be_read() {
        for (text, written) in [
            ("a.b@c.de", "a.b@c.de"),
            ("John+dns@c.de", "john+dns@c.de"),
            ("hostmaster@c.de", "hostmaster.c.de"),
            ("hostmaster.c.de", "hostmaster.c.de"),
        ] {
            let mailbox = parse_mailbox(text).unwrap();
            assert_eq!(mailbox_text(&mailbox), written);
            assert_eq!(parse_mailbox(written), Ok(mailbox), "{text}");
        }
    }

    #[test]
    fn dns_1_a_mailbox_is_an_address_or_a_name() {
        let name = |text: &str| Name::parse(text).unwrap();
        assert_eq!(parse_mailbox("Hostmaster@example.com"), Ok(name("hostmaster.example.com")));
        assert_eq!(parse_mailbox("hostmaster.example.com."), Ok(name("hostmaster.example.com")));
        let dotted = parse_mailbox("john.doe@example.com").unwrap();
        assert_eq!(dotted.labels().next(), Some(b"john.doe".as_slice()));
        for text in ["", "@example.com", "a b@example.com", "a@", "a@b@c", "a..b", "\u{fc}@example.com"] {
            assert!(parse_mailbox(text).is_err(), "{text}");
        }
        assert!(parse_mailbox(&format!("{}@example.com", "a".repeat(64))).is_err());
    }
}
