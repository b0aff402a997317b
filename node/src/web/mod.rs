//! The door for machines that watch over this one: health over HTTP (OPS-5).

mod readiness;

pub use readiness::Readiness;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::publication::Reader;
use crate::raft::Proposer;

/// What the pages are made from.
#[derive(Clone, Debug)]
pub struct Web {
    /// How far the start has come.
    pub readiness: Readiness,
    /// Knows whether what is answered has become too old.
    pub reader: Reader,
    /// Knows whether a leader can be reached.
    pub proposer: Proposer,
}

/// The licences of what comes with the binary: DB-IP's asks to be named wherever its data is used.
const LICENSES: &str = include_str!("../../data/NOTICE");

/// `/licenses`, `/healthz` (alive), `/readyz` (answers DNS; stays 200 without a leader, unless `max_stale` is over), `/readyz/write` (a leader is reachable).
pub fn router(web: Web) -> Router {
    Router::new()
        .route("/licenses", get(|| async { LICENSES }))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/readyz/write", get(ready_to_write))
        .with_state(web)
}

async fn ready(State(web): State<Web>) -> (StatusCode, String) {
    let (ready, reasons) = web.readiness.report(web.reader.is_stale());
    (if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, reasons)
}

async fn ready_to_write(State(web): State<Web>) -> (StatusCode, String) {
    match web.proposer.read_barrier().await {
        Ok(()) => (StatusCode::OK, "ok: a leader is reachable\n".into()),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {error}\n")),
    }
}
