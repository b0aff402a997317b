//! The fast way from a datagram to its reply, for the queries that there are most of: parsed where it lies, decided on
//! without an allocation, written straight into the reply's place. Whatever is not of that kind is left to
//! [`super::respond()`], and where both answer, they answer the same bytes: the test `differential` holds them to it.
//!
//! | the query | |
//! |---|---|
//! | QUERY, one question of class IN, nothing behind it but one OPT of version 0 | else not here |
//! | for a profile's name: its addresses, or an alias that leads out of our zones | else not here |
//! | or nothing of the type, in one of few zones whose mailbox has no more in common with the primary than with the name | else not here |
//! | options: client subnet and cookie are answered, NSID is not here, others say nothing over UDP | |
//! | the reply fits | else not here: it is cut |

use std::sync::Arc;

use waymark_core::answer::{RecordType, decide_directly};
use waymark_core::model::{Name, Target, Zone};
use waymark_core::state::{Plan, View};

use super::client_subnet;
use super::cookie;
use super::options::Options;
use super::prepared::Prepared;
use super::read::HEADER_LEN;
use super::respond::{Arrival, PLAIN_UDP_MAX};
use super::write::PAYLOAD_MAX;

/// Most labels of a name that is looked at: the other way compresses names by their first 64 labels only, and no name of
/// ours comes near.
const LABELS_MAX: usize = 32;

/// Type and class behind a question's name.
const QUESTION_TAIL: usize = 4;
/// OPT up to its options.
const OPT_LEN: usize = 11;

/// Marks two bytes in a name's place that say where it goes on.
const POINTER: u16 = 0xc000;
/// The label in front of a zone's name that makes its usual mailbox.
const MAILBOX: &[u8] = b"\x0ahostmaster";

const QR_AND_OPCODE: u8 = 0xf8;
const RD: u8 = 0x01;
const CD: u8 = 0x10;
const QR_AND_AA: u8 = 0x84;
const DO: u8 = 0x80;
const CLASS_IN: [u8; 2] = [0, 1];
const TYPE_OPT: u8 = 41;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// How many bytes.
    pub(super) length: usize,
    /// Has the asker shown by a cookie that it is where it says (DNS-11)?
    pub(super) is_proven: bool,
}

/// What a query is answered out of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// What was encoded before.
    Prepared(&'a Prepared),
    /// A decision.
    Plan(&'a Arc<Plan>),
}

/// Writes the reply to what arrived, which was read into `asked`, out of `source`, which is its name's in `view`, into `out`;
/// `None` if that is not for here, and then `out` says nothing.
pub(super) fn respond(
    view: &View,
    source: Source<'_>,
    asked: &Asked,
    arrival: &Arrival<'_>,
    out: &mut [u8],
) -> Option<Written> {
    let secrets = &view.state.cookies;
    let subnet = asked.options.subnet.as_ref();
    let mut reply = Reply::new(out.get_mut(..asked.size_max)?);
    reply.begin(asked, arrival.packet)?;
    let scope = match source {
        Source::Prepared(prepared) => {
            let (records, answers) = prepared.drawn(arrival.draw)?;
            reply.put(records)?;
            reply.count(answers, prepared.authorities);
            prepared.takes_subnets.then_some(0)
        }
        Source::Plan(plan) => {
            let network = subnet.map(|subnet| subnet.network);
            let (name, record_type) = (asked.name(), asked.record_type);
            let direct =
                decide_directly(view, plan, name, record_type, arrival.source, network, arrival.draw)?;
            let mut answers = 0;
            for target in direct.targets() {
                reply.record(asked, target, direct.ttl)?;
                answers += 1;
            }
            if let Some(zone) = direct.authority {
                reply.start_of_authority(asked, zone, direct.ttl)?;
            }
            reply.count(answers, u8::from(direct.authority.is_some()));
            direct.scope
        }
    };
    if let Some(do_flag) = asked.edns {
        let cookie = asked.options.cookie.as_ref();
        let cookie = cookie.and_then(|cookie| cookie.for_next_time(secrets, arrival.source, arrival.now_s));
        let subnet = subnet.zip(scope).map(|(subnet, scope)| subnet.scoped(scope));
        reply.opt(
            do_flag,
            cookie.as_ref().map(|cookie| &cookie[..]),
            subnet.as_ref().map(|(data, length)| &data[..*length]),
        )?;
    }
    let is_proven = asked.options.is_proven(secrets, arrival.source, arrival.now_s);
    Some(Written { length: reply.length, is_proven })
}

/// A query of the usual kind. Made once and read into again and again: it is large.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The name in lower case.
    name: [u8; Name::WIRE_MAX],
    name_len: usize,
    /// Where its labels begin.
    labels: [u8; LABELS_MAX],
    label_count: usize,
    record_type: RecordType,
    /// OPT's DO flag, if there is an OPT.
    edns: Option<u8>,
    options: Options,
    size_max: usize,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            name: [0; Name::WIRE_MAX],
            name_len: 0,
            labels: [0; LABELS_MAX],
            label_count: 0,
            record_type: RecordType::A,
            edns: None,
            options: Options::default(),
            size_max: PLAIN_UDP_MAX.into(),
        }
    }
}

impl Asked {
    /// The name in lower case, on the wire.
    pub(super) fn name(&self) -> &[u8] {
        &self.name[..self.name_len]
    }

    /// The type that is asked for.
    pub(super) fn record_type(&self) -> RecordType {
        self.record_type
    }

    /// Reads `packet` in the place of what was read before; `None` if it is not for here, and then `self` says nothing.
    pub(super) fn read(&mut self, packet: &[u8]) -> Option<()> {
        let (header, body) = packet.split_first_chunk::<HEADER_LEN>()?;
        let [_, _, flags, _, 0, 1, 0, 0, 0, 0, 0, additionals @ (0 | 1)] = *header else { return None };
        if flags & QR_AND_OPCODE != 0 {
            return None;
        }
        self.read_name(body)?;
        let (tail, rest) = body.get(self.name_len..)?.split_first_chunk::<QUESTION_TAIL>()?;
        let [type_high, type_low, class @ ..] = *tail;
        self.record_type = RecordType(u16::from_be_bytes([type_high, type_low]));
        // Types from 128 to 255 ask for what is no record, such as transfers; DS is a matter of zones.
        let is_usual = !matches!(self.record_type.0, 128..=255 | 43);
        if class != CLASS_IN || !is_usual {
            return None;
        }
        (self.edns, self.options, self.size_max) = (None, Options::default(), PLAIN_UDP_MAX.into());
        match additionals {
            0 => rest.is_empty().then_some(()),
            _ => self.read_opt(rest),
        }
    }

    fn read_name(&mut self, body: &[u8]) -> Option<()> {
        let mut at = 0;
        self.label_count = 0;
        loop {
            let length = usize::from(*body.get(at)?);
            if length == 0 {
                break;
            }
            let end = at + 1 + length;
            // The root's byte comes behind.
            if length > Name::LABEL_MAX || end >= Name::WIRE_MAX || self.label_count == LABELS_MAX {
                return None;
            }
            let label = body.get(at..end)?;
            for (lowered, byte) in self.name[at..end].iter_mut().zip(label) {
                // A length is below any letter: lowering it changes nothing.
                *lowered = byte.to_ascii_lowercase();
            }
            self.labels[self.label_count] = u8::try_from(at).ok()?;
            self.label_count += 1;
            at = end;
        }
        self.name[at] = 0;
        self.name_len = at + 1;
        Some(())
    }

    fn read_opt(&mut self, record: &[u8]) -> Option<()> {
        let (fixed, options) = record.split_first_chunk::<OPT_LEN>()?;
        let [0, 0, TYPE_OPT, payload_high, payload_low, _, 0, flags, _, length_high, length_low] = *fixed
        else {
            return None;
        };
        if usize::from(u16::from_be_bytes([length_high, length_low])) != options.len() {
            return None;
        }
        self.options.read(options).ok()?;
        if !self.options.are_usual() {
            return None;
        }
        let payload = u16::from_be_bytes([payload_high, payload_low]);
        self.size_max = payload.clamp(PLAIN_UDP_MAX, PAYLOAD_MAX).into();
        self.edns = Some(flags & DO);
        Some(())
    }

    /// Where in a message the longest end of `name` stands that the question's name has too, and how much of `name` is in
    /// front of it.
    fn shared_end(&self, name: &[u8]) -> Option<(u16, usize)> {
        let own = self.name();
        let mut front = 0;
        loop {
            let rest = &name[front..];
            let length = *rest.first()?;
            if length == 0 {
                return None;
            }
            let at = own.len().checked_sub(rest.len()).filter(|at| own[*at..] == *rest);
            let starts_label =
                |at: &usize| self.labels[..self.label_count].iter().any(|label| usize::from(*label) == *at);
            if let Some(at) = at.filter(starts_label) {
                return Some(((HEADER_LEN + at) as u16, front));
            }
            front += 1 + usize::from(length);
        }
    }
}

/// The mailbox of a zone that names none, written into `room`; none where that would be too long.
fn usual_mailbox<'r>(zone: &[u8], room: &'r mut [u8; Name::WIRE_MAX]) -> Option<&'r [u8]> {
    let length = MAILBOX.len() + zone.len();
    let place = room.get_mut(..length)?;
    place[..MAILBOX.len()].copy_from_slice(MAILBOX);
    place[MAILBOX.len()..].copy_from_slice(zone);
    Some(place)
}

/// The ends of `name`, each with where it begins, but for the root.
fn ends(name: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let end = |at: usize| name.get(at..).filter(|end| end.first().is_some_and(|length| *length > 0));
    std::iter::successors(end(0).map(|end| (0, end)), move |(at, here)| {
        let next = at + 1 + usize::from(here[0]);
        Some((next, end(next)?))
    })
}

/// A reply in the making, within what the asker takes.
pub(super) struct Reply<'o> {
    out: &'o mut [u8],
    length: usize,
}

impl<'o> Reply<'o> {
    /// One that is written into `out`.
    pub(super) fn new(out: &'o mut [u8]) -> Self {
        Self { out, length: 0 }
    }

    /// How many bytes it has by now.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.length + bytes.len();
        self.out.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }

    /// Header and question; how many records follow is put in later.
    fn begin(&mut self, asked: &Asked, packet: &[u8]) -> Option<()> {
        let question_end = HEADER_LEN + asked.name_len + QUESTION_TAIL;
        self.put(&packet[..question_end])?;
        self.out[2] = QR_AND_AA | packet[2] & RD;
        self.out[3] = packet[3] & CD;
        self.out[11] = u8::from(asked.edns.is_some());
        Some(())
    }

    /// Puts in how many records the header is followed by.
    fn count(&mut self, answers: u8, authorities: u8) {
        (self.out[7], self.out[9]) = (answers, authorities);
    }

    /// A record under the question's name.
    pub(super) fn record(&mut self, asked: &Asked, target: &Target, ttl: u32) -> Option<()> {
        match target {
            Target::V4(address) => {
                self.head(RecordType::A, ttl, 4)?;
                self.put(&address.octets())
            }
            Target::V6(address) => {
                self.head(RecordType::AAAA, ttl, 16)?;
                self.put(&address.octets())
            }
            Target::Name(name) => {
                let name = name.as_wire();
                match asked.shared_end(name) {
                    Some((at, front)) => {
                        self.head(RecordType::CNAME, ttl, front as u16 + 2)?;
                        self.put(&name[..front])?;
                        self.put(&(POINTER | at).to_be_bytes())
                    }
                    None => {
                        self.head(RecordType::CNAME, ttl, name.len() as u16)?;
                        self.put(name)
                    }
                }
            }
        }
    }

    /// The SOA of `zone`, in which the question's name lies, compressed as the other way does: by the longest end that stands
    /// in the question. Where the mailbox has more in common with the primary than with the question, the other way knows a
    /// shorter form, and this is none for here.
    pub(super) fn start_of_authority(&mut self, asked: &Asked, zone: &Zone, ttl: u32) -> Option<()> {
        let primary = zone.name_servers.first().map_or(&zone.name, |server| &server.name).as_wire();
        let own = zone.name.as_wire();
        let (zone_at, 0) = asked.shared_end(own)? else { return None };
        self.put(&(POINTER | zone_at).to_be_bytes())?;
        self.put(&[0, RecordType::SOA.0 as u8, 0, 1])?;
        self.put(&ttl.to_be_bytes())?;
        let length_at = self.length;
        self.put(&[0, 0])?;
        self.name(asked, primary)?;
        let mut room = [0; Name::WIRE_MAX];
        let mailbox = match &zone.mailbox {
            Some(mailbox) => mailbox.as_wire(),
            None => usual_mailbox(own, &mut room)?,
        };
        let front = asked.shared_end(mailbox).map_or(mailbox.len(), |(_, front)| front);
        if ends(mailbox).take_while(|(at, _)| *at < front).any(|(_, end)| primary.ends_with(end)) {
            return None;
        }
        self.name(asked, mailbox)?;
        let timers = &zone.timers;
        for number in [zone.serial(), timers.refresh, timers.retry, timers.expire, timers.negative_ttl] {
            self.put(&number.to_be_bytes())?;
        }
        let length = (self.length - length_at - 2) as u16;
        self.out[length_at..length_at + 2].copy_from_slice(&length.to_be_bytes());
        Some(())
    }

    /// A name, up to the end that stands in the question.
    fn name(&mut self, asked: &Asked, name: &[u8]) -> Option<()> {
        match asked.shared_end(name) {
            Some((at, front)) => {
                self.put(&name[..front])?;
                self.put(&(POINTER | at).to_be_bytes())
            }
            None => self.put(name),
        }
    }

    fn head(&mut self, record_type: RecordType, ttl: u32, length: u16) -> Option<()> {
        let mut head = [0xc0, HEADER_LEN as u8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        head[2..4].copy_from_slice(&record_type.0.to_be_bytes());
        head[6..10].copy_from_slice(&ttl.to_be_bytes());
        head[10..].copy_from_slice(&length.to_be_bytes());
        self.put(&head)
    }

    fn opt(&mut self, do_flag: u8, cookie: Option<&[u8]>, subnet: Option<&[u8]>) -> Option<()> {
        let options = [(cookie::CODE, cookie), (client_subnet::CODE, subnet)];
        let options = options.iter().filter_map(|(code, data)| Some((*code, (*data)?)));
        let length: usize = options.clone().map(|(_, data)| 4 + data.len()).sum();
        let [payload_high, payload_low] = PAYLOAD_MAX.to_be_bytes();
        self.put(&[0, 0, TYPE_OPT, payload_high, payload_low, 0, 0, do_flag, 0, 0, length as u8])?;
        for (code, data) in options {
            self.put(&[0, code as u8, 0, data.len() as u8])?;
            self.put(data)?;
        }
        Some(())
    }
}
