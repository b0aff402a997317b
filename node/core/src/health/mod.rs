//! From what one probe found to what the cluster concludes (spec §1.4).

mod check;
mod nested;
mod outcome;
mod status;
mod tallies;
mod tally;
mod verdict;

pub use check::Check;
pub use nested::{Availability, ByFamily, Count, nested_forced, nested_status};
pub use outcome::{Outcome, OutcomeClass};
pub use status::{EndpointHealth, EndpointStatus, Judgement, ProfileStatus, endpoint_status, profile_status};
pub use tallies::Tallies;
pub use tally::{Patience, Tally};
pub use verdict::{AgentVerdict, RegionalVerdict, Verdict, judge, regional_verdicts};
