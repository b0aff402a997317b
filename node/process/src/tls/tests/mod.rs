//! Handshakes over real sockets, between good and bad certificates.

mod certificates;
mod files;
mod newcomers;
mod rotation;
mod stage;
