//! What the door for resolvers does, packet by packet and over real sockets.

mod answers;
mod fuzz;
mod malformed;
mod packets;
mod sockets;
mod subnet;
mod tcp;
mod udp;
mod zone;
