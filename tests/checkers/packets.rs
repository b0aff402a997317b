//! Queries made by hand, bit by bit, and replies as far as the checkers look at them.

use std::net::SocketAddr;

use harness::dns::{exchange, exchange_tcp};
use hickory_proto::op::Message;
use hickory_proto::rr::Record;

pub(crate) const A: u16 = 1;
pub(crate) const IN: u16 = 1;

pub(crate) const QR: u16 = 0x8000;
pub(crate) const AA: u16 = 0x0400;
pub(crate) const TC: u16 = 0x0200;
pub(crate) const RD: u16 = 0x0100;
pub(crate) const RA: u16 = 0x0080;
pub(crate) const Z: u16 = 0x0040;
pub(crate) const AD: u16 = 0x0020;
pub(crate) const CD: u16 = 0x0010;
/// In OPT's flags.
pub(crate) const DO: u16 = 0x8000;

/// What every query here is known by: nobody else asks on its socket.
const ID: u16 = 0x5741;

/// A query, by its parts.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) name: String,
    pub(crate) kind: u16,
    pub(crate) class: u16,
    pub(crate) flags: u16,
    pub(crate) opt: Option<Opt>,
}

/// OPT in a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opt {
    pub(crate) size: u16,
    pub(crate) version: u8,
    pub(crate) flags: u16,
    pub(crate) options: &'static [u8],
}

/// An OPT that says nothing out of the ordinary.
pub(crate) const PLAIN_OPT: Opt = Opt { size: 1_232, version: 0, flags: 0, options: &[] };

impl Query {
    /// A query of class IN without flags and without OPT.
    pub(crate) fn new(name: &str, kind: u16) -> Self {
        Self { name: name.to_owned(), kind, class: IN, flags: 0, opt: None }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let words = [ID, self.flags, 1, 0, 0, u16::from(self.opt.is_some())];
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u16::to_be_bytes).collect();
        bytes.extend(self.question());
        if let Some(opt) = &self.opt {
            let length = u16::try_from(opt.options.len()).expect("options are few");
            bytes.extend([0, 0, 41]);
            bytes.extend(opt.size.to_be_bytes());
            bytes.extend([0, opt.version]);
            bytes.extend([opt.flags, length].into_iter().flat_map(u16::to_be_bytes));
            bytes.extend(opt.options);
        }
        bytes
    }

    /// The question's name, type and class.
    pub(crate) fn question(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for label in self.name.split('.').filter(|label| !label.is_empty()) {
            bytes.push(u8::try_from(label.len()).expect("a label is short"));
            bytes.extend(label.bytes());
        }
        bytes.push(0);
        bytes.extend([self.kind, self.class].into_iter().flat_map(u16::to_be_bytes));
        bytes
    }

    /// The reply over UDP or TCP.
    pub(crate) fn ask(&self, server: SocketAddr, over_tcp: bool) -> Result<Reply, String> {
        let bytes = self.bytes();
        let reply = if over_tcp { exchange_tcp(server, &bytes) } else { exchange(server, &bytes) };
        Reply::read(reply?)
    }
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) bytes: Vec<u8>,
    pub(crate) message: Message,
}

impl Reply {
    fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let message = Message::from_vec(&bytes).map_err(|error| format!("{error}: {bytes:02x?}"))?;
        if message.metadata.id == ID { Ok(Self { bytes, message }) } else { Err("another id".to_owned()) }
    }

    /// The header's flags, without opcode and response code.
    pub(crate) fn flags(&self) -> u16 {
        u16::from_be_bytes([self.bytes[2], self.bytes[3]]) & !0x780f
    }

    /// The response code, OPT's part included.
    pub(crate) fn code(&self) -> u16 {
        self.message.metadata.response_code.into()
    }

    /// How many records stand in answer, authority and additional, OPT included.
    pub(crate) fn counts(&self) -> [u16; 3] {
        [6, 8, 10].map(|at| u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]))
    }

    /// OPT's size, version and flags.
    pub(crate) fn opt(&self) -> Option<(u16, u8, u16)> {
        let edns = self.message.edns.as_ref()?;
        let flags = u16::from(edns.flags().dnssec_ok) << 15 | edns.flags().z;
        Some((edns.max_payload(), edns.version(), flags))
    }

    /// The codes of OPT's options.
    pub(crate) fn options(&self) -> Vec<u16> {
        let edns = self.message.edns.iter();
        edns.flat_map(|edns| edns.options().as_ref()).map(|(code, _)| (*code).into()).collect()
    }
}

/// A section as sorted lines in lower case: owner, time to live, class, type, data.
pub(crate) fn lines(section: &[Record]) -> Vec<String> {
    let mut lines: Vec<String> = section.iter().map(|record| record.to_string().to_lowercase()).collect();
    lines.sort();
    lines
}
