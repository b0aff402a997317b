//! The end of the process: asked for by a signal or by the closed standard input (OPS-4).

use std::io::Read;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels the returned token at the first TERM or INT; a second one ends the process at once.
pub fn on_signals() -> std::io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let cancelled = token.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
            if cancelled.is_cancelled() {
                std::process::exit(1);
            }
            tracing::info!("asked to end: draining");
            cancelled.cancel();
        }
    });
    Ok(token)
}

/// Cancels `token` when standard input reaches its end: a supervisor that dies takes the process with it. A thread of
/// its own reads, because one of the runtime's would be waited for at the end.
pub fn on_closed_input(token: CancellationToken) -> std::io::Result<()> {
    let watch = move || {
        let (mut input, mut scratch) = (std::io::stdin(), [0_u8; 64]);
        while !matches!(input.read(&mut scratch), Ok(0) | Err(_)) {}
        tracing::info!("standard input was closed: draining");
        token.cancel();
    };
    std::thread::Builder::new().name("stdin".to_owned()).spawn(watch).map(drop)
}
