//! What crosses a wire or reaches a disk: the generated messages, and their conversions into core's types and back.

pub mod convert;
pub mod status;

pub use convert::Malformed;

/// Longest answer of the operators' API, in bytes: members send no longer one, and clients take it. One profile with 200
/// endpoints of 8 headers of 4 KiB takes 7 MiB: what could be stored piece by piece must be readable as a whole.
pub const RESPONSE_BYTES_MAX: usize = 16 << 20;

/// The operators' API.
#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    unreachable_pub,
    reason = "generated from the .proto files, which are documented"
)]
pub mod admin {
    /// Version 1.
    pub mod v1 {
        tonic::include_proto!("waymark.admin.v1");
    }
}

/// Agent ⇄ member.
#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    unreachable_pub,
    reason = "generated from the .proto files, which are documented"
)]
pub mod agent {
    /// Version 1.
    pub mod v1 {
        tonic::include_proto!("waymark.agent.v1");
    }
}

/// Member ⇄ member.
#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    unreachable_pub,
    reason = "generated from the .proto files, which are documented"
)]
pub mod peer {
    /// Version 1.
    pub mod v1 {
        tonic::include_proto!("waymark.peer.v1");
    }
}

/// On disk.
#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    unreachable_pub,
    reason = "generated from the .proto files, which are documented"
)]
pub mod storage {
    /// Version 1.
    pub mod v1 {
        tonic::include_proto!("waymark.storage.v1");
    }
}

#[expect(clippy::too_many_lines, reason = "written by the build, a row for each method")]
mod methods {
    include!(concat!(env!("OUT_DIR"), "/methods.rs"));
}
pub use methods::Method;

/// Descriptors of every message and service, for server reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
