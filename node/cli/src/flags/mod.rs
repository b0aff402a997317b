//! What single flags hold, and which field of the API each stands for.

pub(crate) mod duration;
mod fields;
mod parse;

pub(crate) use fields::{Mask, flag_of};
pub(crate) use parse::{coordinates, header, name_server, status_range, switch, ttl};
