//! The head of a response, as it comes in: bounded, and read by httparse (PRB-1, PRB-12).

use waymark_core::health::OutcomeClass;

use super::report::Fault;

/// Most bytes of a response that are ever held, interim heads included: a longer head is a `protocol` failure, a body is not read
/// beyond what came with the head. Real heads stay below 16 KiB, common servers' own bound is 8 KiB.
const BYTES_MAX: usize = 64 * 1024;
/// Most lines of a head, as in hyper and curl's neighbourhood: common servers send fewer than 30.
const LINES_MAX: usize = 100;
/// Room for what nearly every server sends.
const BYTES_USUAL: usize = 1_024;

/// What has come of a response.
#[derive(Debug, Default)]
pub(super) struct Head {
    bytes: Vec<u8>,
    /// How many of `bytes` have come; the others are room.
    length: usize,
    /// Where the head begins that is being read: interim ones are before it.
    start: usize,
    /// How many bytes had come when they were last looked at.
    looked_at: usize,
}

impl Head {
    /// Where more is to be put; never empty.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.length == self.bytes.len() {
            self.bytes.resize((2 * self.length).clamp(BYTES_USUAL, BYTES_MAX), 0);
        }
        &mut self.bytes[self.length..]
    }

    /// So many more bytes have come into the room: the status, once the final head is whole. It is a fault as soon as it is clear that
    /// none will come.
    pub(super) fn take(&mut self, more: usize) -> Result<Option<u16>, Fault> {
        let before = self.length;
        self.length += more;
        // Not at each byte that trickles in, or a long head would be read over and over: when it may be whole, and otherwise only as
        // often as what has come has doubled, to tell what is no HTTP at all.
        let has_doubled = self.length >= 2 * self.looked_at;
        if !may_end(&self.bytes[before.saturating_sub(2)..self.length]) && !has_doubled && !self.is_full() {
            return Ok(None);
        }
        self.looked_at = self.length;
        // Empty lines before a head are passed over (RFC 9112 §2.2), once and for all.
        let empty =
            self.bytes[self.start..self.length].iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        self.start += empty.count();
        while let Some((status, length)) = read(&self.bytes[self.start..self.length])? {
            if status >= 200 || status == 101 {
                return Ok(Some(status));
            }
            self.start += length;
        }
        if self.is_full() { Err(no_response("its head is longer than 64 KiB")) } else { Ok(None) }
    }

    fn is_full(&self) -> bool {
        self.length == BYTES_MAX
    }
}

/// Is there an empty line's end in it?
fn may_end(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|two| two == b"\n\n") || bytes.windows(3).any(|three| three == b"\n\r\n")
}

/// The status of the head at the beginning of `bytes`, and its length, if it is whole.
fn read(bytes: &[u8]) -> Result<Option<(u16, usize)>, Fault> {
    let mut lines = [httparse::EMPTY_HEADER; LINES_MAX];
    let mut response = httparse::Response::new(&mut lines);
    let parsed = response.parse(bytes).map_err(no_response)?;
    let (httparse::Status::Complete(length), Some(status)) = (parsed, response.code) else {
        return Ok(None);
    };
    match status {
        0..100 => return Err(no_response("invalid status code")),
        200.. => check_lengths(response.headers)?,
        // Interim responses have no body.
        100..200 => {}
    }
    Ok(Some((status, length)))
}

/// A response that says two lengths, or one that is no number, is not to be trusted with anything; the same one twice is one, and
/// beside a transfer coding none counts (RFC 9112 §6.3).
fn check_lengths(headers: &[httparse::Header<'_>]) -> Result<(), Fault> {
    let values = |name: &'static str| {
        headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    };
    if values("Transfer-Encoding").next().is_some() {
        return Ok(());
    }
    let lengths = values("Content-Length").flat_map(|value| value.split(|byte| *byte == b','));
    let mut lengths = lengths.map(<[u8]>::trim_ascii);
    let Some(first) = lengths.next() else { return Ok(()) };
    let is_number = !first.is_empty() && first.iter().all(u8::is_ascii_digit);
    if is_number && lengths.all(|other| other == first) {
        return Ok(());
    }
    Err(no_response("invalid content-length"))
}

fn no_response(why: impl std::fmt::Display) -> Fault {
    Fault::new(OutcomeClass::Protocol, format!("no HTTP response: {why}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is known once all of `bytes` has come, in pieces of that size.
    fn told(bytes: &[u8], piece: usize) -> Result<Option<u16>, OutcomeClass> {
        let mut head = Head::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = head.room();
            let length = room.len().min(piece).min(rest.len());
            room[..length].copy_from_slice(&rest[..length]);
            rest = &rest[length..];
            if let Some(status) = head.take(length).map_err(|fault| fault.class)? {
                return Ok(Some(status));
            }
        }
        Ok(None)
    }

    /// PRB-1: in whatever pieces it comes.
    #[test]
    fn prb_1_a_head_is_whole_when_its_empty_line_has_come() {
        for (bytes, expected) in [
            (&b"HTTP/1.1 200 OK\r\n\r\n"[..], Ok(Some(200))),
            (b"HTTP/1.1 200 OK\n\n", Ok(Some(200))),
            (b"HTTP/1.0 404\r\nA: b\r\n\r\nbody", Ok(Some(404))),
            (b"HTTP/1.1 200 OK\r\nA: b\r\n", Ok(None)),
            (b"HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 204 X\r\n\r\n", Ok(Some(204))),
            (b"HTTP/1.1 100 Go on\r\n\r\n", Ok(None)),
            (b"HTTP/1.1 101 X\r\n\r\n", Ok(Some(101))),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n", Ok(Some(200))),
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
                Err(OutcomeClass::Protocol),
            ),
            (b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n", Err(OutcomeClass::Protocol)),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n", Ok(Some(200))),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\n", Err(OutcomeClass::Protocol)),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: x\r\n\r\n", Ok(Some(200))),
            (b"HTTP/1.1 103 X\r\nContent-Length: x\r\n\r\nHTTP/1.1 200 X\r\n\r\n", Ok(Some(200))),
            (b"HTTP/1.1 099 X\r\n\r\n", Err(OutcomeClass::Protocol)),
            (b"\r\n\r\n\n\r\nHTTP/1.1 200 X\r\n\r\n", Ok(Some(200))),
        ] {
            for piece in [1, 2, 3, 7, 1_000] {
                assert_eq!(told(bytes, piece), expected, "{} by {piece}", bytes.escape_ascii());
            }
        }
    }

    /// PRB-12: no more is held than the bound, however it comes; a head that ends just before it is one.
    #[test]
    fn prb_12_no_more_than_a_bound_is_held() {
        let head = |padding: usize| {
            [b"HTTP/1.1 200 OK\r\nX-Pad: ".to_vec(), vec![b'y'; padding], b"\r\n\r\n".to_vec()].concat()
        };
        let around = head(0).len();
        for piece in [1_000, BYTES_MAX] {
            assert_eq!(told(&head(BYTES_MAX - around), piece), Ok(Some(200)));
            assert_eq!(told(&head(BYTES_MAX - around + 1), piece), Err(OutcomeClass::Protocol));
        }
        let lines = |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(count));
        assert_eq!(told(lines(LINES_MAX).as_bytes(), 1_000), Ok(Some(200)));
        assert_eq!(told(lines(LINES_MAX + 1).as_bytes(), 1_000), Err(OutcomeClass::Protocol));
        let endless = "HTTP/1.1 100 Go on\r\n\r\n".repeat(10_000);
        assert_eq!(told(endless.as_bytes(), 1_000), Err(OutcomeClass::Protocol));
    }

    proptest! {
        /// PRB-12: whatever comes, in whatever pieces, the end is the same, and there is one.
        #[test]
        fn prb_12_pieces_do_not_matter(
            head in prop::sample::select(vec![&b"HTTP/1.1 200 OK\r\n"[..], b"HTTP/1.1 100 X\r\n\r\n", b""]),
            rest in prop::collection::vec(prop::sample::select(b"\r\n:a \0\xff1".to_vec()), 0..64),
            piece in 1_usize..20,
        ) {
            let bytes = [head, &rest].concat();
            let (whole, pieces) = (told(&bytes, usize::MAX), told(&bytes, piece));
            // Only when garbage is found may be later, if it comes by and by.
            prop_assert!(whole == pieces || (whole.is_err() && pieces == Ok(None)), "{whole:?}, {pieces:?}");
        }
    }
}
