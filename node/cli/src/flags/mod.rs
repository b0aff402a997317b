//! What single flags hold, and which field of the API each stands for.

pub(crate) mod duration;
mod fields;
mod moment;
mod parse;

pub(crate) use fields::{Mask, field_of, flag_of};
pub(crate) use moment::{Moment, moment};
pub(crate) use parse::{
    SecretHeaders, Share, coordinates, header, name_server, number, revision, share, status_range, switch,
    ttl,
};
