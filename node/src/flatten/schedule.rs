//! Which name is looked up when. Time comes in as an argument.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use waymark_core::model::Name;

use super::lookup::Lookup;

/// A name is looked up no sooner again, whatever its time to live says: a resolver is not to be flooded.
const AGAIN_MIN: Duration = Duration::from_secs(5);
/// And no later: who moves a name with a long time to live is noticed within this.
const AGAIN_MAX: Duration = Duration::from_secs(300);
/// Most names of one look: what is found is committed before the next ones are looked up.
const DUE_MAX: usize = 1_000;
/// When a name is looked up again that had no address, or about which somebody did not answer.
const RETRY: Duration = Duration::from_secs(10);

/// The names that are looked up, and when each is due.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    turns: BTreeMap<Name, Turn>,
}

#[derive(Debug)]
struct Turn {
    due: Instant,
    /// From when on it is due at once for an endpoint that lacks what others have.
    soonest: Instant,
    /// Was there something wrong the last time?
    is_troubled: bool,
}

impl Schedule {
    /// The names among `wanted` that are due at `now`, as a new one is, the longest due first. With each stands whether an
    /// endpoint lacks its addresses. Those that are not wanted any more are forgotten.
    pub(super) fn due<'a>(
        &mut self,
        wanted: impl Iterator<Item = (&'a Name, bool)>,
        now: Instant,
    ) -> Vec<Name> {
        let mut turns = BTreeMap::new();
        let mut due = Vec::new();
        for (name, is_lacking) in wanted {
            let new = Turn { due: now, soonest: now, is_troubled: false };
            let turn = self.turns.remove(name).unwrap_or(new);
            let since = if is_lacking { turn.due.min(turn.soonest) } else { turn.due };
            if since <= now {
                due.push((since, name));
            }
            turns.insert(name.clone(), turn);
        }
        self.turns = turns;
        due.sort_unstable();
        due.into_iter().take(DUE_MAX).map(|(_, name)| name.clone()).collect()
    }

    /// Notes that `name` was looked up, and tells the log if that went wrong or right again.
    pub(super) fn looked_up(&mut self, name: &Name, lookup: &Lookup, now: Instant) {
        let Some(turn) = self.turns.get_mut(name) else { return };
        let trouble = lookup.trouble();
        match &trouble {
            Some(reason) if !turn.is_troubled => {
                let name = name.to_string();
                tracing::warn!(
                    name,
                    reason,
                    "the name of a flattened profile cannot be resolved: its last addresses stay"
                );
            }
            None if turn.is_troubled => {
                tracing::info!(name = %name, "the name of a flattened profile is resolved again")
            }
            _ => {}
        }
        let lifetime = lookup.lifetime().filter(|_| trouble.is_none());
        turn.due = now + lifetime.map_or(RETRY, |lifetime| lifetime.clamp(AGAIN_MIN, AGAIN_MAX));
        turn.soonest = if trouble.is_some() { turn.due } else { now + AGAIN_MIN };
        turn.is_troubled = trouble.is_some();
    }
}

#[cfg(test)]
mod tests {
    use super::super::lookup::Found;
    use super::*;

    fn found(seconds: u64) -> Found {
        Found::Addresses(vec![[192, 0, 2, 1].into()], Duration::from_secs(seconds))
    }

    /// DNS-16: each name at once, then by its time to live within bounds.
    #[test]
    fn dns_16_names_are_looked_up_again_in_time() {
        let (name, start) = (Name::parse("www.example.net").unwrap(), Instant::now());
        let failure = || Found::Failure("late".into());
        for (v4, v6, seconds) in [
            (found(60), found(30), 30),
            (found(60), Found::Nothing, 60),
            (found(0), found(1), 5),
            (found(86_400), Found::Nothing, 300),
            (found(60), failure(), 10),
            (failure(), failure(), 10),
            (Found::Nothing, Found::Nothing, 10),
        ] {
            let mut schedule = Schedule::default();
            let mut due = |seconds: u64| {
                schedule.due([(&name, false)].into_iter(), start + Duration::from_secs(seconds)).len()
            };
            assert_eq!(due(0), 1, "a new name is due");
            let lookup = Lookup { v4, v6 };
            schedule.looked_up(&name, &lookup, start);
            let mut due = |seconds: u64| {
                schedule.due([(&name, false)].into_iter(), start + Duration::from_secs(seconds)).len()
            };
            assert_eq!((due(seconds - 1), due(seconds)), (0, 1), "{lookup:?}");
        }
    }

    #[test]
    fn dns_16_a_name_that_is_not_wanted_is_forgotten() {
        let (name, start) = (Name::parse("www.example.net").unwrap(), Instant::now());
        let mut schedule = Schedule::default();
        schedule.due([(&name, false)].into_iter(), start);
        schedule.looked_up(&name, &Lookup { v4: found(60), v6: Found::Nothing }, start);
        assert!(schedule.due([(&name, false)].into_iter(), start).is_empty());
        schedule.due([].into_iter(), start);
        assert!(schedule.turns.is_empty());
        assert_eq!(schedule.due([(&name, false)].into_iter(), start), [name], "it begins anew");
    }

    /// DNS-16: another endpoint with a name that is known does not wait for the name's turn.
    #[test]
    fn dns_16_an_endpoint_that_lacks_addresses_has_its_name_looked_up_soon() {
        let (name, start) = (Name::parse("www.example.net").unwrap(), Instant::now());
        let failure = Found::Failure("late".into());
        for (v6, seconds) in [(Found::Nothing, 5), (failure, 10)] {
            let mut schedule = Schedule::default();
            schedule.due([(&name, true)].into_iter(), start);
            schedule.looked_up(&name, &Lookup { v4: found(300), v6 }, start);
            let mut due = |seconds: u64| {
                schedule.due([(&name, true)].into_iter(), start + Duration::from_secs(seconds)).len()
            };
            assert_eq!((due(seconds - 1), due(seconds)), (0, 1));
        }
    }

    #[test]
    fn dns_16_of_very_many_names_the_longest_due_come_first() {
        let start = Instant::now();
        let names: Vec<Name> =
            (0..DUE_MAX + 1).map(|nth| Name::parse(&format!("n{nth}.example.net")).unwrap()).collect();
        let all = || names.iter().map(|name| (name, false));
        let mut schedule = Schedule::default();
        let first = schedule.due(all(), start);
        assert_eq!(first.len(), DUE_MAX);
        let lookup = Lookup { v4: found(5), v6: Found::Nothing };
        first.iter().for_each(|name| schedule.looked_up(name, &lookup, start));
        let second = schedule.due(all(), start + Duration::from_secs(5));
        let left: Vec<&Name> = names.iter().filter(|name| !first.contains(name)).collect();
        assert_eq!((left.len(), second.first()), (1, left.first().copied()));
    }
}
