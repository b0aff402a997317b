//! Asking before something is done that changes what DNS answers for good (CLI-6, STA-13).

use std::io::{BufRead, IsTerminal, Write};

use crate::failure::{Exit, Failure};

/// Goes on when `yes` was given or a person at a terminal says so; `what` completes "Remove …?".
pub(crate) fn removal(yes: bool, what: &str) -> Result<(), Failure> {
    let refusal = format!("{what} was not removed");
    consent(yes, &format!("Remove {what}? It answers DNS."), &refusal, "it answers DNS")
}

/// Goes on when `yes` was given or a person at a terminal says so to `question`; else `refusal`, for `why`.
pub(crate) fn consent(yes: bool, question: &str, refusal: &str, why: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let refuse = |why: &str| Err(Failure::new(Exit::NeedsYes, format!("{refusal}: {why}")));
    match asked(question) {
        Some(true) => Ok(()),
        Some(false) => refuse("you did not say yes"),
        None => refuse(&format!("{why}, and nobody can be asked here; add --yes")),
    }
}

/// Goes on when a person at a terminal says so to what the cluster refused: a drain of a profile's last endpoint.
pub(crate) fn last_endpoint(refused: Failure) -> Result<(), Failure> {
    let refuse =
        |why: &str| Err(Failure { message: format!("{}; {why}", refused.message), ..refused.clone() });
    match asked(&format!("{}. Drain all the same?", refused.message)) {
        Some(true) => Ok(()),
        Some(false) => refuse("you did not say yes"),
        None => refuse("nobody can be asked here; add --yes"),
    }
}

/// What a person answers; `None` where there is nobody.
fn asked(question: &str) -> Option<bool> {
    if !std::io::stdin().is_terminal() {
        return None;
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut reply = String::new();
    let read = std::io::stdin().lock().read_line(&mut reply);
    Some(read.is_ok() && matches!(reply.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
