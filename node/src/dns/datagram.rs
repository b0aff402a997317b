//! One datagram in, one out: the fast way first, the complete one for the rest, and the limit on replies (DNS-19).

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use waymark_core::state::View;

use super::ahead::Ready;
use super::counters::{Counters, count_alone};
use super::draws::Draws;
use super::fast;
use super::prepared::Replies;
use super::rate::{Kind, Ruling};
use super::respond::{Arrival, Condition, Transport, Verdict, cut, respond};
use super::responder::{Answers, fail, now_s};

/// Of so many datagrams the sender of one is noted.
const NOTED_EVERY: u32 = 64;

/// When a batch of datagrams came: nobody needs to know better.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    now: Instant,
    now_s: u32,
    condition: Condition,
}

impl Moment {
    /// The present one, with how the member is that answers by `answers`.
    pub(super) fn now(answers: &Answers) -> Self {
        let condition = Condition { is_stale: answers.reader.is_stale(), is_crowded: false };
        Self { now: Instant::now(), now_s: now_s(), condition }
    }
}

/// Answers what comes to one socket. Nobody else counts in its counters.
#[derive(Debug)]
pub(super) struct Clerk {
    pub(super) answers: Answers,
    pub(super) counters: Arc<Counters>,
    draws: Draws,
    /// Datagrams until the next whose sender is noted.
    unnoted: u32,
    /// What was encoded once.
    pub(super) replies: Replies,
    /// What the complete way has written.
    written: Vec<u8>,
}

impl Clerk {
    /// One of so many, one for each socket.
    pub(super) fn one_among(clerks: usize, answers: Answers, counters: Arc<Counters>) -> Self {
        let (draws, replies) = (Draws::seeded(), Replies::of_one_among(clerks));
        Self { answers, counters, draws, unnoted: 0, replies, written: Vec::new() }
    }

    /// Writes the reply to `packet`, which is `ready` if it is of the usual kind, into `out`, which holds the largest that there is over UDP; its length, or `None` if it
    /// gets none.
    pub(super) fn answer(
        &mut self,
        view: &View,
        ready: Option<Ready<'_>>,
        packet: &[u8],
        source: IpAddr,
        moment: &Moment,
        out: &mut [u8],
    ) -> Option<usize> {
        count_alone(&self.counters.queries);
        self.note_some(source);
        let answered = AssertUnwindSafe(|| self.answer_trusting(view, ready, packet, source, moment, out));
        // A broken invariant behind one name must not take all other names off the network.
        catch_unwind(answered).unwrap_or_else(|_| self.give_up(packet, out))
    }

    /// One sender in so many is noted: who asks much is found by that as well.
    fn note_some(&mut self, source: IpAddr) {
        self.unnoted = match self.unnoted.checked_sub(1) {
            Some(left) => left,
            None => {
                self.answers.measurements.note_asker(source);
                NOTED_EVERY - 1
            }
        };
    }

    /// SERVFAIL, counted as others are; nothing for what has no header to answer by.
    fn give_up(&mut self, packet: &[u8], out: &mut [u8]) -> Option<usize> {
        let verdict = fail(packet, &mut self.written);
        let (code, _) = self.taken(verdict)?;
        self.counters.replies.get(usize::from(code)).map(count_alone);
        Some(self.hand_over(out))
    }

    fn answer_trusting(
        &mut self,
        view: &View,
        ready: Option<Ready<'_>>,
        packet: &[u8],
        source: IpAddr,
        moment: &Moment,
        out: &mut [u8],
    ) -> Option<usize> {
        let (transport, draw) = (Transport::Udp, self.draws.next());
        let Moment { now_s, condition, .. } = *moment;
        let arrival = Arrival { packet, transport, source, draw, now_s, condition };
        let ready = ready.filter(|_| !condition.is_stale);
        let quick = ready.and_then(|ready| self.respond_fast(view, ready, &arrival, out));
        let (length, code, is_proven) = match quick {
            Some(fast::Written { length, is_proven }) => (length, 0, is_proven),
            None => {
                let verdict = respond(view, &self.answers.settings, &arrival, &mut self.written);
                let (code, is_proven) = self.taken(verdict)?;
                (self.hand_over(out), code, is_proven)
            }
        };
        let limiter = self.answers.limiter.as_deref().filter(|_| !is_proven);
        let ruling = limiter.map(|limiter| limiter.rule(source, Kind::of(code, &out[..length]), moment.now));
        let (length, code) = match ruling {
            None | Some(Ruling::Send) => (length, code),
            Some(Ruling::Cut) => {
                count_alone(&self.counters.cuts);
                let verdict = cut(&self.answers.settings, &view.state.cookies, &arrival, &mut self.written);
                let (code, _) = self.taken(verdict)?;
                (self.hand_over(out), code)
            }
            Some(Ruling::Silence) => {
                count_alone(&self.counters.silences);
                return None;
            }
        };
        self.counters.replies.get(usize::from(code)).map(count_alone);
        Some(length)
    }

    fn respond_fast(
        &mut self,
        view: &View,
        (found, asked): Ready<'_>,
        arrival: &Arrival<'_>,
        out: &mut [u8],
    ) -> Option<fast::Written> {
        let source = self.replies.source(view, found, asked)?;
        fast::respond(view, source, asked, arrival, out)
    }

    fn taken(&self, verdict: Verdict) -> Option<(u16, bool)> {
        match verdict {
            Verdict::Reply { code, is_proven, .. } => Some((code, is_proven)),
            Verdict::Drop => {
                count_alone(&self.counters.drops);
                None
            }
        }
    }

    fn hand_over(&self, out: &mut [u8]) -> usize {
        let length = self.written.len();
        out[..length].copy_from_slice(&self.written);
        length
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::config::AnswerSettings;
    use crate::measurements::Measurements;
    use crate::publication::{no_tables, publication};

    /// DNS-13: when answering has failed, the asker is told so and it is counted, and no earlier reply goes out again.
    #[test]
    fn dns_13_giving_up_is_servfail_and_never_an_earlier_reply() {
        let (_publisher, reader) = publication(View::default(), no_tables());
        let mut clerk = Clerk::one_among(
            1,
            Answers::new(reader, AnswerSettings::default(), Measurements::default()),
            Arc::default(),
        );
        clerk.written = b"the reply to somebody else".to_vec();
        let mut out = [0xee; 64];
        assert_eq!(clerk.give_up(&[1, 2, 3], &mut out), None);
        assert!(out.iter().all(|byte| *byte == 0xee), "nothing is written");
        let query = [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        assert_eq!(clerk.give_up(&query, &mut out), Some(12));
        assert_eq!((&out[..2], out[3] & 0xf), (&query[..2], 2));
        let counted = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        assert_eq!((counted(&clerk.counters.drops), counted(&clerk.counters.replies[2])), (1, 1));
    }
}
