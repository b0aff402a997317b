//! How much an agent may ask of a member, and how long either may keep the other waiting (SEC-6).

use std::time::Duration;

use crate::raft::TimerProfile;

/// Most streams that a member holds: five times the agents that a cluster is planned for, so that any one member can
/// take all of them while the others are down.
pub const STREAMS_MAX: usize = 1_000;

/// Most sessions that are opened on a member within a second. Each is a log entry: a crowd that returns at once is
/// spread, and an agent that reconnects in a loop cannot fill the log.
pub const OPENINGS_PER_SECOND_MAX: u64 = 100;

/// Most outcomes in one report; agents send no more.
pub const REPORT_OUTCOMES_MAX: usize = 512;

/// Most bytes of one message of an agent: 512 outcomes of 2 KiB, the longest that an agent writes.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Longest name or version in a Hello, in bytes; the cluster's own limits on names are lower.
pub const HELLO_TEXT_MAX: usize = 256;

/// Most outcomes and messages of one agent within a second, in the long run; twice as many at once, for what piled up
/// while no member could be reached. A processor core manages about 25,000 probes a second.
pub const OUTCOMES_PER_SECOND_MAX: u64 = 200_000;

/// Most outcomes of one stream that wait to be committed. At the limit the member reads no further until some are; if
/// they cannot be, it ends the stream, and the agent resends elsewhere.
pub const UNSETTLED_MAX: usize = 65_536;

/// Most outcomes, and most endpoints to expire, in one command: some 160 KiB in the log.
pub const BATCH_MAX: usize = 4_096;

/// Most checks, and most removals, in one assignment message.
pub const ASSIGNMENT_CHECKS_MAX: usize = 1_000;

/// Most bytes of checks in one assignment message: a few checks with the longest headers (some 70 KiB), or the usual
/// thousand.
pub const ASSIGNMENT_BYTES_MAX: usize = 256 << 10;

/// Messages to an agent that wait for the connection; what comes later is gathered instead.
pub const OUTGOING_MAX: usize = 2;

/// Recent outcomes that are kept of one agent and endpoint.
pub const RECENT_PER_ENDPOINT: usize = 16;

/// Recent outcomes that a member keeps in all, some 60 MiB. With many endpoints each keeps fewer.
pub const RECENT_MAX: usize = 524_288;

/// Agents whose recent outcomes are kept after their stream has ended.
pub const RECENT_AGENTS_MAX: usize = STREAMS_MAX;

/// Longest line of detail that is kept of an outcome, in bytes.
pub const DETAIL_BYTES_MAX: usize = 256;

/// The waits. Fixed in the product; tests shorten some of them.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// From the stream's beginning to its Hello.
    pub hello: Duration,
    /// From one message of the agent to the next, until the stream counts as dead (STA-5).
    pub silence: Duration,
    /// Without a leader, until agents are sent to other members (FAIL-4).
    pub leaderless: Duration,
    /// From one question to the leader to the next.
    pub leader_pause: Duration,
    /// From a proposal that failed to the next.
    pub retry_pause: Duration,
    /// For what is still to be committed when a stream ends.
    pub flush: Duration,
    /// Sessions that agents may open on one member in a second.
    pub openings_per_second: u64,
}

/// Shortest time without a leader until agents are sent away: a fast election is no reason to move.
const LEADERLESS_MIN: Duration = Duration::from_secs(5);

impl Waits {
    /// The waits on a member with these timers. An election may take twice its longest timeout, the second after a split
    /// vote (CLU-8): agents are not sent from one member without a leader to the next before it has had that time.
    pub(super) fn with(timers: TimerProfile) -> Self {
        let (_, longest) = timers.election();
        Self {
            hello: Duration::from_secs(5),
            silence: Duration::from_secs(15),
            leaderless: LEADERLESS_MIN.max(2 * longest),
            leader_pause: Duration::from_secs(1),
            retry_pause: Duration::from_millis(100),
            flush: Duration::from_secs(2),
            openings_per_second: OPENINGS_PER_SECOND_MAX,
        }
    }
}

#[cfg(test)]
impl Default for Waits {
    fn default() -> Self {
        Self::with(TimerProfile::Local)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fail_4_agents_stay_for_an_election_and_leave_before_they_would_be_lost() {
        let leaderless = [TimerProfile::Local, TimerProfile::Regional, TimerProfile::Global].map(|timers| {
            let waits = Waits::with(timers);
            assert!(waits.leaderless >= 2 * timers.election().1 && waits.leaderless < waits.silence);
            waits.leaderless.as_secs()
        });
        assert_eq!(leaderless, [5, 5, 12]);
    }
}
