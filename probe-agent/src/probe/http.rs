//! One HTTP/1.1 request and the head of its response (PRB-1, PRB-2, PRB-4, PRB-5, PRB-7, PRB-12).
//!
//! This is hyper's client connection and not reqwest, which stands above it, because reqwest can't keep these rules:
//! it takes the TLS name from the URL, not from a custom `Host`, while connecting elsewhere (PRB-3); it does not bound
//! a response head (PRB-12); it shows no certificate of a handshake that failed (PRB-9); and it may send a request
//! again on its own (PRB-7). Here one connection carries one request and is dropped.

use std::error::Error;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use futures_util::future::{Either, select};
use http::Request;
use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING, USER_AGENT,
};
use http::uri::PathAndQuery;
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use waymark_core::health::{Check, OutcomeClass};
use waymark_core::model::Target;

use super::report::Fault;

/// The request line and headers are all there is to a probe's request.
pub(super) type ProbeRequest = Request<Empty<Bytes>>;

/// Most bytes of a response that are ever held: a longer head is a `protocol` failure, a body is not read beyond what
/// came with the head. Real heads stay below 16 KiB, common servers' own bound is 8 KiB. Heads of more than 100 lines,
/// hyper's own bound, are refused likewise.
const RESPONSE_BYTES_MAX: usize = 64 * 1024;

/// Who asks, unless a custom header says otherwise (PRB-5).
const AGENT_NAME: &str = concat!("waymark-agent/", env!("CARGO_PKG_VERSION"));

/// The request that `check` asks for.
pub(super) fn request(check: &Check) -> Result<ProbeRequest, Fault> {
    let path = PathAndQuery::try_from(check.path.as_str())
        .map_err(|error| Fault::agent(format!("the path cannot be sent: {error}")))?;
    let mut headers = custom_headers(check)?;
    if !headers.contains_key(HOST) {
        let host = HeaderValue::try_from(authority(check));
        headers
            .insert(HOST, host.map_err(|error| Fault::agent(format!("the target cannot be sent: {error}")))?);
    }
    headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT_NAME));
    headers.entry(CONNECTION).or_insert(HeaderValue::from_static("close"));
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = path.into();
    *request.headers_mut() = headers;
    Ok(request)
}

/// The check's own headers, each name once.
fn custom_headers(check: &Check) -> Result<HeaderMap, Fault> {
    let mut headers = HeaderMap::with_capacity(check.headers.len() + 3);
    for header in &check.headers {
        // The value may be a secret: it is never shown.
        let unsendable = || Fault::agent(format!("the header {:?} cannot be sent", header.name));
        let name = HeaderName::try_from(&header.name).map_err(|_| unsendable())?;
        if name == CONTENT_LENGTH || name == TRANSFER_ENCODING {
            return Err(Fault::agent(format!("the header {name} cannot be sent: a probe has no body")));
        }
        let value = header.value.plain().ok_or_else(unsendable)?;
        let mut value = HeaderValue::try_from(value).map_err(|_| unsendable())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
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
pub(super) async fn exchange<S>(stream: S, request: ProbeRequest) -> Result<u16, Fault>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.max_buf_size(RESPONSE_BYTES_MAX).title_case_headers(true);
    let stream = TokioIo::new(SpeakFirst { stream, has_spoken: false, listener: None });
    let (mut sender, connection) = builder.handshake(stream).await.map_err(|error| judge(&error))?;
    let response = pin!(sender.send_request(request));
    let end = match select(response, pin!(connection)).await {
        Either::Left((end, _)) => end,
        // The connection's own end is told to whoever waits for the response.
        Either::Right((_, response)) => response.await,
    };
    end.map(|response| response.status().as_u16()).map_err(|error| judge(&error))
}

/// | what happened | class |
/// |---|---|
/// | a TLS alert instead of a response, as for a missing client certificate | `tls` |
/// | closed or reset before the head was whole | `reset` |
/// | not HTTP, or beyond the bounds | `protocol` |
fn judge(error: &hyper::Error) -> Fault {
    if let Some(alert) = source::<rustls::Error>(error) {
        return Fault::new(OutcomeClass::Tls, alert.to_string());
    }
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        return Fault::new(OutcomeClass::Reset, "closed before the response head was whole");
    }
    match source::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::UnexpectedEof) => {
            Fault::new(OutcomeClass::Reset, "closed before the response head was whole")
        }
        Some(_) => {
            Fault::new(OutcomeClass::Reset, format!("before the response head was whole: {}", root(error)))
        }
        None => Fault::new(OutcomeClass::Protocol, format!("no HTTP response: {}", root(error))),
    }
}

/// The first error of that type in the chain of causes; inside an `io::Error` too.
fn source<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    None
}

fn root<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut root = error;
    while let Some(cause) = root.source() {
        root = cause;
    }
    root
}

/// Hears nothing before it has spoken: a server that answers before it was asked, as the simplest ones do, is
/// unexpected to hyper but still gives a complete response head.
struct SpeakFirst<S> {
    stream: S,
    has_spoken: bool,
    listener: Option<Waker>,
}

impl<S: AsyncRead + Unpin> AsyncRead for SpeakFirst<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.has_spoken {
            return Pin::new(&mut this.stream).poll_read(context, buffer);
        }
        this.listener = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<S: AsyncWrite + Unpin> SpeakFirst<S> {
    fn note(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.has_spoken = true;
            if let Some(listener) = self.listener.take() {
                listener.wake();
            }
        }
        written
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SpeakFirst<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, buffer);
        this.note(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, buffers);
        this.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
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
            assert_eq!(request.headers().get_all(HOST).iter().collect::<Vec<_>>(), [host]);
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
                let sent = request(&check).map(|request| request.uri().to_string());
                assert!(is_refused || sent == Ok(path.clone()), "{path:?}: {sent:?}");
            }
        }
    }

    /// SEC-4: whoever logs the request does not log the value.
    #[test]
    fn sec_4_a_value_is_not_shown_with_its_request() {
        let header = Header { name: "X-Key".into(), value: "geheim".into() };
        let request = request(&Check { headers: vec![header], ..check(Protocol::Http, "192.0.2.1", 80) });
        let shown = format!("{:?}", request.unwrap()).to_lowercase();
        assert!(shown.contains("x-key") && !shown.contains("geheim"), "{shown}");
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
