//! The counts on one endpoint, by agent.

use std::ops::Index;

use super::Tally;
use crate::model::Caseless;

/// Each agent's count on one endpoint, in the order of the agents' names.
///
/// A list and no tree: an endpoint has a handful of agents, and with a persistent map's nodes the counts of 300,000
/// endpoints weigh five times as much.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tallies(Vec<(Caseless, Tally)>);

impl Tallies {
    /// The count of `agent`.
    pub fn get(&self, agent: &Caseless) -> Option<&Tally> {
        self.place(agent).ok().map(|place| &self.0[place].1)
    }

    /// Has `agent` counted anything?
    pub fn contains_key(&self, agent: &Caseless) -> bool {
        self.place(agent).is_ok()
    }

    /// Puts the count of `agent` in the place of its last one, which is returned.
    pub fn insert(&mut self, agent: Caseless, tally: Tally) -> Option<Tally> {
        match self.place(&agent) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, tally)),
            Err(place) => {
                self.0.reserve_exact(1);
                self.0.insert(place, (agent, tally));
                None
            }
        }
    }

    /// Takes the count of `agent` out.
    pub fn remove(&mut self, agent: &Caseless) -> Option<Tally> {
        self.place(agent).ok().map(|place| self.0.remove(place).1)
    }

    /// All of them, in the order of the agents' names.
    pub fn iter(&self) -> impl Iterator<Item = (&Caseless, &Tally)> {
        self.0.iter().map(|(agent, tally)| (agent, tally))
    }

    /// How many agents have counted anything?
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Has no agent counted anything?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, agent: &Caseless) -> Result<usize, usize> {
        self.0.binary_search_by(|(name, _)| name.cmp(agent))
    }
}

impl Index<&Caseless> for Tallies {
    type Output = Tally;

    /// The count of an agent that is known to have one.
    fn index(&self, agent: &Caseless) -> &Tally {
        self.get(agent).expect("the agent has counted something")
    }
}

impl FromIterator<(Caseless, Tally)> for Tallies {
    fn from_iter<I: IntoIterator<Item = (Caseless, Tally)>>(counts: I) -> Self {
        let mut tallies = Self::default();
        for (agent, tally) in counts {
            tallies.insert(agent, tally);
        }
        tallies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{Outcome, OutcomeClass};
    use crate::model::AgentRun;

    fn tally(sequence: u64) -> Tally {
        let last = Outcome { class: OutcomeClass::Ok, status: None };
        Tally { failures: 0, successes: 0, verdict: None, run: AgentRun(1), sequence, last }
    }

    #[test]
    fn sta_1_one_count_for_each_agent_without_case() {
        let mut tallies: Tallies = [("b", 1), ("C", 2), ("a", 3), ("B", 4)]
            .map(|(name, n)| (Caseless::new(name), tally(n)))
            .into_iter()
            .collect();
        let told: Vec<_> = tallies.iter().map(|(name, tally)| (name.as_str(), tally.sequence)).collect();
        assert_eq!(told, [("a", 3), ("b", 4), ("C", 2)]);
        assert_eq!(tallies.get(&"c".into()), Some(&tally(2)));
        assert_eq!(tallies[&"C".into()], tally(2));
        assert_eq!(tallies.insert("A".into(), tally(9)), Some(tally(3)));
        assert_eq!(tallies.remove(&"b".into()), Some(tally(4)));
        assert_eq!(tallies.remove(&"b".into()), None);
        assert!(tallies.contains_key(&"a".into()) && !tallies.contains_key(&"b".into()));
        assert_eq!((tallies.len(), tallies.is_empty(), Tallies::default().is_empty()), (2, false, true));
    }
}
