//! One HTTP/1.1 request and the head of its response (PRB-1, PRB-2, PRB-4, PRB-5, PRB-7, PRB-12).
//!
//! The request is bytes and the head is read by httparse, which is what hyper, and so reqwest, reads heads with. What stands above
//! it is left out because reqwest can't keep these rules: it takes the TLS name from the URL, not from a custom `Host`, while
//! connecting elsewhere (PRB-3); it does not bound a response head (PRB-12); it shows no certificate of a handshake that failed
//! (PRB-9); it may send a request again on its own (PRB-7); and pools, channels and bodies cost more than the probe (PERF-4).
//! Here one connection carries one request and is dropped.

use std::fmt;

use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING, USER_AGENT,
};
use http::uri::PathAndQuery;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use waymark_core::health::{Check, OutcomeClass};
use waymark_core::model::{Header, Target};

use super::head::Head;
use super::report::Fault;

/// Who asks, unless a custom header says otherwise (PRB-5).
const AGENT_NAME: &str = concat!("waymark-agent/", env!("CARGO_PKG_VERSION"));

/// A request as it is sent: a line, headers, and no body.
pub(super) struct ProbeRequest(Vec<u8>);

impl fmt::Debug for ProbeRequest {
    /// Values of headers may be secrets: none is shown (SEC-4).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProbeRequest({} bytes)", self.0.len())
    }
}

/// The request that `check` asks for.
pub(super) fn request(check: &Check) -> Result<ProbeRequest, Fault> {
    let path = PathAndQuery::try_from(check.path.as_str())
        .map_err(|error| Fault::agent(format!("the path cannot be sent: {error}")))?;
    let mut request = ProbeRequest(Vec::with_capacity(256));
    request.0.extend_from_slice(b"GET ");
    request.0.extend_from_slice(path.as_str().as_bytes());
    request.0.extend_from_slice(b" HTTP/1.1\r\n");
    let is_custom = |name: &HeaderName| {
        check.headers.iter().any(|header| header.name.eq_ignore_ascii_case(name.as_str()))
    };
    if !is_custom(&HOST) {
        request.add("Host", authority(check).as_bytes());
    }
    for (at, header) in check.headers.iter().enumerate() {
        // Each name once: the last one counts.
        if !check.headers[at + 1..].iter().any(|later| later.name.eq_ignore_ascii_case(&header.name)) {
            request.add(&header.name, sendable(header)?.as_bytes());
        }
    }
    if !is_custom(&USER_AGENT) {
        request.add("User-Agent", AGENT_NAME.as_bytes());
    }
    if !is_custom(&CONNECTION) {
        request.add("Connection", b"close");
    }
    request.0.extend_from_slice(b"\r\n");
    Ok(request)
}

impl ProbeRequest {
    fn add(&mut self, name: &str, value: &[u8]) {
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            self.0.extend_from_slice(part);
        }
    }
}

/// The value of one of the check's own headers, if it and its name may stand in a request.
fn sendable(header: &Header) -> Result<HeaderValue, Fault> {
    // The value may be a secret: it is never shown.
    let unsendable = || Fault::agent(format!("the header {:?} cannot be sent", header.name));
    let name = HeaderName::try_from(&header.name).map_err(|_| unsendable())?;
    if name == CONTENT_LENGTH || name == TRANSFER_ENCODING {
        return Err(Fault::agent(format!("the header {name} cannot be sent: a probe has no body")));
    }
    HeaderValue::try_from(header.value.plain().ok_or_else(unsendable)?).map_err(|_| unsendable())
}

/// The target as a `Host` header names it: the port only if it is not the scheme's own (PRB-4).
fn authority(check: &Check) -> String {
    let target = match &check.target {
        Target::V6(address) => format!("[{address}]"),
        other => other.to_string(),
    };
    match check.protocol.default_port() {
        Some(port) if port == check.port => target,
        _ => format!("{target}:{}", check.port),
    }
}

/// Sends `request` over `stream` and waits for the response's head; interim 1xx heads are passed over, but 101 is final.
/// The connection is gone when this returns.
pub(super) async fn exchange<S>(mut stream: S, request: ProbeRequest) -> Result<u16, Fault>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let unsent = send(&mut stream, &request).await.err();
    match (receive(&mut stream).await, unsent) {
        // Whoever answers without having read everything, and hangs up, has answered.
        (Err(fault), Some(error)) if fault.class == OutcomeClass::Reset => Err(broken(&error)),
        (end, _) => end,
    }
}

async fn send(stream: &mut (impl AsyncWrite + Unpin), request: &ProbeRequest) -> std::io::Result<()> {
    stream.write_all(&request.0).await?;
    // TLS keeps back what has no room yet.
    stream.flush().await
}

async fn receive(stream: &mut (impl AsyncRead + Unpin)) -> Result<u16, Fault> {
    let mut head = Head::default();
    loop {
        let length = stream.read(head.room()).await.map_err(|error| broken(&error))?;
        if length == 0 {
            return Err(closed());
        }
        if let Some(status) = head.take(length)? {
            return Ok(status);
        }
    }
}

fn closed() -> Fault {
    Fault::new(OutcomeClass::Reset, "closed before the response head was whole")
}

/// | what happened | class |
/// |---|---|
/// | a TLS alert instead of a response, as for a missing client certificate | `tls` |
/// | closed or reset before the head was whole | `reset` |
fn broken(error: &std::io::Error) -> Fault {
    let alert = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match (alert, error.kind()) {
        (Some(alert), _) => Fault::new(OutcomeClass::Tls, alert.to_string()),
        (None, std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::WriteZero) => closed(),
        (None, _) => Fault::new(OutcomeClass::Reset, format!("before the response head was whole: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;
    use waymark_core::model::{Header, Protocol, Revision, monitor_limits, parse_target};

    use super::*;

    fn check(protocol: Protocol, target: &str, port: u16) -> Check {
        Check {
            protocol,
            target: parse_target(target).unwrap(),
            port,
            path: "/".to_owned(),
            interval_ms: 1_000,
            timeout_ms: 1_000,
            expect: Vec::new(),
            headers: Vec::new(),
            revision: Revision(1),
        }
    }

    fn text(request: &ProbeRequest) -> String {
        String::from_utf8(request.0.clone()).unwrap()
    }

    /// PRB-4: the port stands there unless it is the scheme's own.
    #[test]
    fn prb_4_the_host_that_is_named() {
        for (protocol, target, port, host) in [
            (Protocol::Http, "web.example.net", 80, "web.example.net"),
            (Protocol::Http, "web.example.net", 443, "web.example.net:443"),
            (Protocol::Https, "web.example.net", 443, "web.example.net"),
            (Protocol::Https, "192.0.2.1", 8443, "192.0.2.1:8443"),
            (Protocol::Http, "2001:db8::1", 80, "[2001:db8::1]"),
            (Protocol::Http, "2001:db8::1", 8080, "[2001:db8::1]:8080"),
        ] {
            let request = request(&check(protocol, target, port)).unwrap();
            let text = text(&request);
            let hosts: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("Host: ")).collect();
            assert_eq!(hosts, [host]);
        }
    }

    /// SET-5, PRB-1: every path that can be configured can be sent: of ASCII, only what validation refuses is unsendable.
    #[test]
    fn set_5_every_path_that_is_accepted_can_be_sent() {
        for character in (0_u8..128).map(char::from) {
            let is_refused = character.is_control()
                || character.is_whitespace()
                || character == '#'
                || monitor_limits::PATH_UNSENDABLE.contains(&character);
            for path in [format!("/a{character}b"), format!("/a?b{character}c")] {
                let check = Check { path: path.clone(), ..check(Protocol::Http, "192.0.2.1", 80) };
                let sent = request(&check).map(|request| text(&request));
                let line = format!("GET {path} HTTP/1.1\r\n");
                let is_sent = sent.as_ref().is_ok_and(|sent| sent.starts_with(&line));
                assert!(is_refused || is_sent, "{path:?}: {sent:?}");
            }
        }
    }

    /// SEC-4: whoever logs the request does not log the value.
    #[test]
    fn sec_4_a_value_is_not_shown_with_its_request() {
        let header = Header { name: "X-Key".into(), value: "geheim".into() };
        let request = request(&Check { headers: vec![header], ..check(Protocol::Http, "192.0.2.1", 80) });
        let request = request.unwrap();
        assert!(text(&request).contains("\r\nX-Key: geheim\r\n"));
        assert!(!format!("{request:?}").contains("geheim"));
    }

    /// PRB-4, SET-10: the check's own value stands in place of the usual one, and no name stands twice, however it is written.
    #[test]
    fn prb_4_no_name_stands_twice() {
        let header = |name: &str, value: &str| Header { name: name.into(), value: value.into() };
        let headers =
            ["hOST", "USER-agent", "connection", "X-A", "x-a"].map(|name| header(name, name)).to_vec();
        let request = request(&Check { headers, ..check(Protocol::Http, "192.0.2.1", 80) }).unwrap();
        assert_eq!(
            text(&request),
            "GET / HTTP/1.1\r\nhOST: hOST\r\nUSER-agent: USER-agent\r\nconnection: connection\r\nx-a: x-a\r\n\r\n"
        );
    }

    /// SET-10: what could be read as a second header or request is never sent.
    #[test]
    fn set_10_a_header_that_cannot_be_sent_is_the_agents_trouble() {
        for (name, value) in [
            ("X-A", "b\r\nX-B: c"),
            ("X A", "b"),
            ("", "b"),
            ("Content-Length", "1"),
            ("Transfer-Encoding", "chunked"),
        ] {
            let headers = vec![Header { name: name.into(), value: value.into() }];
            let fault = request(&Check { headers, ..check(Protocol::Http, "192.0.2.1", 80) }).unwrap_err();
            assert_eq!(fault.class, OutcomeClass::Agent, "{name:?}: {value:?}");
            assert!(!fault.detail.contains("X-B"), "{}", fault.detail);
        }
    }

    /// PRB-1: a response head that is there is one, also if the request could not be sent to its end any more.
    #[tokio::test]
    async fn prb_1_whoever_answers_and_hangs_up_has_answered() {
        for (answer, expected) in
            [("HTTP/1.1 200 OK\r\n\r\n", Ok(200)), ("HTTP/1.1 2", Err(OutcomeClass::Reset))]
        {
            let (near, mut far) = tokio::io::duplex(64);
            far.write_all(answer.as_bytes()).await.unwrap();
            drop(far);
            let check =
                Check { path: format!("/{}", "a".repeat(1_000)), ..check(Protocol::Http, "192.0.2.1", 80) };
            let end = exchange(near, request(&check).unwrap()).await;
            assert_eq!(end.map_err(|fault| fault.class), expected);
        }
    }

    /// PRB-1: a response head that was there before the request is a response head.
    #[tokio::test]
    async fn prb_1_an_answer_may_come_before_the_question() {
        let (near, mut far) = tokio::io::duplex(4096);
        far.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        let request = request(&check(Protocol::Http, "192.0.2.1", 80)).unwrap();
        assert_eq!(exchange(near, request).await, Ok(204));
    }
}
