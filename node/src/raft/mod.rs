//! Consensus: everything that knows openraft and sled is below here. The doors see four handles: [`Proposer`],
//! [`Membership`], [`Leases`] and the publication's reader.

mod leases;
mod membership;
mod proposer;

pub use leases::{HeldSession, Leases};
pub use membership::{ClusterStatus, MemberStatus, Membership, MembershipError, Role};
pub use proposer::{ProposeError, Proposed, Proposer};
