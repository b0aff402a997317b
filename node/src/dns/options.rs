//! The options of EDNS: what a query's say, and what stands in the reply (RFC 6891 §6.1.2).
//!
//! | option | in the query | in the reply |
//! |---|---|---|
//! | client subnet (8, RFC 7871) | once, well formed | the same with the answer's scope, if the zone takes them |
//! | cookie (10, RFC 7873) | well formed; the first counts | client's and server's part, once the cluster has a secret |
//! | NSID (3, RFC 5001) | any data | the member's name |
//! | keep-alive (11, RFC 7828) | over TCP and TLS no data, or a time that is not looked at; over QUIC it ends the connection (RFC 9250); elsewhere ignored | how long an idle connection lasts; 0 while places are scarce |
//! | extended error (15, RFC 8914) | – | 14, not ready, with the SERVFAIL of a member that is cut off |
//! | padding (12, RFC 7830) | any data | over encrypted transports so many zeros that the reply's length tells little |
//! | others | lengths add up | – |

use std::net::IpAddr;

use hickory_server::proto::rr::rdata::opt::EdnsOption;
use hickory_server::proto::serialize::binary::BinDecoder;
use waymark_core::state::CookieSecrets;

use super::client_subnet::{self, ClientSubnet};
use super::cookie::{self, Cookie};
use super::places::Limits;
use super::read::Malformed;
use super::respond::{Arrival, Transport};
use crate::config::AnswerSettings;

const NSID: u16 = 3;
const KEEP_ALIVE: u16 = 11;
const PADDING: u16 = 12;
const EXTENDED_ERROR: u16 = 15;

/// Replies that are padded have a length that is a multiple of this (RFC 8467 §4.1).
const PADDED_TO: usize = 468;
/// Code and length of an option.
const OPTION_HEAD: usize = 4;
/// How long an idle connection lasts, in keep-alive's unit of 100 ms.
const IDLE_UNITS: u16 = (Limits::IDLE_MAX.as_millis() / 100) as u16;

/// Why a stale member answers nothing (DNS-21): INFO-CODE 14, "Not Ready", which servers of either kind may say. "Stale
/// Answer" (3) goes with an answer, and there is none (RFC 8914 §4.4, §4.15).
pub(super) fn not_ready() -> EdnsOption {
    let text = b"cut off from the cluster";
    EdnsOption::Unknown(EXTENDED_ERROR, [&14_u16.to_be_bytes(), &text[..]].concat())
}

/// Asks the client to close the connection once it has its answers: others need the place (RFC 7828).
const CLOSE_SOON: u16 = 0;

/// What the options of a query said.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) subnet: Option<ClientSubnet>,
    pub(super) cookie: Option<Cookie>,
    wants_nsid: bool,
    wants_padding: bool,
    /// How many bytes of data keep-alive came with.
    keep_alive: Option<usize>,
}

impl Options {
    /// A cookie and nothing else.
    pub(super) fn only(cookie: Option<Cookie>) -> Self {
        Self { cookie, ..Self::default() }
    }

    /// Reads the options that are known here into `self`, and checks that the lengths of all of them add up.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut decoder = BinDecoder::new(bytes);
        while !decoder.is_empty() {
            let code = decoder.read_u16()?.unverified();
            let length = decoder.read_u16()?.unverified();
            let data = decoder.read_slice(usize::from(length))?.unverified();
            match code {
                client_subnet::CODE => {
                    let is_first = self.subnet.is_none();
                    self.subnet = Some(ClientSubnet::read(data).filter(|_| is_first).ok_or(Malformed)?);
                }
                cookie::CODE if self.cookie.is_none() => {
                    self.cookie = Some(Cookie::read(data).ok_or(Malformed)?);
                }
                NSID => self.wants_nsid = true,
                KEEP_ALIVE => self.keep_alive = Some(data.len()),
                PADDING => self.wants_padding = true,
                _ => {}
            }
        }
        Ok(())
    }

    /// Does the asker want to know how long a connection over TCP lasts?
    pub(super) fn has_keep_alive(&self) -> bool {
        self.keep_alive.is_some()
    }

    /// Is nothing wrong with them over `transport`? Keep-alive means something over TCP and TLS only, where it has no
    /// data or two bytes; a datagram with it is answered as if it were not there (RFC 7828 §3.2.1).
    pub(super) fn suit(&self, transport: Transport) -> bool {
        !is_stream(transport) || self.keep_alive.is_none_or(|length| matches!(length, 0 | 2))
    }

    /// Is there nothing among them that a reply over UDP answers but client subnet and cookie?
    pub(super) fn are_usual(&self) -> bool {
        !self.wants_nsid
    }

    /// The options of the reply, but for client subnet and padding, which depend on the answer.
    pub(super) fn reply(
        &self,
        arrival: &Arrival<'_>,
        settings: &AnswerSettings,
        secrets: &CookieSecrets,
    ) -> Vec<EdnsOption> {
        let cookie = self.cookie.as_ref().and_then(|cookie| cookie.reply(secrets, arrival));
        let nsid = self.wants_nsid.then(|| EdnsOption::Unknown(NSID, settings.member.clone().into_bytes()));
        let lasts = self.keep_alive.filter(|_| is_stream(arrival.transport));
        let units = if arrival.condition.is_crowded { CLOSE_SOON } else { IDLE_UNITS };
        let keep_alive = lasts.map(|_| EdnsOption::Unknown(KEEP_ALIVE, units.to_be_bytes().to_vec()));
        [cookie, nsid, keep_alive].into_iter().flatten().collect()
    }

    /// The padding of a reply that is `length` bytes long without it, if there is to be any.
    pub(super) fn padding(&self, transport: Transport, length: usize) -> Option<EdnsOption> {
        let is_encrypted = matches!(transport, Transport::Tls | Transport::Https | Transport::Quic);
        if !self.wants_padding || !is_encrypted {
            return None;
        }
        let whole = (length + OPTION_HEAD).next_multiple_of(PADDED_TO);
        let zeros = vec![0; whole - length - OPTION_HEAD];
        (whole <= usize::from(u16::MAX)).then_some(EdnsOption::Unknown(PADDING, zeros))
    }

    /// Has the asker proved that it is where it says? Then it need not be slowed down (DNS-19).
    pub(super) fn is_proven(&self, secrets: &CookieSecrets, source: IpAddr, now_s: u32) -> bool {
        self.cookie.as_ref().is_some_and(|cookie| cookie.is_ours(secrets, source, now_s))
    }
}

fn is_stream(transport: Transport) -> bool {
    matches!(transport, Transport::Tcp | Transport::Tls)
}
