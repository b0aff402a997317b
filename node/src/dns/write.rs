//! From an answer to bytes: hickory's encoder, the asker's letters kept, and nothing half said (DNS-3, DNS-8).

use hickory_server::proto::ProtoError;
use hickory_server::proto::op::{Edns, Message, OpCode, ResponseCode};
use hickory_server::proto::rr::rdata::opt::EdnsOption;
use hickory_server::proto::rr::rdata::{A, AAAA, CNAME, NS, NULL, SOA, TXT};
use hickory_server::proto::rr::{DNSClass, Name, RData, Record, RecordType};
use hickory_server::proto::serialize::binary::{BinDecodable, BinDecoder, BinEncodable, BinEncoder};
use waymark_core::answer::{self, Answer, Rcode, RecordData, Soa};
use waymark_core::model;

use super::read::{HEADER_LEN, Received};
use super::respond::Transport;

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
    /// Nothing but TC: come back over TCP.
    Cut,
    /// A text about the member itself, of at most 255 bytes.
    Chaos(String),
}

/// What a reply must keep to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// What it goes over.
    pub(super) transport: Transport,
    /// The most bytes, at least 512.
    pub(super) size_max: u16,
}

/// Writes `reply` to `received` with `options` into `out`, in place of what is there, within `bounds`. What does not fit
/// is cut down to question and OPT, with TC set. Returns the code that was written.
pub(super) fn write(
    received: &Received<'_>,
    reply: &Reply,
    options: &[EdnsOption],
    bounds: Bounds,
    out: &mut Vec<u8>,
) -> Result<ResponseCode, ProtoError> {
    let mut message = bare(received, options);
    match reply {
        Reply::Code(code) => message.metadata.response_code = *code,
        Reply::Answer(answer) => fill(&mut message, received, answer)?,
        Reply::Cut => message.metadata.truncation = true,
        Reply::Chaos(text) => tell(&mut message, text),
    }
    encode(&message, out)?;
    // The encoder's own bound would cut what fits: it wants room for each name before it compresses it.
    let is_cut = out.len() > bounds.size_max.into() || out.get(2).is_some_and(|flags| flags & TRUNCATED != 0);
    if is_cut {
        message = message.truncate();
        encode(&message, out)?;
    }
    if let Some((edns, padding)) =
        message.edns.as_mut().zip(received.options.padding(bounds.transport, out.len()))
    {
        edns.options_mut().insert(padding);
        encode(&message, out)?;
    }
    restore_letters(received, out);
    Ok(message.metadata.response_code)
}

fn encode(message: &Message, out: &mut Vec<u8>) -> Result<(), ProtoError> {
    out.clear();
    let mut encoder = BinEncoder::new(out);
    encoder.set_max_size(u16::MAX);
    message.emit(&mut encoder)
}

/// The encoder compresses only what is equal byte by byte, so the question goes through it in lower case, as all our
/// names are: the reply's layout does not depend on the asker's letters. They are put back here (DNS-3).
fn restore_letters(received: &Received<'_>, out: &mut [u8]) {
    if let Some(question) = &received.question
        && let Some(name) = out.get_mut(HEADER_LEN..HEADER_LEN + question.name.len())
    {
        name.copy_from_slice(question.name);
    }
}

/// A response with nothing in it but what is copied from the query, and the options.
fn bare(received: &Received<'_>, options: &[EdnsOption]) -> Message {
    let asked = &received.metadata;
    let mut message = Message::response(asked.id, asked.op_code);
    // What the flags mean under other opcodes is not known here, so none of them is copied.
    let is_query = asked.op_code == OpCode::Query;
    message.metadata.recursion_desired = is_query && asked.recursion_desired;
    message.metadata.checking_disabled = is_query && asked.checking_disabled;
    message.queries.extend(received.question.as_ref().map(|question| {
        let mut lowered = question.query.clone();
        lowered.set_name(question.query.name().to_lowercase());
        lowered
    }));
    message.edns = received.edns.as_ref().map(|asked| {
        let mut edns = Edns::new();
        edns.set_max_payload(PAYLOAD_MAX).set_dnssec_ok(asked.flags().dnssec_ok);
        options.iter().for_each(|option| edns.options_mut().insert(option.clone()));
        edns
    });
    message
}

fn fill(message: &mut Message, received: &Received<'_>, answer: &Answer) -> Result<(), ProtoError> {
    let records = |section: &[answer::Record]| -> Result<Vec<Record>, ProtoError> {
        section.iter().map(encodable).collect()
    };
    message.metadata.response_code = match answer.rcode {
        Rcode::NoError => ResponseCode::NoError,
        Rcode::NxDomain => ResponseCode::NXDomain,
        Rcode::Refused => ResponseCode::Refused,
    };
    message.metadata.authoritative = answer.authoritative;
    if let (Some(edns), Some(subnet), Some(scope)) =
        (&mut message.edns, &received.options.subnet, answer.scope)
    {
        edns.options_mut().insert(subnet.with_scope(scope));
    }
    message.answers = records(&answer.answers)?;
    message.authorities = records(&answer.authority)?;
    message.additionals = records(&answer.additional)?;
    Ok(())
}

/// One character-string of class CH under the asked name, not to be kept.
fn tell(message: &mut Message, text: &str) {
    message.metadata.authoritative = true;
    let owner = message.queries.first().map(|query| query.name().clone()).unwrap_or_default();
    let mut record = Record::from_rdata(owner, 0, RData::TXT(TXT::new(vec![text.to_owned()])));
    record.dns_class = DNSClass::CH;
    message.answers.push(record);
}

fn encodable(record: &answer::Record) -> Result<Record, ProtoError> {
    let data = match &record.data {
        RecordData::A(address) => RData::A(A(*address)),
        RecordData::Aaaa(address) => RData::AAAA(AAAA(*address)),
        RecordData::Cname(target) => RData::CNAME(CNAME(name(target)?)),
        RecordData::Ns(server) => RData::NS(NS(name(server)?)),
        RecordData::Soa(soa) => RData::SOA(start_of_authority(soa)?),
        RecordData::Opaque { record_type, data } => opaque(*record_type, data),
    };
    Ok(Record::from_rdata(name(&record.name)?, record.ttl, data))
}

/// Bytes under any type's number, as they are: never compressed (RFC 3597 §4).
fn opaque(record_type: model::RecordType, data: &[u8]) -> RData {
    let mut rdata = NULL::new();
    rdata.anything = data.to_vec();
    RData::Unknown { code: RecordType::from(record_type.0), rdata }
}

fn name(name: &model::Name) -> Result<Name, ProtoError> {
    Ok(Name::read(&mut BinDecoder::new(name.as_wire()))?)
}

fn start_of_authority(soa: &Soa) -> Result<SOA, ProtoError> {
    // The wire has 32 bits without a sign; hickory's type has one, and seconds above its range mean nothing (RFC 2181 §8).
    let seconds = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    Ok(SOA::new(
        name(&soa.primary)?,
        name(&soa.mailbox)?,
        soa.serial,
        seconds(soa.refresh),
        seconds(soa.retry),
        seconds(soa.expire),
        soa.minimum,
    ))
}
