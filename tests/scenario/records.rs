//! Static records: as bytes, which the core knows alone, or as a name or an address, to be read with ease.

use anyhow::{Context, Result, bail};
use waymark_core::model::{Name, RecordType};
use waymark_core::state::Action;

use crate::arguments::Arguments;
use crate::perform::if_revision;

/// Reads `record set ZONE NAME TYPE …` and `record delete ZONE NAME TYPE`.
pub(crate) fn record(arguments: &mut Arguments) -> Result<Action> {
    let verb = arguments.next("what to do")?;
    let (zone, relative_name) = (arguments.next("the zone")?, arguments.next("the name")?);
    let record_type: RecordType = arguments.next("the type")?.parse()?;
    let if_revision = if_revision(arguments)?;
    match verb.as_str() {
        "set" => {
            let ttl = arguments.number("ttl")?.unwrap_or(300);
            let words = arguments.rest();
            let data = words.iter().map(|word| Ok(read(record_type, word)?.into())).collect::<Result<_>>()?;
            Ok(Action::SetRecords { zone, relative_name, record_type, ttl, data, if_revision })
        }
        "delete" => Ok(Action::DeleteRecords { zone, relative_name, record_type, if_revision }),
        _ => bail!("records cannot be told to '{verb}'"),
    }
}

/// An address, an alias's target, or bytes in hexadecimal digits.
fn read(record_type: RecordType, word: &str) -> Result<Vec<u8>> {
    match record_type {
        RecordType::A => Ok(word.parse::<std::net::Ipv4Addr>()?.octets().to_vec()),
        RecordType::AAAA => Ok(word.parse::<std::net::Ipv6Addr>()?.octets().to_vec()),
        RecordType::CNAME => Ok(Name::parse(word)?.as_wire().to_vec()),
        _ => {
            let digit = |at| word.get(at..at + 2).context("an odd number of digits");
            let byte = |at| Ok(u8::from_str_radix(digit(at)?, 16)?);
            (0..word.len()).step_by(2).map(byte).collect()
        }
    }
}
