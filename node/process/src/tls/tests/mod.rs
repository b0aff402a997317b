//! Handshakes over real sockets, between good and bad certificates.

mod certificates;
mod files;
mod rotation;
mod stage;
