//! A cluster's own authority: its key and certificate in a directory, and the identities that it issues and takes back
//! (SEC-1). Nothing runs: whoever has the directory is the authority, and it is best kept offline.

mod authority;
mod described;
pub(crate) mod file;
mod issuing;
mod kept;
mod request;
#[cfg(test)]
mod tests;

pub use authority::{AUTHORITY, AUTHORITY_KEY, Authority, ISSUED, Issued, LIFETIME, PkiError, lifetime};
pub use described::{Described, Subject, describe, name_of};
pub use issuing::{Granted, Issuing, certificates_in};
pub use kept::Kept;
pub use request::{FreshKey, SigningRequest};
