//! From an answer to bytes: hickory's encoder, the asker's letters kept, and nothing half said (DNS-3, DNS-8).

use hickory_server::proto::ProtoError;
use hickory_server::proto::op::{Edns, Message, OpCode, ResponseCode};
use hickory_server::proto::rr::rdata::{A, AAAA, CNAME, NS, SOA};
use hickory_server::proto::rr::{Name, RData, Record};
use hickory_server::proto::serialize::binary::{BinDecodable, BinDecoder, BinEncodable, BinEncoder};
use waymark_core::answer::{self, Answer, Rcode, RecordData, Soa};
use waymark_core::model;

use super::read::Received;

/// What we say that we take over UDP, and the most that we send: it goes through any IPv6 path in one piece (RFC 9715).
pub(super) const PAYLOAD_MAX: u16 = 1232;

/// The TC flag in a header's third byte.
const TRUNCATED: u8 = 0x02;

/// What `received` is told.
pub(super) enum Reply {
    /// A code and nothing else.
    Code(ResponseCode),
    /// What was decided.
    Answer(Answer),
}

/// Writes `reply` to `received` into `out`, in place of what is there, in no more than `size_max` bytes (at least 512).
/// What does not fit is cut down to question and OPT, with TC set. Returns the code that was written.
pub(super) fn write(
    received: &Received<'_>,
    reply: &Reply,
    size_max: u16,
    out: &mut Vec<u8>,
) -> Result<ResponseCode, ProtoError> {
    let mut message = bare(received);
    match reply {
        Reply::Code(code) => message.metadata.response_code = *code,
        Reply::Answer(answer) => fill(&mut message, received, answer)?,
    }
    encode(&message, size_max, out)?;
    let is_cut = out.get(2).is_some_and(|flags| flags & TRUNCATED != 0);
    if is_cut {
        encode(&message.truncate(), size_max, out)?;
    }
    Ok(message.metadata.response_code)
}

fn encode(message: &Message, size_max: u16, out: &mut Vec<u8>) -> Result<(), ProtoError> {
    out.clear();
    let mut encoder = BinEncoder::new(out);
    encoder.set_max_size(size_max);
    message.emit(&mut encoder)
}

/// A response with nothing in it but what is copied from the query.
fn bare(received: &Received<'_>) -> Message {
    let asked = &received.metadata;
    let mut message = Message::response(asked.id, asked.op_code);
    // What the flags mean under other opcodes is not known here, so none of them is copied.
    let is_query = asked.op_code == OpCode::Query;
    message.metadata.recursion_desired = is_query && asked.recursion_desired;
    message.metadata.checking_disabled = is_query && asked.checking_disabled;
    message.queries.extend(received.question.as_ref().map(|question| question.query.clone()));
    message.edns = received.edns.as_ref().map(|asked| {
        let mut edns = Edns::new();
        edns.set_max_payload(PAYLOAD_MAX).set_dnssec_ok(asked.flags().dnssec_ok);
        edns
    });
    message
}

fn fill(message: &mut Message, received: &Received<'_>, answer: &Answer) -> Result<(), ProtoError> {
    let asked = received.question.as_ref().map_or(&[] as &[u8], |question| question.name);
    let records = |section: &[answer::Record]| -> Result<Vec<Record>, ProtoError> {
        section.iter().map(|record| encodable(record, asked)).collect()
    };
    message.metadata.response_code = match answer.rcode {
        Rcode::NoError => ResponseCode::NoError,
        Rcode::NxDomain => ResponseCode::NXDomain,
        Rcode::Refused => ResponseCode::Refused,
    };
    message.metadata.authoritative = answer.authoritative;
    if let (Some(edns), Some(subnet), Some(scope)) = (&mut message.edns, &received.subnet, answer.scope) {
        edns.options_mut().insert(subnet.with_scope(scope));
    }
    message.answers = records(&answer.answers)?;
    message.authorities = records(&answer.authority)?;
    message.additionals = records(&answer.additional)?;
    Ok(())
}

fn encodable(record: &answer::Record, asked: &[u8]) -> Result<Record, ProtoError> {
    let data = match &record.data {
        RecordData::A(address) => RData::A(A(*address)),
        RecordData::Aaaa(address) => RData::AAAA(AAAA(*address)),
        RecordData::Cname(target) => RData::CNAME(CNAME(name(target.as_wire())?)),
        RecordData::Ns(server) => RData::NS(NS(name(server.as_wire())?)),
        RecordData::Soa(soa) => RData::SOA(start_of_authority(soa)?),
    };
    Ok(Record::from_rdata(owner(&record.name, asked)?, record.ttl, data))
}

/// The owner's name, in the asker's letters where it is the asked name or an ancestor of it. The encoder compresses only
/// what is equal byte by byte, so this is what makes owners pointers into the question, whatever its case.
fn owner(owner: &model::Name, asked: &[u8]) -> Result<Name, ProtoError> {
    let wire = owner.as_wire();
    let tail = asked.len().checked_sub(wire.len()).and_then(|start| asked.get(start..)).unwrap_or_default();
    name(if tail.eq_ignore_ascii_case(wire) { tail } else { wire })
}

fn name(wire: &[u8]) -> Result<Name, ProtoError> {
    Ok(Name::read(&mut BinDecoder::new(wire))?)
}

fn start_of_authority(soa: &Soa) -> Result<SOA, ProtoError> {
    // The wire has 32 bits without a sign; hickory's type has one, and seconds above its range mean nothing (RFC 2181 §8).
    let seconds = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    Ok(SOA::new(
        name(soa.primary.as_wire())?,
        name(soa.mailbox.as_wire())?,
        soa.serial,
        seconds(soa.refresh),
        seconds(soa.retry),
        seconds(soa.expire),
        soa.minimum,
    ))
}
