//! A resolver's view of a member: one query, one reply.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::str::FromStr;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, OpCode, Query};
use hickory_proto::rr::{Name, RecordType};

/// How long a reply may take: far beyond what a healthy member needs, so that a miss is a loss.
const PATIENCE: Duration = Duration::from_secs(2);

static NEXT_ID: AtomicU16 = AtomicU16::new(1);

/// The packet that asks for `name` and `kind`, and its id.
///
/// # Panics
/// When `name` or `kind` is none.
pub fn packet(name: &str, kind: &str) -> (u16, Vec<u8>) {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let mut message = Message::new(id, MessageType::Query, OpCode::Query);
    let name = Name::from_str(name).expect("a domain name");
    message.add_query(Query::query(name, RecordType::from_str(kind).expect("a record type")));
    (id, message.to_vec().expect("a query can be encoded"))
}

/// What a receiver that waited in vain is told: the system's own word for it says nothing to a person.
fn no_reply(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => "no reply".to_owned(),
        _ => format!("no reply: {error}"),
    }
}

/// Sends `packet` from an address of its own and takes the reply, whatever is in it.
pub fn exchange(member: SocketAddr, packet: &[u8]) -> Result<Vec<u8>, String> {
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
    socket.send_to(packet, member).map_err(|error| error.to_string())?;
    let mut reply = vec![0; 4096];
    let length = socket.recv(&mut reply).map_err(|error| no_reply(&error))?;
    reply.truncate(length);
    Ok(reply)
}

/// The same over TCP, with a connection of its own.
pub fn exchange_tcp(member: SocketAddr, packet: &[u8]) -> Result<Vec<u8>, String> {
    let exchange = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(member)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let length = u16::try_from(packet.len()).expect("a query is short");
        stream.write_all(&[&length.to_be_bytes()[..], packet].concat())?;
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        let mut reply = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut reply)?;
        Ok(reply)
    };
    exchange().map_err(|error| no_reply(&error))
}

/// Asks over UDP.
pub fn ask(member: SocketAddr, name: &str, kind: &str) -> Result<Message, String> {
    let (id, packet) = packet(name, kind);
    let message = Message::from_vec(&exchange(member, &packet)?).map_err(|error| error.to_string())?;
    if message.metadata.id == id { Ok(message) } else { Err("a reply with another id".into()) }
}

/// Asks for `name`'s A record with a client subnet (IPv4, RFC 7871); returns the answer's data in the order of the answer
/// and the scope, if the reply has one.
///
/// # Panics
/// When `subnet` is no IPv4 network, as in `198.51.100.0/24`.
pub fn ask_from(member: SocketAddr, name: &str, subnet: &str) -> Result<(Vec<String>, Option<u8>), String> {
    let (address, prefix) = subnet.split_once('/').expect("an address and a prefix length");
    let address: std::net::Ipv4Addr = address.parse().expect("an IPv4 address");
    let prefix: u8 = prefix.parse().expect("a prefix length");
    let mut option = vec![0, 1, prefix, 0];
    option.extend(&address.octets()[..usize::from(prefix).div_ceil(8)]);
    let (_, mut packet) = packet(name, "A");
    // One record in the additional section: OPT with the one option.
    packet[11] = 1;
    packet.extend([0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, option.len() as u8 + 4, 0, 8, 0, option.len() as u8]);
    packet.extend(&option);
    let reply = exchange(member, &packet)?;
    let message = Message::from_vec(&reply).map_err(|error| error.to_string())?;
    let data = message.answers.iter().map(|record| record.data.to_string()).collect();
    // The option comes back as it was sent, but for the scope in its fourth byte.
    let echo = [&[0, 8, 0, option.len() as u8], &option[..3]].concat();
    let at = reply.windows(echo.len()).rposition(|bytes| bytes == echo.as_slice());
    Ok((data, at.map(|at| reply[at + echo.len()])))
}

/// Asks over TCP.
pub fn ask_tcp(member: SocketAddr, name: &str, kind: &str) -> Result<Message, String> {
    let (_, packet) = packet(name, kind);
    let reply = exchange_tcp(member, &packet)?;
    Message::from_vec(&reply).map_err(|error| error.to_string())
}

/// The data of the answer section as `dig +short` shows it, or the response code where there is none.
pub fn short(member: SocketAddr, name: &str, kind: &str) -> String {
    match ask(member, name, kind) {
        Err(error) => error,
        Ok(message) if message.answers.is_empty() => format!("{:?}", message.metadata.response_code),
        Ok(message) => {
            let data: Vec<String> = message.answers.iter().map(|record| record.data.to_string()).collect();
            data.join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_member_that_is_silent_gives_no_reply_and_no_more_words() {
        let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(super::short(silent.local_addr().unwrap(), "web.waymark.test", "A"), "no reply");
    }
}
