//! Messages behind their lengths, as a client of TCP or of TLS sends and receives them.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::packets::*;
use super::sockets::*;

pub(super) fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes(), message].concat()
}

pub(super) async fn receive(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Seen> {
    let read = async {
        let mut message = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut message).await?;
        Ok(Seen::of(&message))
    };
    timeout(DEADLINE, read).await.expect("in time")
}

pub(super) async fn is_answered(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), id: u16) -> bool {
    let sent = stream.write_all(&framed(&numbered(id))).await;
    sent.is_ok() && receive(stream).await.is_ok_and(|seen| seen.id == id)
}

/// The door's side is closed: its end has come, or a reset because something was left unread.
pub(super) async fn is_closed(stream: &mut (impl AsyncRead + Unpin)) -> bool {
    let end = timeout(DEADLINE, stream.read(&mut [0; 16])).await.expect("in time");
    matches!(end, Ok(0) | Err(_))
}
