//! The leader's table of agents' sessions: when each was last named by a member. Time comes in as an argument.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use waymark_core::model::{Caseless, Revision};

use super::HeldSession;

/// A session that nobody has named for this long is lost (STA-5).
pub(super) const SILENCE: Duration = Duration::from_secs(15);
/// A gap between two looks beyond which this process, not the agents, must have been away: paused or starved. Longer
/// than a proposal may take, which comes between two looks.
const ABSENCE: Duration = Duration::from_secs(8);

/// The table of one leadership. A new leader, and one that was away, starts all timers afresh.
#[derive(Debug, Default)]
pub(super) struct Lessor {
    term: u64,
    looked: Option<Instant>,
    named: HashMap<Caseless, (Revision, Instant)>,
}

impl Lessor {
    /// A member holds `sessions` at `now`.
    pub(super) fn name(&mut self, sessions: &[HeldSession], now: Instant) {
        for HeldSession { agent, session } in sessions {
            if let Some((known, at)) = self.named.get_mut(agent).filter(|(known, _)| known == session) {
                (*known, *at) = (*session, now);
            }
        }
    }

    /// The sessions among `alive`, those of all agents that are not lost, that have fallen silent by `now`, this member
    /// leading in `term`. To be called every second or so.
    pub(super) fn look(
        &mut self,
        term: u64,
        alive: impl Iterator<Item = HeldSession>,
        now: Instant,
    ) -> Vec<HeldSession> {
        let was_away = self.looked.is_some_and(|before| now.duration_since(before) > ABSENCE);
        if term != self.term || was_away {
            self.named.clear();
        }
        (self.term, self.looked) = (term, Some(now));
        let mut named = HashMap::new();
        let mut silent = Vec::new();
        for held in alive {
            let known = self.named.get(&held.agent).filter(|(session, _)| *session == held.session);
            let since = known.map_or(now, |(_, at)| *at);
            named.insert(held.agent.clone(), (held.session, since));
            if now.duration_since(since) >= SILENCE {
                silent.push(held);
            }
        }
        self.named = named;
        silent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn held(agent: &str, session: u64) -> HeldSession {
        HeldSession { agent: Caseless::new(agent), session: Revision(session) }
    }

    /// Looks every second from `from` to `to` (seconds) and returns when something fell silent first.
    fn first_silence(
        lessor: &mut Lessor,
        start: Instant,
        (from, to): (u32, u32),
        alive: &[HeldSession],
    ) -> Option<(u32, Vec<HeldSession>)> {
        (from..=to).find_map(|second| {
            let silent = lessor.look(1, alive.iter().cloned(), start + second * SECOND);
            (!silent.is_empty()).then_some((second, silent))
        })
    }

    #[test]
    fn sta_5_a_session_that_nobody_names_is_silent_after_15_s_and_one_that_is_named_is_not() {
        let (mut lessor, start) = (Lessor::default(), Instant::now());
        let alive = [held("quiet", 3), held("busy", 4)];
        assert_eq!(first_silence(&mut lessor, start, (0, 8), &alive), None);
        lessor.name(&[held("busy", 4)], start + 8 * SECOND);
        assert_eq!(first_silence(&mut lessor, start, (9, 20), &alive), Some((15, vec![held("quiet", 3)])));
    }

    #[test]
    fn sta_5_naming_an_older_session_keeps_nobody_alive() {
        let (mut lessor, start) = (Lessor::default(), Instant::now());
        let alive = [held("agent", 7)];
        assert_eq!(first_silence(&mut lessor, start, (0, 10), &alive), None);
        lessor.name(&[held("agent", 6)], start + 10 * SECOND);
        assert_eq!(first_silence(&mut lessor, start, (11, 20), &alive), Some((15, alive.to_vec())));
    }

    #[test]
    fn sta_5_a_new_session_has_its_own_time() {
        let (mut lessor, start) = (Lessor::default(), Instant::now());
        assert_eq!(first_silence(&mut lessor, start, (0, 10), &[held("agent", 7)]), None);
        let alive = [held("agent", 9)];
        assert_eq!(first_silence(&mut lessor, start, (11, 40), &alive), Some((26, alive.to_vec())));
    }

    #[test]
    fn sta_5_a_new_leader_starts_its_timers_afresh() {
        let (mut lessor, start) = (Lessor::default(), Instant::now());
        let alive = [held("agent", 7)];
        assert_eq!(first_silence(&mut lessor, start, (0, 14), &alive), None);
        assert_eq!(lessor.look(2, alive.iter().cloned(), start + 15 * SECOND), []);
        assert_eq!(lessor.look(2, alive.iter().cloned(), start + 18 * SECOND), []);
    }

    #[test]
    fn sta_5_a_leader_that_was_paused_blames_no_agent() {
        let (mut lessor, start) = (Lessor::default(), Instant::now());
        let alive = [held("agent", 7)];
        assert_eq!(first_silence(&mut lessor, start, (0, 2), &alive), None);
        assert_eq!(first_silence(&mut lessor, start, (60, 74), &alive), None);
        assert_eq!(first_silence(&mut lessor, start, (75, 75), &alive), Some((75, alive.to_vec())));
    }
}
