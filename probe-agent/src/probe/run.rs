//! Carries one check out under one deadline (PRB-7).
//!
//! ```text
//!  resolve ──▶ guard ──▶ connect ──▶ TLS (https) ──▶ request and response head (http, https) ──▶ drop
//!  └─────────────────────────── one deadline over all of it ───────────────────────────────┘
//! ```

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use waymark_core::health::{Check, Outcome, OutcomeClass};
use waymark_core::model::{Protocol, Target};

use super::report::{Fault, ProbeReport};
use super::tls::Tls;
use super::{connect, http, tcp};
use crate::expectation;
use crate::guard::Guard;
use crate::resolve::Resolver;

/// What every probe of an agent needs: cheap to clone.
#[derive(Clone, Debug)]
pub struct Tools {
    guard: Arc<Guard>,
    resolver: Arc<Resolver>,
    tls: Arc<Tls>,
}

impl Tools {
    /// Probes what `guard` admits, finding addresses by `resolver`. The process needs a rustls provider by then.
    pub fn new(guard: Guard, resolver: Resolver) -> Self {
        Self { guard: Arc::new(guard), resolver: Arc::new(resolver), tls: Arc::new(Tls::new()) }
    }
}

/// Carries `check` out once: at most one connection and one request, never a retry, over by the check's timeout.
pub async fn run(tools: &Tools, check: &Check) -> ProbeReport {
    let deadline = Instant::now() + Duration::from_millis(check.timeout_ms);
    let mut report = ProbeReport::of(Outcome { class: OutcomeClass::Timeout, status: None });
    let end = match find_address(tools, check, deadline, &mut report).await {
        Ok(address) => {
            let address = SocketAddr::new(address, check.port);
            match timeout_at(deadline, visit(tools, check, address, &mut report)).await {
                Ok(end) => end,
                Err(_) => Err(too_late(check, &report)),
            }
        }
        Err(fault) => Err(fault),
    };
    report.conclude(end);
    report
}

async fn find_address(
    tools: &Tools,
    check: &Check,
    deadline: Instant,
    report: &mut ProbeReport,
) -> Result<IpAddr, Fault> {
    let address = match &check.target {
        Target::V4(address) => IpAddr::V4(*address),
        Target::V6(address) => IpAddr::V6(*address),
        Target::Name(name) => {
            let start = Instant::now();
            let found = tools.resolver.resolve(name, deadline).await;
            report.resolve = Some(start.elapsed());
            found?
        }
    };
    report.address = Some(address);
    Ok(address)
}

async fn visit(
    tools: &Tools,
    check: &Check,
    address: SocketAddr,
    report: &mut ProbeReport,
) -> Result<Outcome, Fault> {
    // A header or path that can't be sent must not cost the endpoint a connection.
    let request = check.protocol.is_http().then(|| http::request(check)).transpose()?;
    let start = Instant::now();
    let stream = connect::connect(&tools.guard, address).await?;
    report.connect = Some(start.elapsed());
    let Some(request) = request else {
        return tcp::reset(stream);
    };
    // Without this the end of a long request, or a handshake's second flight, could wait for a delayed acknowledgement.
    stream.set_nodelay(true).map_err(|error| Fault::agent(format!("cannot set up a socket: {error}")))?;
    let status = match check.protocol {
        Protocol::Https => {
            // Boxed: the handshake's state would make every plain probe's task that much bigger.
            let stream = Box::pin(handshake(tools, check, address, stream, report)).await?;
            time_head(http::exchange(stream, request), report).await?
        }
        Protocol::Http | Protocol::Tcp => time_head(http::exchange(stream, request), report).await?,
    };
    judge(check, status)
}

async fn handshake(
    tools: &Tools,
    check: &Check,
    address: SocketAddr,
    stream: TcpStream,
    report: &mut ProbeReport,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, Fault> {
    let start = Instant::now();
    let stream = tools.tls.handshake(check, address.ip(), stream, &mut report.certificate).await?;
    report.tls = Some(start.elapsed());
    Ok(stream)
}

async fn time_head(
    exchange: impl Future<Output = Result<u16, Fault>>,
    report: &mut ProbeReport,
) -> Result<u16, Fault> {
    let start = Instant::now();
    let status = exchange.await?;
    report.first_byte = Some(start.elapsed());
    Ok(status)
}

fn judge(check: &Check, status: u16) -> Result<Outcome, Fault> {
    if expectation::is_expected(status, &check.expect) {
        return Ok(Outcome { class: OutcomeClass::Ok, status: Some(status) });
    }
    Err(Fault {
        class: OutcomeClass::Status,
        status: Some(status),
        detail: format!("status {status}, expected {}", expectation::describe(&check.expect)),
    })
}

fn too_late(check: &Check, report: &ProbeReport) -> Fault {
    let missing = match (report.connect, check.protocol, report.tls) {
        (None, ..) => "no connection",
        (_, Protocol::Https, None) => "no finished TLS handshake",
        _ => "no whole response head",
    };
    Fault::new(OutcomeClass::Timeout, format!("{missing} within {} ms", check.timeout_ms))
}
