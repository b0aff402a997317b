//! One packet in, one reply out: a plain function of the view, the settings, the packet, who asks, a draw and the time.

use std::net::IpAddr;

use hickory_server::proto::op::{OpCode, ResponseCode};
use hickory_server::proto::rr::{DNSClass, RecordType};
use waymark_core::answer::{self, Answer, Query};
use waymark_core::model::Name;
use waymark_core::routing::NoTrace;
use waymark_core::state::{CookieSecrets, View};

use super::client_subnet::ClientSubnet;
use super::cookie::Cookie;
use super::options::{self, Options};
use super::read::{Question, Received, read};
use super::write::{Bounds, PAYLOAD_MAX, Reply, write};
use crate::config::AnswerSettings;

/// What may always be sent over UDP (RFC 1035 §4.2.1).
pub(super) const PLAIN_UDP_MAX: u16 = 512;

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

/// A packet, how it came, and what else its reply depends on beside the view and the settings.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'p> {
    /// The packet.
    pub packet: &'p [u8],
    /// What it came over.
    pub transport: Transport,
    /// Where it came from.
    pub source: IpAddr,
    /// 64 random bits: all chance comes from them.
    pub draw: u64,
    /// Seconds since 1970, by which cookies age. They wrap in 2106.
    pub now_s: u32,
    /// How the member is.
    pub condition: Condition,
}

/// How a member is when a packet comes; what is usual by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Has it been cut off for longer than the operator wants to be answered from it (DNS-21)?
    pub is_stale: bool,
    /// Are places for connections scarce (DNS-14)?
    pub is_crowded: bool,
}

/// What is to be done about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send what was written.
    Reply {
        /// Its response code, of which the upper bits stand in OPT.
        code: u16,
        /// Has the asker shown by a cookie that it is where it says (DNS-11)?
        is_proven: bool,
        /// For how many seconds caches may use it; `None` for what answers nothing.
        fresh_s: Option<u32>,
    },
    /// Say nothing.
    Drop,
}

/// Answers what arrived out of `view`, as `settings` say, and writes the reply into `out`, in place of what is there.
pub fn respond(view: &View, settings: &AnswerSettings, arrival: &Arrival<'_>, out: &mut Vec<u8>) -> Verdict {
    respond_with(settings, &view.state.cookies, arrival, out, |question, subnet| {
        let query = Query {
            name: Name::from_wire(question.name),
            record_type: answer::RecordType(question.query.query_type().into()),
            source: arrival.source,
            subnet: subnet.map(|subnet| subnet.network),
        };
        answer::decide(view, &query, arrival.draw, &mut NoTrace)
    })
}

/// [`respond()`] with any way to decide.
pub(super) fn respond_with(
    settings: &AnswerSettings,
    secrets: &CookieSecrets,
    arrival: &Arrival<'_>,
    out: &mut Vec<u8>,
    decide: impl FnOnce(&Question<'_>, Option<&ClientSubnet>) -> Answer,
) -> Verdict {
    let Some(received) = read(arrival.packet) else { return Verdict::Drop };
    let judged = judge(&received, arrival);
    let reply = match judged {
        Judged::Decide(question) => Reply::Answer(decide(question, received.options.subnet.as_ref())),
        Judged::Stale => Reply::Code(ResponseCode::ServFail),
        Judged::Chaos(question) => chaos(question, settings),
        Judged::Nothing => Reply::Code(greet(&received, secrets, arrival)),
        Judged::Refuse(code) => Reply::Code(code),
    };
    let bounds = Bounds { transport: arrival.transport, size_max: size_max(&received, arrival.transport) };
    let mut options = match received.is_sound && received.options.suit(arrival.transport) {
        true => received.options.reply(arrival, settings, secrets),
        false => Vec::new(),
    };
    options.extend(matches!(judged, Judged::Stale).then(options::not_ready));
    let written = write(&received, &reply, &options, bounds, out).or_else(|error| {
        tracing::error!(%error, "an answer could not be encoded");
        write(&received, &Reply::Code(ResponseCode::ServFail), &[], bounds, out)
    });
    let is_proven = received.options.is_proven(secrets, arrival.source, arrival.now_s);
    let fresh_s = match &reply {
        Reply::Answer(answer) => answer.seconds_fresh(),
        _ => None,
    };
    written.map_or(Verdict::Drop, |code| Verdict::Reply { code: code.into(), is_proven, fresh_s })
}

/// The reply to a query whose network has had its share (DNS-19), no longer than the query: what is refused anyway is
/// refused; an asker with a cookie that is not ours, or not any more, gets BADCOOKIE and one that is; others get TC, so
/// that they come back over TCP.
pub(super) fn cut(
    settings: &AnswerSettings,
    secrets: &CookieSecrets,
    arrival: &Arrival<'_>,
    out: &mut Vec<u8>,
) -> Verdict {
    let Some(mut received) = read(arrival.packet) else { return Verdict::Drop };
    let refused = match judge(&received, arrival) {
        Judged::Refuse(code) => Some(code),
        _ => None,
    };
    let cookie =
        received.options.cookie.take().filter(|cookie| cookie.is_whole() && secrets.current.is_some());
    let cookie = cookie.filter(|_| refused.is_none());
    let reply = match refused {
        Some(code) => Reply::Code(code),
        None if cookie.is_some() => Reply::Code(ResponseCode::BADCOOKIE),
        None => Reply::Cut,
    };
    received.options = Options::only(cookie);
    let options = received.options.reply(arrival, settings, secrets);
    let bounds = Bounds { transport: arrival.transport, size_max: PLAIN_UDP_MAX };
    let written = write(&received, &reply, &options, bounds, out);
    written.map_or(Verdict::Drop, |code| Verdict::Reply {
        code: code.into(),
        is_proven: false,
        fresh_s: None,
    })
}

/// What is to be done with a query.
enum Judged<'r, 'p> {
    /// It is decided on.
    Decide(&'r Question<'p>),
    /// It would be decided on, but what is known here is too old (DNS-21).
    Stale,
    /// It asks about the member itself.
    Chaos(&'r Question<'p>),
    /// It asks nothing, to get a cookie.
    Nothing,
    /// It is told this.
    Refuse(ResponseCode),
}

/// The first line that fits holds:
///
/// | what came                                           | what it is told |
/// |-----------------------------------------------------|-----------------|
/// | an opcode other than QUERY                          | NOTIMP          |
/// | malformed, several questions, or none and no cookie | FORMERR         |
/// | EDNS above version 0                                | BADVERS         |
/// | no question                                         | [`greet`]       |
/// | class CH                                            | [`chaos`]       |
/// | a class other than IN                               | REFUSED         |
/// | AXFR, IXFR                                          | REFUSED         |
/// | anything else, while the member is stale            | SERVFAIL        |
/// | anything else                                       | decided on      |
fn judge<'r, 'p>(received: &'r Received<'p>, arrival: &Arrival<'_>) -> Judged<'r, 'p> {
    if received.metadata.op_code != OpCode::Query {
        return Judged::Refuse(ResponseCode::NotImp);
    }
    if !received.is_sound || !received.options.suit(arrival.transport) {
        return Judged::Refuse(ResponseCode::FormErr);
    }
    if received.edns.as_ref().is_some_and(|edns| edns.version() > 0) {
        return Judged::Refuse(ResponseCode::BADVERS);
    }
    let Some(question) = &received.question else {
        let has_cookie = received.asks_nothing && received.options.cookie.is_some();
        return if has_cookie { Judged::Nothing } else { Judged::Refuse(ResponseCode::FormErr) };
    };
    let is_transfer = matches!(question.query.query_type(), RecordType::AXFR | RecordType::IXFR);
    match question.query.query_class() {
        DNSClass::CH => Judged::Chaos(question),
        DNSClass::IN if !is_transfer && arrival.condition.is_stale => Judged::Stale,
        DNSClass::IN if !is_transfer => Judged::Decide(question),
        _ => Judged::Refuse(ResponseCode::Refused),
    }
}

/// What a query without a question is told, beside its cookie (RFC 7873 §5.4): whether the server's part that it has is
/// good.
fn greet(received: &Received<'_>, secrets: &CookieSecrets, arrival: &Arrival<'_>) -> ResponseCode {
    let has_server_part = received.options.cookie.as_ref().is_some_and(Cookie::has_server_part);
    let is_known = received.options.is_proven(secrets, arrival.source, arrival.now_s);
    if has_server_part && !is_known { ResponseCode::BADCOOKIE } else { ResponseCode::NoError }
}

/// What is told of the member itself (DNS-12): its name to `id.server` and `hostname.bind`, the operator's text to
/// `version.server` and `version.bind` (RFC 4892). Anything else is REFUSED.
fn chaos(question: &Question<'_>, settings: &AnswerSettings) -> Reply {
    let is_text = matches!(question.query.query_type(), RecordType::TXT | RecordType::ANY);
    let text = match question.name.to_ascii_lowercase().as_slice() {
        b"\x02id\x06server\0" | b"\x08hostname\x04bind\0" => Some(&settings.member),
        b"\x07version\x06server\0" | b"\x07version\x04bind\0" => settings.version_text.as_ref(),
        _ => None,
    };
    match text.filter(|text| is_text && !text.is_empty()) {
        Some(text) => Reply::Chaos(text.clone()),
        None => Reply::Code(ResponseCode::Refused),
    }
}

/// The most bytes that the asker can be sent (DNS-8).
fn size_max(received: &Received<'_>, transport: Transport) -> u16 {
    match (transport, &received.edns) {
        (Transport::Udp, None) => PLAIN_UDP_MAX,
        (Transport::Udp, Some(edns)) => edns.max_payload().clamp(PLAIN_UDP_MAX, PAYLOAD_MAX),
        (Transport::Tcp | Transport::Tls | Transport::Https | Transport::Quic, _) => u16::MAX,
    }
}
