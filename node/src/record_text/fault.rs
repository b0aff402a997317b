//! What is wrong with a record's text: the field, the value and the rule.

use waymark_core::model::{RecordType, quote};

use super::layout::Layout;

/// Why a text is no data of its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// A `"` without its partner.
    #[error("has a quote that is not closed")]
    OpenQuote,
    /// A `\` that escapes nothing.
    #[error(
        "has a '\\' that escapes nothing; write \\DDD with three digits up to 255, or \\ and the character itself"
    )]
    Escape,
    /// A character that means something else in a zone file.
    #[error("has a '{0}' outside quotes, where it means something else; put the text into quotes")]
    Bare(char),
    /// More than one text without quotes: nobody knows whether one or several are meant.
    #[error(
        "has a blank outside quotes; write \"{0}\" with its quotes for one text, or put each of several into quotes"
    )]
    Blank(String),
    /// It ends too early.
    #[error("ends before its {field}; {record_type} data is written: {shape}")]
    Missing {
        /// The first field that is not there.
        field: &'static str,
        /// The type.
        record_type: RecordType,
        /// Its fields.
        shape: String,
    },
    /// It goes on too long.
    #[error("has {text} behind its last field; {record_type} data is written: {shape}")]
    Extra {
        /// What is too much.
        text: String,
        /// The type.
        record_type: RecordType,
        /// Its fields.
        shape: String,
    },
    /// One field does not hold what it must.
    #[error("{field}: {text} {rule}")]
    Field {
        /// The field.
        field: String,
        /// What it holds.
        text: String,
        /// What is wrong with it.
        rule: String,
    },
    /// A type whose fields are not known here.
    #[error(
        "{0} data is known here by its bytes alone; write it as \\# LENGTH HEX (RFC 3597), as in \\# 4 c0000201"
    )]
    Unknown(RecordType),
    /// Bytes that are not what `\#` promises.
    #[error("is not \\# LENGTH HEX: {0}")]
    Raw(String),
    /// Bytes that are no data of the type.
    #[error("has bytes that are no {record_type} data, which is: {shape}")]
    Malformed {
        /// The type.
        record_type: RecordType,
        /// Its fields.
        shape: String,
    },
}

impl RecordFault {
    /// `bytes`, the text of `field`, break `rule`.
    pub(super) fn field(field: impl Into<String>, bytes: &[u8], rule: impl Into<String>) -> Self {
        let text = quote(&String::from_utf8_lossy(bytes));
        Self::Field { field: field.into(), text, rule: rule.into() }
    }

    /// The data of `layout` ends before `field`.
    pub(super) fn missing(layout: &Layout, field: &'static str) -> Self {
        Self::Missing { field, record_type: layout.record_type, shape: layout.shape() }
    }
}
