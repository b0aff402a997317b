//! The end of a process: asked for by a signal or by the closed standard input, it reaches every part as one token.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels the returned token at the first TERM or INT; a second one ends the process at once (OPS-4).
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

/// Cancels `token` when standard input reaches its end: a supervisor that dies takes the process with it. A thread of its
/// own reads, because a read of standard input cannot be called off and would hold the runtime's end up.
pub fn on_closed_input(token: CancellationToken) -> std::io::Result<()> {
    let watch = move || {
        // An error is an end as well.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        tracing::info!("standard input was closed: draining");
        token.cancel();
    };
    std::thread::Builder::new().name("stdin".to_owned()).spawn(watch).map(drop)
}
