//! What one listener needs in order to answer: the view, its draws, its counters and room for a reply.

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::counters::{Counters, count};
use super::draws::Draws;
use super::rate::Limiter;
use super::read::HEADER_LEN;
use super::respond::{Arrival, Condition, Transport, Verdict, respond};
use crate::clock;
use crate::config::AnswerSettings;
use crate::measurements::Measurements;
use crate::publication::Reader;

/// SERVFAIL and QR in a header's flags.
const SERVER_FAILURE: u16 = 0x8002;
/// Opcode and RD in a header's flags.
const COPIED: u16 = 0x7900;

/// What every listener of a member answers by; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    pub(super) reader: Reader,
    pub(super) settings: Arc<AnswerSettings>,
    /// Nothing if the operator wants no limit.
    pub(super) limiter: Option<Arc<Limiter>>,
    /// Where it is told how far those are who ask.
    pub(super) measurements: Measurements,
}

impl Answers {
    /// Answers from the latest view of `reader`, as `settings` say.
    pub(super) fn new(reader: Reader, settings: AnswerSettings, measurements: Measurements) -> Self {
        let limiter = Limiter::new(&settings.rate_limit).map(Arc::new);
        Self { reader, settings: Arc::new(settings), limiter, measurements }
    }

    /// A responder that counts in `counters`.
    pub(super) fn responder(&self, counters: Arc<Counters>) -> Responder {
        Responder { answers: self.clone(), draws: Draws::seeded(), counters, out: Vec::new() }
    }
}

/// Answers messages that came over a connection, one after the other.
#[derive(Debug)]
pub(super) struct Responder {
    answers: Answers,
    draws: Draws,
    counters: Arc<Counters>,
    out: Vec<u8>,
}

impl Responder {
    /// The reply to `packet`, if it gets one, and for how many seconds caches may use it; `is_crowded` tells whether connections are scarce. Each packet is answered from
    /// the view of its moment (DNS-23).
    pub(super) fn answer(
        &mut self,
        packet: &[u8],
        transport: Transport,
        source: IpAddr,
        is_crowded: bool,
    ) -> Option<(&[u8], Option<u32>)> {
        count(&self.counters.queries);
        let condition = Condition { is_stale: self.answers.reader.is_stale(), is_crowded };
        let draw = self.draws.next();
        let arrival = Arrival { packet, transport, source, draw, now_s: now_s(), condition };
        let Answers { reader, settings, .. } = &self.answers;
        let (view, out) = (reader.peek(), &mut self.out);
        // A broken invariant behind one name must not take all other names off the network.
        let verdict = catch_unwind(AssertUnwindSafe(|| respond(&view, settings, &arrival, out)))
            .unwrap_or_else(|_| fail(packet, &mut self.out));
        match verdict {
            Verdict::Reply { code, fresh_s, .. } => {
                self.counters.replies.get(usize::from(code)).map(count);
                Some((&self.out, fresh_s))
            }
            Verdict::Drop => {
                count(&self.counters.drops);
                None
            }
        }
    }
}

/// Seconds since 1970; they wrap, as those of cookies do.
pub(super) fn now_s() -> u32 {
    (clock::now().0 / 1_000) as u32
}

/// SERVFAIL made of nothing but the header: the way out when answering has panicked.
pub(super) fn fail(packet: &[u8], out: &mut Vec<u8>) -> Verdict {
    tracing::error!("answering a query failed on a broken invariant; it is told SERVFAIL");
    let Some((&[id_high, id_low, flags_high, _], _)) = packet.split_first_chunk::<4>() else {
        return Verdict::Drop;
    };
    let flags = SERVER_FAILURE | (u16::from(flags_high) << 8 & COPIED);
    out.clear();
    out.extend([id_high, id_low]);
    out.extend(flags.to_be_bytes());
    out.resize(HEADER_LEN, 0);
    Verdict::Reply { code: SERVER_FAILURE & 0xf, is_proven: false, fresh_s: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dns_13_a_failure_is_told_and_not_passed_over_in_silence() {
        let query = [0x12, 0x34, 0x79, 0xff, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1];
        let mut out = b"half of an answer".to_vec();
        assert_eq!(fail(&query, &mut out), Verdict::Reply { code: 2, is_proven: false, fresh_s: None });
        assert_eq!(out, [0x12, 0x34, 0xf9, 0x02, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
