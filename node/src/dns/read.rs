//! From bytes to a query: hickory's decoder, and around it the checks that it does not make (DNS-9, DNS-13).

use hickory_server::proto::op::{Edns, Header, HeaderCounts, MessageType, Metadata, Query};
use hickory_server::proto::rr::{Name, Record, RecordType};
use hickory_server::proto::serialize::binary::{BinDecodable, BinDecoder, DecodeError};

use super::options::Options;

/// The length of a message's header (RFC 1035 §4.1.1).
pub(super) const HEADER_LEN: usize = 12;

/// Most entries in all sections together. A query has a question and perhaps OPT, TSIG, SIG(0) or IXFR's SOA; a long
/// list of names that point along a chain of pointers would only burn time.
const ENTRIES_MAX: usize = 8;

/// The DO flag among OPT's flags (RFC 3225).
const DNSSEC_OK: u16 = 0x8000;

/// A message that asks something, as far as it could be read.
#[derive(Debug)]
pub(super) struct Received<'p> {
    /// Identity, opcode and flags.
    pub(super) metadata: Metadata,
    /// The question, if there is exactly one and it is well formed.
    pub(super) question: Option<Question<'p>>,
    /// OPT's fixed part, if there is one in its place.
    pub(super) edns: Option<Edns>,
    /// What its options said, as far as they could be read.
    pub(super) options: Options,
    /// Is there no question at all?
    pub(super) asks_nothing: bool,
    /// Is everything well formed? That there is one question is looked at elsewhere.
    pub(super) is_sound: bool,
}

/// The question as it was asked.
#[derive(Debug)]
pub(super) struct Question<'p> {
    /// Name, type and class, in the asker's letters.
    pub(super) query: Query,
    /// The name's wire form, in the asker's letters.
    pub(super) name: &'p [u8],
}

/// Somewhere in the message something is wrong.
pub(super) struct Malformed;

impl From<DecodeError> for Malformed {
    fn from(_: DecodeError) -> Self {
        Self
    }
}

/// Reads `packet` as far as it goes. None for what must not be answered: less than a header, or a response.
pub(super) fn read(packet: &[u8]) -> Option<Received<'_>> {
    let mut decoder = BinDecoder::new(packet);
    let Header { metadata, counts } = Header::read(&mut decoder).ok()?;
    if metadata.message_type == MessageType::Response {
        return None;
    }
    let (question, edns, options) = (None, None, Options::default());
    let mut received =
        Received { metadata, question, edns, options, asks_nothing: counts.queries == 0, is_sound: false };
    received.is_sound = received.read_sections(&mut decoder, counts).is_ok();
    Some(received)
}

impl<'p> Received<'p> {
    /// Reads on even if there is not exactly one question: the reply shall have an OPT if the query has one.
    fn read_sections(&mut self, decoder: &mut BinDecoder<'p>, counts: HeaderCounts) -> Result<(), Malformed> {
        let HeaderCounts { queries, answers, authorities, additionals } = counts;
        let entries = [queries, answers, authorities, additionals].map(usize::from).iter().sum::<usize>();
        if entries > ENTRIES_MAX {
            return Err(Malformed);
        }
        for _ in 0..queries {
            let question = Question::read(decoder)?;
            self.question = (queries == 1).then_some(question);
        }
        for _ in 0..answers + authorities {
            self.read_record(decoder, false)?;
        }
        for _ in 0..additionals {
            self.read_record(decoder, true)?;
        }
        let is_whole = queries <= 1 && decoder.is_empty();
        if is_whole { Ok(()) } else { Err(Malformed) }
    }

    fn read_record(&mut self, decoder: &mut BinDecoder<'p>, is_additional: bool) -> Result<(), Malformed> {
        let start = u16::try_from(decoder.index()).map_err(|_| Malformed)?;
        let name = Name::read(decoder)?;
        if RecordType::read(decoder)? != RecordType::OPT {
            // Nothing in it concerns us, but it must be well formed.
            *decoder = decoder.clone(start);
            Record::read(decoder)?;
            return Ok(());
        }
        if !is_additional || !name.is_root() || self.edns.is_some() {
            return Err(Malformed);
        }
        self.read_edns(decoder)
    }

    /// Reads what follows OPT's type (RFC 6891 §6.1.2). Its fixed part is kept before the options are judged, because
    /// the reply to a bad option must have an OPT too (RFC 6891 §7).
    fn read_edns(&mut self, decoder: &mut BinDecoder<'p>) -> Result<(), Malformed> {
        let payload = decoder.read_u16()?.unverified();
        let _rcode_high = decoder.read_u8()?.unverified();
        let version = decoder.read_u8()?.unverified();
        let flags = decoder.read_u16()?.unverified();
        let length = decoder.read_u16()?.unverified();
        let mut edns = Edns::new();
        edns.set_max_payload(payload).set_version(version).set_dnssec_ok(flags & DNSSEC_OK != 0);
        self.edns = Some(edns);
        let options = decoder.read_slice(usize::from(length))?.unverified();
        // What a later version puts there is not ours to judge: it gets BADVERS.
        if version == 0 { self.options.read(options) } else { Ok(()) }
    }
}

impl<'p> Question<'p> {
    fn read(decoder: &mut BinDecoder<'p>) -> Result<Self, Malformed> {
        let start = decoder.index();
        let query = Query::read(decoder)?;
        let length = query.name().iter().map(|label| 1 + label.len()).sum::<usize>() + 1;
        let bytes = decoder.slice_from(start)?;
        // Nothing but the header precedes the first name, so a pointer in it points to no name.
        let is_plain = bytes.len() == length + 4;
        is_plain.then(|| Self { query, name: &bytes[..length] }).ok_or(Malformed)
    }
}
