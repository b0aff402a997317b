//! The end of a tcp probe: the connection stands, so it is reset (PRB-6).

use tokio::net::TcpStream;
use waymark_core::health::{Outcome, OutcomeClass};

use super::report::Fault;

/// Resets the connection by dropping it: no state is left on either side, and the endpoint sees at once that nobody
/// will speak.
pub(super) fn reset(stream: TcpStream) -> Result<Outcome, Fault> {
    stream.set_zero_linger().map_err(|error| Fault::agent(format!("cannot reset a connection: {error}")))?;
    drop(stream);
    Ok(Outcome { class: OutcomeClass::Ok, status: None })
}
