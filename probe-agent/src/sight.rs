//! Whether an agent can see, by its canary targets (PRB-14). Pure: what each probe found comes in.
//!
//! ```text
//!                 every canary missed once                every canary missed twice in a row
//!   Clear ──────────────────────────────────▶ Doubtful ──────────────────────────────────────▶ Blind
//!     ▲                                        │   at the start                                   │
//!     └──────────── any canary seen ───────────┴──────────────────────────────────────────────────┘
//! ```

/// Misses of a canary in a row, at which it is held to be gone: the second, as one may be the canary's own matter.
const MISSES_MAX: u32 = 2;

/// How well an agent sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// At least one canary was there when it was last looked at, or there are none.
    Clear,
    /// None was, but it is too early to say so: what probes find meanwhile counts for nothing, and nothing is withdrawn.
    Doubtful,
    /// None was, time and again: the agent abstains.
    Blind,
}

/// What is known of each canary.
#[derive(Clone, Debug)]
pub struct Canaries(Vec<Known>);

#[derive(Clone, Copy, Debug)]
enum Known {
    /// Not looked at yet.
    Nothing,
    /// It was there.
    Seen,
    /// It was not, so many times in a row.
    Missed(u32),
}

impl Canaries {
    /// So many canaries, of which nothing is known.
    pub fn new(count: usize) -> Self {
        Self(vec![Known::Nothing; count])
    }

    /// The one at `place` was looked at.
    pub fn note(&mut self, place: usize, is_seen: bool) {
        if let Some(known) = self.0.get_mut(place) {
            *known = match (is_seen, *known) {
                (true, _) => Known::Seen,
                (false, Known::Missed(times)) => Known::Missed(times.saturating_add(1)),
                (false, _) => Known::Missed(1),
            };
        }
    }

    /// What follows, the first row that applies.
    ///
    /// | canaries | sight |
    /// |---|---|
    /// | none, or any that was seen when it was last looked at | Clear |
    /// | all missed twice or more in a row | Blind |
    /// | else | Doubtful |
    pub fn sight(&self) -> Sight {
        let is_gone = |known: &Known| matches!(known, Known::Missed(times) if *times >= MISSES_MAX);
        if self.0.is_empty() || self.0.iter().any(|known| matches!(known, Known::Seen)) {
            Sight::Clear
        } else if self.0.iter().all(is_gone) {
            Sight::Blind
        } else {
            Sight::Doubtful
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Sight::{Blind, Clear, Doubtful};

    #[test]
    fn prb_14_every_row_of_the_table() {
        assert_eq!(Canaries::new(0).sight(), Clear, "without canaries nothing changes");
        // Each letter is one look: at the first canary (a, seen A) or the second (b, seen B).
        for (looks, expected) in [
            ("", Doubtful),
            ("A", Clear),
            ("a", Doubtful),
            ("aa", Doubtful),
            ("ab", Doubtful),
            ("aab", Doubtful),
            ("aabb", Blind),
            ("aaB", Clear),
            ("aabbA", Clear),
            ("ABa", Clear),
            ("ABab", Doubtful),
            ("ABaabb", Blind),
            ("ABabA", Clear),
            ("aabbAa", Doubtful),
            ("aabbAaa", Blind),
        ] {
            let mut canaries = Canaries::new(2);
            for look in looks.chars() {
                canaries.note(usize::from(look.eq_ignore_ascii_case(&'b')), look.is_ascii_uppercase());
            }
            assert_eq!(canaries.sight(), expected, "{looks:?}");
        }
    }

    #[test]
    fn prb_14_a_lone_canary_is_enough_to_be_blind_by() {
        let mut canaries = Canaries::new(1);
        let mut look = |is_seen| {
            canaries.note(0, is_seen);
            canaries.sight()
        };
        assert_eq!([true, false, false, false, true].map(&mut look), [Clear, Doubtful, Blind, Blind, Clear]);
    }
}
