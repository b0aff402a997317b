//! Asking before something that answers DNS is removed (CLI-6).

use std::io::{BufRead, IsTerminal, Write};

use crate::failure::{Exit, Failure};

/// Goes on when `yes` was given or a person at a terminal says so; `what` completes "Remove …?".
pub(crate) fn removal(yes: bool, what: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let refuse = |why: &str| Err(Failure::new(Exit::NeedsYes, format!("{what} was not removed: {why}")));
    if !std::io::stdin().is_terminal() {
        return refuse("it answers DNS, and nobody can be asked here; add --yes");
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "Remove {what}? It answers DNS. [y/N] ").and_then(|()| stderr.flush());
    let mut reply = String::new();
    let read = std::io::stdin().lock().read_line(&mut reply);
    match (read, reply.trim().to_ascii_lowercase().as_str()) {
        (Ok(_), "y" | "yes") => Ok(()),
        _ => refuse("you did not say yes"),
    }
}
