//! The CLI against real members: every command that the manual shows, and the promises of its options.

mod audit;
mod geo;
mod history;
mod manual;
mod options;
mod overrides;
mod pki;
mod records;
mod routing;
mod terminal;
