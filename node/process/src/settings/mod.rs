//! Settings: from where each one comes, and every fault of all of them at once (OPS-2, VAL-1, VAL-3).

mod fault;
mod file;
mod read;
mod reader;

pub use fault::{Fault, Faults};
pub use read::{
    credentials, duration, host_and_port, listen, log_level, machine_name, member_url, network, place_name,
    resolver, text, word,
};
pub use reader::Reader;
