//! The only place where gRPC connections are taken in. Plain text today; TLS will be put around the stream here.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio_stream::Stream;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::TcpListenerStream;

/// The addresses that gRPC is served on could not be used: what, where and how to mend it, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{key} {address}: {source}; is another process using it? Choose another with --{flag}")]
pub struct BindError {
    key: &'static str,
    flag: &'static str,
    address: SocketAddr,
    source: std::io::Error,
}

/// Takes `address` for the setting `key`.
pub async fn bind(
    key: &'static str,
    flag: &'static str,
    address: SocketAddr,
) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).await.map_err(|source| BindError { key, flag, address, source })
}

/// How long a listener rests after a connection could not be taken in: out of descriptors, it would else spin.
const REST: std::time::Duration = std::time::Duration::from_millis(50);

/// The connections that come in, without delay for small messages. One that fails to come in is left out: a client that
/// is gone, or no descriptor at this moment, is no reason to stop listening.
pub fn incoming(listener: TcpListener) -> impl Stream<Item = std::io::Result<TcpStream>> {
    let taken_in = TcpListenerStream::new(listener).then(|connection| async {
        match connection {
            Ok(stream) => {
                // Without it Nagle's algorithm would hold back each small report by up to 40 ms.
                let _ = stream.set_nodelay(true);
                Some(Ok(stream))
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken in");
                tokio::time::sleep(REST).await;
                None
            }
        }
    });
    taken_in.filter_map(|connection| connection)
}
