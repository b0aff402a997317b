//! What the door for resolvers does, packet by packet and over real sockets.

mod answers;
mod certificates;
mod corpus;
mod differential;
mod fuzz;
mod https;
mod malformed;
mod options;
mod packets;
mod prepared;
mod quic;
mod records;
mod sockets;
mod streams;
mod subnet;
mod tcp;
mod tls;
mod udp;
mod zone;
