//! One probe of one endpoint: from its check to what was found.

mod connect;
mod head;
mod http;
mod report;
mod tcp;
mod tls;

pub(crate) use connect::may_come_from_afar;
pub(crate) use report::Fault;
pub use report::{Certificate, ProbeReport};
pub use run::{Tools, run};

mod run;
