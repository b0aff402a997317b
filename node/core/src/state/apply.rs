//! The only way in which the state changes.

use super::{Applied, Command, Context, Reply, State};

/// Carries `command` out on `state`: a pure function, so that every member comes to the same state.
pub fn apply(state: &State, _context: Context, _command: &Command) -> Applied {
    Applied { state: state.clone(), reply: Ok(Reply::default()), changes: Vec::new() }
}
