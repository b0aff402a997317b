//! DNS over HTTPS: one connection, in HTTP/1.1 or HTTP/2, and the requests on it (RFC 8484). What a request is told is in
//! `http`.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep_until, timeout};

use super::connection::DRAIN_GRACE;
use super::door::{Door, Guest};
use super::http::respond;
use super::visit::Visit;

/// Streams that one connection may have open: fewer than RFC 9113 §6.5.2 wishes for hold clients up, and more pay nobody.
const STREAMS_MAX: u32 = 100;

/// The longest head of a request: a query in a target is seldom above four hundred bytes.
const HEAD_MAX: usize = 16 * 1024;

/// Bytes that a client may send on one stream, and on all, before we have read them.
const WINDOW: (u32, u32) = (64 * 1024, 256 * 1024);

/// Bytes of a reply that wait for a client to read them.
const SEND_MAX: usize = 64 * 1024;

/// Streams that a client may reset before they are seen, and that it may have us reset, until it is shut out: what
/// costs much and asks nothing (CVE-2023-44487, CVE-2025-8671).
const RESETS_MAX: (usize, usize) = (20, 64);

/// How long a connection that is to end may take to deliver its last replies.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// Answers requests until the client leaves or asks nothing for longer than its limit; after the door's shutdown, those
/// that have already come.
pub(super) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    guest: Guest,
    door: &Door,
) -> io::Result<()> {
    let visit = Arc::new(Visit::new(guest));
    let answering = visit.clone();
    let service = service_fn(move |request| {
        let visit = answering.clone();
        async move { Ok::<_, Infallible>(respond(&visit, request).await) }
    });
    let http = http();
    let connection = http.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // How it ended is the client's doing.
        _ = connection.as_mut() => return Ok(()),
        () = is_idle(&visit, door) => {}
        // What the system holds is still read meanwhile.
        () = door.shut_for(DRAIN_GRACE) => {}
    }
    connection.as_mut().graceful_shutdown();
    drop(timeout(CLOSE_MAX, connection).await?);
    Ok(())
}

/// Returns when nothing has been answered for longer than is allowed.
async fn is_idle(visit: &Visit, door: &Door) {
    loop {
        let deadline = visit.active() + door.places.limits().idle_max;
        if deadline.elapsed() > Duration::ZERO {
            return;
        }
        sleep_until(deadline).await;
    }
}

fn http() -> Builder<TokioExecutor> {
    let mut http = Builder::new(TokioExecutor::new());
    // Its own limit on the time that a head may take is longer than the connection's on idleness.
    http.http1().timer(TokioTimer::new()).max_buf_size(HEAD_MAX).half_close(true);
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_MAX as u32)
        .initial_stream_window_size(WINDOW.0)
        .initial_connection_window_size(WINDOW.1)
        .max_send_buf_size(SEND_MAX)
        .max_pending_accept_reset_streams(RESETS_MAX.0)
        .max_local_error_reset_streams(RESETS_MAX.1);
    http
}
