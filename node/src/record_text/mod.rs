//! The data of static records as operators write it, and as it stands on the wire (DNS-17): a zone file's notation (RFC
//! 1035 §5.1) for the types in the table of `layout`, and `\# LENGTH HEX` for any (RFC 3597 §5).
//!
//! ```text
//! text ─▶ tokens ─▶ read, by the type's layout ─▶ bytes ─▶ show, by the same layout ─▶ text
//! ```
//!
//! One table serves both directions, and what is shown is read again before it is believed, so that whatever is listed can
//! be set again as it is. Names are whole, with or without the final dot: nothing is ever put behind them.

mod fault;
mod layout;
mod parameters;
mod read;
mod show;
#[cfg(test)]
mod tests;
mod tokens;

pub use fault::RecordFault;
pub use read::read;
pub use show::show;
