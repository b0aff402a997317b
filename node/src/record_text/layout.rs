//! What the data of each known type is made of.

use waymark_core::model::RecordType;

/// One field of a record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A number of one or two bytes.
    Number(usize),
    /// Four bytes.
    Ipv4,
    /// Sixteen bytes.
    Ipv6,
    /// A name, uncompressed.
    Name,
    /// A character-string: up to 255 bytes behind their number (RFC 1035 §3.3).
    Text,
    /// One or more of them, to the end.
    Texts,
    /// Letters and digits behind their number, 1 to 15 (RFC 8659 §4.1).
    Tag,
    /// Text to the end, without a length.
    Rest,
    /// Bytes to the end, written in hexadecimal digits; blanks between them do not count.
    Hex,
    /// The same in base 64.
    Base64,
    /// Keys and values to the end (RFC 9460 §2).
    Parameters,
}

/// The data of one type.
pub(super) struct Layout {
    /// The type.
    pub(super) record_type: RecordType,
    /// Its fields, in order: what each is called, and what it is.
    pub(super) fields: &'static [(&'static str, Field)],
}

const NUMBER: Field = Field::Number(1);
const NUMBER_16: Field = Field::Number(2);

/// RFC 1035, 2782 (SRV), 3403 (NAPTR), 3596 (AAAA), 4034 (DS), 4255 (SSHFP), 6698 (TLSA), 7553 (URI), 7929 (OPENPGPKEY),
/// 8162 (SMIMEA), 8659 (CAA), 9460 (SVCB, HTTPS).
const LAYOUTS: [Layout; 18] = [
    layout(1, &[("address", Field::Ipv4)]),
    layout(5, &[("target", Field::Name)]),
    layout(12, &[("target", Field::Name)]),
    layout(13, &[("cpu", Field::Text), ("system", Field::Text)]),
    layout(15, &[("preference", NUMBER_16), ("exchange", Field::Name)]),
    layout(16, &[("text", Field::Texts)]),
    layout(28, &[("address", Field::Ipv6)]),
    layout(
        33,
        &[("priority", NUMBER_16), ("weight", NUMBER_16), ("port", NUMBER_16), ("target", Field::Name)],
    ),
    layout(
        35,
        &[
            ("order", NUMBER_16),
            ("preference", NUMBER_16),
            ("flags", Field::Text),
            ("services", Field::Text),
            ("regexp", Field::Text),
            ("replacement", Field::Name),
        ],
    ),
    layout(
        43,
        &[("key-tag", NUMBER_16), ("algorithm", NUMBER), ("digest-type", NUMBER), ("digest", Field::Hex)],
    ),
    layout(44, &[("algorithm", NUMBER), ("type", NUMBER), ("fingerprint", Field::Hex)]),
    layout(52, CERTIFICATE),
    layout(53, CERTIFICATE),
    layout(61, &[("key", Field::Base64)]),
    layout(64, SERVICE),
    layout(65, SERVICE),
    layout(256, &[("priority", NUMBER_16), ("weight", NUMBER_16), ("target", Field::Rest)]),
    layout(257, &[("flags", NUMBER), ("tag", Field::Tag), ("value", Field::Rest)]),
];

const CERTIFICATE: &[(&str, Field)] =
    &[("usage", NUMBER), ("selector", NUMBER), ("matching-type", NUMBER), ("certificate", Field::Hex)];

const SERVICE: &[(&str, Field)] =
    &[("priority", NUMBER_16), ("target", Field::Name), ("parameters", Field::Parameters)];

const fn layout(number: u16, fields: &'static [(&'static str, Field)]) -> Layout {
    Layout { record_type: RecordType(number), fields }
}

impl Layout {
    /// That of a type, if its fields are known here.
    pub(super) fn of(record_type: RecordType) -> Option<&'static Self> {
        LAYOUTS.iter().find(|layout| layout.record_type == record_type)
    }

    /// Every one.
    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        LAYOUTS.iter()
    }

    /// Its fields in words, as they are written: `PREFERENCE EXCHANGE`.
    pub(super) fn shape(&self) -> String {
        let word = |(name, field): &(&str, Field)| match field {
            Field::Texts => "\"TEXT\" …".to_owned(),
            Field::Text | Field::Rest => format!("\"{}\"", name.to_uppercase()),
            Field::Parameters => "[KEY=VALUE …]".to_owned(),
            _ => name.to_uppercase(),
        };
        self.fields.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}
