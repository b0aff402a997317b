//! The simulated cluster: a log, the leader that applies each entry as it is proposed, and a member that comes behind.

use std::collections::BTreeMap;
use std::fmt;

use waymark_core::model::{LogIndex, Timestamp};
use waymark_core::state::{Action, Applied, AuditNote, Command, CommandId, Context, State, View, apply};

use crate::brake::Departures;
use crate::invariants;
use crate::naive::Naive;
use crate::operators;
use crate::probing::Fleet;
use harness::chance::Chance;

/// How often everything is looked at, and not only what an entry may have changed.
const ALL_EVERY: u64 = 512;
/// The longest log that the member behind may have to catch up on.
const LAG_MAX: usize = 400;
/// One entry of so many is for the audit trail: hashes take time, at each restart those of all entries.
const NOTED: u64 = 100;

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(BTreeMap<&'static str, u64>);

impl Seen {
    pub(crate) fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    /// A run in which something never happened proves nothing of it.
    pub(crate) fn must_have_seen_everything(&self, steps: u64) {
        const WANTED: [&str; 17] = [
            "accepted",
            "refused",
            "status events",
            "duplicates",
            "late reports",
            "lost agents",
            "expiries",
            "restarts",
            "snapshots",
            "clock steps",
            "changes of sight",
            "forgotten agents",
            "answers",
            "audit entries",
            "departures under a brake",
            "held endpoints",
            "released endpoints",
        ];
        for what in WANTED {
            assert!(steps < 10_000 || self.0.contains_key(what), "no {what} in {steps} steps: {self}");
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (what, count)) in self.0.iter().enumerate() {
            write!(f, "{}{count} {what}", if place > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// A member's state and the view that it answers from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Member {
    pub(crate) state: State,
    pub(crate) view: View,
}

impl Member {
    fn take(&mut self, applied: &Applied, index: LogIndex) {
        self.state = applied.state.clone();
        self.view = self.view.after(self.state.clone(), &applied.changes, index);
    }
}

/// The whole of it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) chance: Chance,
    pub(crate) leader: Member,
    pub(crate) naive: Naive,
    pub(crate) seen: Seen,
    fleet: Fleet,
    /// The time by the leader's clock, which may jump.
    clock: u64,
    index: u64,
    behind: Member,
    /// What the member behind has not applied yet.
    log: std::collections::VecDeque<(Context, Command)>,
    events: invariants::Chains,
    departures: Departures,
    steps: u64,
}

impl World {
    pub(crate) fn new(chance: Chance) -> Self {
        let mut world = Self {
            chance,
            leader: Member::default(),
            naive: Naive::default(),
            seen: Seen::default(),
            fleet: Fleet::new(),
            clock: 1_800_000_000_000,
            index: 0,
            behind: Member::default(),
            log: Default::default(),
            events: Default::default(),
            departures: Default::default(),
            steps: 0,
        };
        for action in operators::beginning() {
            world.commit(action);
        }
        world
    }

    /// One thing happens.
    pub(crate) fn step(&mut self) {
        self.steps += 1;
        self.pass_time();
        let action = match self.chance.below(100) {
            0 if self.chance.one_in(4) => Some(operators::release(&mut self.chance, &self.leader.state)),
            0..=9 => Some(operators::wish(&mut self.chance, &self.leader.state)),
            _ => self.fleet.act(&mut self.chance, &self.leader, self.clock, &mut self.seen),
        };
        if let Some(action) = action {
            self.commit(action);
        }
        self.follow();
        if self.steps.is_multiple_of(ALL_EVERY) {
            self.look_at_everything();
        }
    }

    /// A command that nobody in their right mind would propose.
    pub(crate) fn nonsense(&mut self) {
        let action = operators::nonsense(&mut self.chance, &self.leader.state);
        self.commit(action);
        self.follow();
    }

    /// The last looks.
    pub(crate) fn finish(mut self) -> Seen {
        self.catch_up(usize::MAX);
        self.look_at_everything();
        self.seen
    }

    fn pass_time(&mut self) {
        self.clock += self.chance.below(2_000);
        // A new leader's clock, or one that was set: times in the log are for people, and may go back.
        if self.chance.one_in(500) {
            self.clock = self.clock.saturating_add_signed(self.chance.below(7_200_000) as i64 - 3_600_000);
            self.seen.count("clock steps");
        }
    }

    fn commit(&mut self, action: Action) {
        self.index += 1;
        let context = Context { index: LogIndex(self.index), at: Timestamp(self.clock) };
        let id = self.chance.one_in(8).then(|| CommandId(u128::from(self.chance.below(64))));
        let note =
            self.chance.one_in(NOTED).then(|| AuditNote::new("192.0.2.1:50000", "wish", "something", ""));
        let command = Command { id, author: "operator".into(), note, action };
        let before = self.leader.state.clone();
        let is_retry = command.id.is_some_and(|id| before.remembered.contains_key(&id));
        let applied = apply(&before, context, &command);
        self.seen.count(if applied.reply.is_ok() { "accepted" } else { "refused" });
        invariants::an_entry_is_all_or_nothing(&before, &applied, is_retry);
        invariants::a_retry_is_answered_as_before(&before, &applied, &command);
        if invariants::the_trail_tells_of_what_is_noted(&before, &applied, &command) {
            self.seen.count("audit entries");
        }
        if !is_retry {
            invariants::strangers_change_nothing(&before, &applied, &command.action);
            self.naive.take(&command.action, &before, &applied.state);
        }
        let events = self.events.follow(&before, &applied.state, &command.action);
        (0..events).for_each(|_| self.seen.count("status events"));
        if !is_retry {
            self.departures.follow(&before, &applied.state, &command.action, &mut self.seen);
        }
        self.leader.take(&applied, LogIndex(self.index));
        for id in invariants::touched(&self.leader.state, &applied.changes) {
            invariants::profile_is_as_reckoned(&self.naive, &self.leader.state, id);
        }
        self.log.push_back((context, command));
    }

    /// The member behind applies some entries, starts again from what is on its disk, or gets a snapshot.
    fn follow(&mut self) {
        match self.chance.below(200) {
            0 => self.catch_up(usize::MAX),
            1 => {
                self.behind = invariants::restarted(&self.behind, self.behind.view.applied);
                self.seen.count("restarts");
            }
            2 => {
                self.behind = invariants::restarted(&self.leader, LogIndex(self.index));
                self.log.clear();
                self.seen.count("snapshots");
            }
            3..=9 => {
                let some = self.chance.below(40) as usize;
                self.catch_up(some);
            }
            _ if self.log.len() > LAG_MAX => self.catch_up(LAG_MAX),
            _ => {}
        }
    }

    fn catch_up(&mut self, most: usize) {
        for _ in 0..most.min(self.log.len()) {
            let Some((context, command)) = self.log.pop_front() else { break };
            let applied = apply(&self.behind.state, context, &command);
            self.behind.take(&applied, context.index);
        }
        if self.log.is_empty() {
            invariants::members_agree(&self.leader, &self.behind);
        }
    }

    fn look_at_everything(&mut self) {
        for id in self.leader.state.profiles.keys() {
            invariants::profile_is_as_reckoned(&self.naive, &self.leader.state, *id);
        }
        let rebuilt = View::of(self.leader.state.clone(), LogIndex(self.index));
        for _ in 0..64 {
            let (query, draw) = operators::question(&mut self.chance, &self.leader.state);
            invariants::answers_agree(&self.leader.view, &rebuilt, &query, draw);
            invariants::a_working_profile_answers(&self.leader, &query, draw);
            self.seen.count("answers");
        }
    }
}
