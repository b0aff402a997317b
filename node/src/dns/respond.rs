//! One packet in, one reply out: a plain function of the view, the packet, who asks and a draw.

use std::net::IpAddr;

use hickory_server::proto::op::{OpCode, ResponseCode};
use hickory_server::proto::rr::{DNSClass, RecordType};
use waymark_core::answer::{self, Answer, Query};
use waymark_core::model::Name;
use waymark_core::routing::NoTrace;
use waymark_core::state::View;

use super::client_subnet::ClientSubnet;
use super::read::{Question, Received, read};
use super::write::{PAYLOAD_MAX, Reply, write};

/// What may always be sent over UDP (RFC 1035 §4.2.1).
const PLAIN_UDP_MAX: u16 = 512;

/// What a packet came over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Datagrams: replies are bounded by what the asker takes (DNS-8).
    Udp,
    /// A stream: replies are complete, as they are over all that follow.
    Tcp,
    /// TLS over TCP (RFC 7858).
    Tls,
    /// HTTPS (RFC 8484).
    Https,
    /// QUIC (RFC 9250).
    Quic,
}

/// What is to be done about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send what was written; its response code, of which the upper bits stand in OPT.
    Reply(u16),
    /// Say nothing.
    Drop,
}

/// Answers `packet`, which came over `transport` from `source`, out of `view`, and writes the reply into `out`, in place
/// of what is there. `draw` is 64 random bits.
pub fn respond(
    view: &View,
    packet: &[u8],
    transport: Transport,
    source: IpAddr,
    draw: u64,
    out: &mut Vec<u8>,
) -> Verdict {
    respond_with(packet, transport, out, |question, subnet| {
        let query = Query {
            name: Name::from_wire(question.name),
            record_type: answer::RecordType(question.query.query_type().into()),
            source,
            subnet: subnet.map(|subnet| subnet.network),
        };
        answer::decide(view, &query, draw, &mut NoTrace)
    })
}

/// [`respond()`] with any way to decide.
pub(super) fn respond_with(
    packet: &[u8],
    transport: Transport,
    out: &mut Vec<u8>,
    decide: impl FnOnce(&Question<'_>, Option<&ClientSubnet>) -> Answer,
) -> Verdict {
    let Some(received) = read(packet) else { return Verdict::Drop };
    let reply = match judge(&received) {
        Ok(question) => Reply::Answer(decide(question, received.subnet.as_ref())),
        Err(code) => Reply::Code(code),
    };
    let size_max = size_max(&received, transport);
    let written = write(&received, &reply, size_max, out).or_else(|error| {
        tracing::error!(%error, "an answer could not be encoded");
        write(&received, &Reply::Code(ResponseCode::ServFail), size_max, out)
    });
    written.map_or(Verdict::Drop, |code| Verdict::Reply(code.into()))
}

/// Is it a question that can be decided on, or what is it told instead? The first line that fits holds:
///
/// | what came                          | what it is told |
/// |------------------------------------|-----------------|
/// | an opcode other than QUERY         | NOTIMP          |
/// | malformed, or not one question     | FORMERR         |
/// | EDNS above version 0               | BADVERS         |
/// | a class other than IN              | REFUSED         |
/// | AXFR, IXFR                         | REFUSED         |
fn judge<'r, 'p>(received: &'r Received<'p>) -> Result<&'r Question<'p>, ResponseCode> {
    if received.metadata.op_code != OpCode::Query {
        return Err(ResponseCode::NotImp);
    }
    let question = received.question.as_ref().filter(|_| received.is_sound).ok_or(ResponseCode::FormErr)?;
    if received.edns.as_ref().is_some_and(|edns| edns.version() > 0) {
        return Err(ResponseCode::BADVERS);
    }
    let is_transfer = matches!(question.query.query_type(), RecordType::AXFR | RecordType::IXFR);
    if question.query.query_class() != DNSClass::IN || is_transfer {
        return Err(ResponseCode::Refused);
    }
    Ok(question)
}

/// The most bytes that the asker can be sent (DNS-8).
fn size_max(received: &Received<'_>, transport: Transport) -> u16 {
    match (transport, &received.edns) {
        (Transport::Udp, None) => PLAIN_UDP_MAX,
        (Transport::Udp, Some(edns)) => edns.max_payload().clamp(PLAIN_UDP_MAX, PAYLOAD_MAX),
        (Transport::Tcp | Transport::Tls | Transport::Https | Transport::Quic, _) => u16::MAX,
    }
}
