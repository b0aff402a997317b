//! A member: consensus at the bottom, the five doors (ingest, enrolment, admin, dns, web) above it, put together here. Each door
//! gets the handles that it needs, and nothing more.

pub mod acceptor;
pub mod admin;
pub mod clock;
pub mod config;
mod dev;
pub mod dns;
pub mod enrolment;
pub mod flatten;
pub mod geo;
pub mod ingest;
pub mod measurements;
mod policy;
pub mod publication;
pub mod raft;
pub mod record_text;
pub mod web;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;

use acceptor::{Accepted, BindError};
use config::{Config, EncryptedDns, Timers};
use enrolment::Enrolling;
use flatten::Flattener;
use geo::GeoTables;
use ingest::{Identity, Ingest};
use measurements::Measurements;
use raft::{Compaction, Member, MemberConfig, Membership, OpenError, Proposer, Started, TimerProfile};
use waymark_process::pki::PkiError;
use waymark_process::secrets::Keys;
use waymark_process::tls::{Credentials, CredentialsError, PairError};
use web::{Readiness, Web};

/// How often a client's silence is probed, and how soon an answer must come: a dead peer is noticed within both.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));

/// Most calls and streams that one connection may have open.
const STREAMS_PER_CONNECTION_MAX: u32 = 1_024;

/// How long everything may take to drain before the process ends anyway (OPS-4, DNS-22).
const DRAIN_LIMIT: Duration = Duration::from_millis(4_500);

/// How often a start looks whether a leader is there.
const CATCH_UP_PACE: Duration = Duration::from_millis(50);

/// Why a member could not run: one line that says what, where and how to mend it.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// An address could not be had.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// An address for DNS could not be had.
    #[error(transparent)]
    Dns(#[from] dns::BindError),
    /// The certificate for encrypted DNS cannot be used.
    #[error(transparent)]
    Certificate(#[from] PairError),
    /// The key file cannot be used.
    #[error("secret_key_file: {0}")]
    Keys(#[from] PkiError),
    /// The identity that this member has among members cannot be used.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// There is none.
    #[error(
        "tls_certificate, tls_key and tls_authority are missing, and members speak TLS: 'waymark pki init pki \
         --trust-domain example.com' and 'waymark pki issue pki member {0}' make all three; or try things out with --dev"
    )]
    NoCredentials(String),
    /// The data directory cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The system does not tell of signals.
    #[error("signals: {0}")]
    Signals(io::Error),
    /// The cluster of one could not be founded.
    #[error("--dev: {0}")]
    Dev(String),
    /// A listener failed.
    #[error("gRPC: {0}")]
    Grpc(#[from] tonic::transport::Error),
}

/// Runs a member until `shutdown` is cancelled; then answers what its sockets hold and ends.
pub async fn run(config: Config, geo: Arc<GeoTables>, shutdown: CancellationToken) -> Result<(), NodeError> {
    let credentials = credentials(&config)?;
    let keys = Arc::new(keys(&config)?);
    if let Some(credentials) = &credentials {
        credentials.follow().map_err(NodeError::Signals)?;
    }
    let grpc = acceptor::bind("grpc_listen", "grpc-listen", config.grpc_listen).await?;
    let http = acceptor::bind("http_listen", "http-listen", config.http_listen).await?;
    // Taken for a moment only: a port that is in use is to be known now, though queries are answered later (DNS-20).
    let encrypted = encrypted_dns(&config)?;
    drop(bind_dns(&config, encrypted.as_ref())?);
    let mut started = Member::open(member_config(&config, credentials.clone()), geo.source()).await?;
    started.reader = started.reader.bounded(config.answers.max_stale);
    let readiness = Readiness::default();
    let measurements = Measurements::of_member_in(config.region.as_deref().map(Into::into));
    let (reader, proposer) = (started.reader.clone(), started.proposer.clone());
    measurements::start(measurements.clone(), reader, proposer, shutdown.clone());
    let (reader, known_by) = (started.reader.clone(), credentials.clone());
    // A port that lets nobody in without a certificate, unless somebody is awaited.
    let newcomers = Box::new(move || reader.peek().state.enrolment.is_open());
    let connections = acceptor::incoming_with(grpc, known_by, newcomers, shutdown.clone());
    let beside = (geo.clone(), measurements.clone(), keys, credentials);
    let served = serve_grpc(connections, &started, beside, timers(&config), &shutdown).await;
    let (reader, proposer) = (started.reader.clone(), started.proposer.clone());
    let web = Web { readiness: readiness.clone(), reader, proposer };
    let pages = serve_http(http, web, shutdown.clone());
    tracing::info!(name = config.name, grpc = %config.grpc_listen, http = %config.http_listen, "listening");

    tokio::spawn(flattener(&config, &started).run(shutdown.clone()));
    if config.dev {
        dev::found(&started).await.map_err(NodeError::Dev)?;
    }
    let answered = async {
        let answered = answer(&config, &started, (geo, measurements), encrypted, &readiness, &shutdown).await;
        shutdown.cancel();
        answered
    };
    // While DNS drains, a member that hears nobody any more must not want to lead.
    let stopped = async {
        let _ = served.await;
        started.stopper.stop().await;
    };
    let until_drained = async {
        let (answered, ()) = tokio::join!(answered, stopped);
        let _ = pages.await;
        answered
    };
    // One limit for all of it, from the moment at which the end is asked for.
    let overdue = async {
        shutdown.cancelled().await;
        tokio::time::sleep(DRAIN_LIMIT).await;
    };
    tokio::select! {
        answered = until_drained => answered,
        () = overdue => {
            tracing::warn!("not everything was drained within {:?}", DRAIN_LIMIT);
            Ok(())
        }
    }
}

/// Who this member is to others; None where it speaks plain text, which only `dev` does.
///
/// # Errors
/// The files are missing, cannot be used, or are somebody else's.
pub fn credentials(config: &Config) -> Result<Option<Arc<Credentials>>, NodeError> {
    match &config.credentials {
        None if config.dev => Ok(None),
        None => Err(NodeError::NoCredentials(config.name.clone())),
        Some(files) => {
            let credentials = Credentials::open(files.clone())?;
            let wanted = format!("the member '{}'", config.name);
            credentials.expect(&wanted, |own| own.role.is_member(&config.name))?;
            Ok(Some(credentials))
        }
    }
}

/// What secret headers are encrypted with; nothing without a key file (SEC-4).
///
/// # Errors
/// The file cannot be used.
pub fn keys(config: &Config) -> Result<Keys, NodeError> {
    let Some(path) = &config.secret_key_file else { return Ok(Keys::default()) };
    let keys = Keys::open(path)?;
    let numbers = keys.ids().collect::<Vec<_>>().join(" ");
    tracing::info!(numbers, "secrets are encrypted with the first of these keys, and decrypted with all");
    Ok(keys)
}

fn flattener(config: &Config, started: &Started) -> Flattener {
    Flattener {
        reader: started.reader.clone(),
        proposer: started.proposer.clone(),
        membership: started.membership.clone(),
        resolver: config.resolver,
    }
}

/// Where DNS is served encrypted, with the certificate read; None if it is not.
///
/// # Errors
/// The certificate cannot be used.
pub fn encrypted_dns(config: &Config) -> Result<Option<dns::Encrypted>, PairError> {
    let EncryptedDns { tls_listen, https_listen, quic_listen, certificate, key } = &config.encrypted_dns;
    let is_served = config.encrypted_dns.addresses().next().is_some();
    // Whoever listens has both: the settings were checked.
    let (Some(certificate), Some(key), true) = (certificate, key, is_served) else {
        return Ok(None);
    };
    let certificate = dns::Certificate::open(certificate, key)?;
    let (tls, https, quic) = (tls_listen.clone(), https_listen.clone(), quic_listen.clone());
    Ok(Some(dns::Encrypted { tls, https, quic, certificate }))
}

fn bind_dns(config: &Config, encrypted: Option<&dns::Encrypted>) -> Result<dns::Bound, dns::BindError> {
    let bound = dns::bind(&config.dns_listen)?;
    match encrypted {
        Some(encrypted) => bound.with_encrypted(encrypted),
        None => Ok(bound),
    }
}

/// Answers DNS from the moment at which that is right until the end.
async fn answer(
    config: &Config,
    started: &Started,
    (geo, measurements): (Arc<GeoTables>, Measurements),
    encrypted: Option<dns::Encrypted>,
    readiness: &Readiness,
    shutdown: &CancellationToken,
) -> Result<(), NodeError> {
    tokio::select! {
        () = caught_up(&started.membership, &started.proposer, readiness, config.start_grace) => {}
        () = shutdown.cancelled() => return Ok(()),
    }
    if let Some(path) = config.geo_database.clone() {
        geo.follow(path, started.reader.relocator()).await.map_err(NodeError::Signals)?;
    }
    let bound = bind_dns(config, encrypted.as_ref())?.measuring(measurements);
    if let Some(encrypted) = encrypted {
        encrypted.certificate.follow().map_err(NodeError::Signals)?;
    }
    readiness.serves_dns();
    tracing::info!(addresses = ?bound.addresses(), encrypted = ?bound.encrypted_addresses(), "answering DNS");
    bound.serve(started.reader.clone(), config.answers.clone(), shutdown.clone()).await;
    Ok(())
}

/// Returns once the member belongs to a cluster and has applied what was committed when it started, or, without a
/// leader, once `grace` has passed (DNS-20).
async fn caught_up(membership: &Membership, proposer: &Proposer, readiness: &Readiness, grace: Duration) {
    membership.seated().await;
    readiness.is_member();
    let barrier = async {
        while proposer.read_barrier().await.is_err() {
            tokio::time::sleep(CATCH_UP_PACE).await;
        }
    };
    if tokio::time::timeout(grace, barrier).await.is_err() {
        tracing::warn!("no leader within {grace:?}: answering DNS from this member's own last state");
    }
    readiness.has_caught_up();
}

/// Serves operators, agents and other members on one port.
async fn serve_grpc(
    connections: ReceiverStream<io::Result<Accepted>>,
    started: &Started,
    (geo, measurements, keys, credentials): (
        Arc<GeoTables>,
        Measurements,
        Arc<Keys>,
        Option<Arc<Credentials>>,
    ),
    timers: TimerProfile,
    shutdown: &CancellationToken,
) -> JoinHandle<()> {
    let membership = started.membership.clone();
    let identity = Identity {
        name: membership.name().to_owned(),
        id: Box::new({
            let membership = membership.clone();
            move || membership.id()
        }),
    };
    let ingest = Ingest::new(
        started.reader.clone(),
        started.proposer.clone(),
        started.leases.clone(),
        identity,
        Box::new(|extensions, agent, region| policy::admit_agent(extensions.get(), agent, region)),
        timers,
        shutdown.clone(),
    )
    .measuring(measurements)
    .unsealing(keys.clone());
    let recent = ingest.recent();
    started.outcomes.tell_from(Box::new(move |endpoints| recent.last(endpoints)));
    started.tables.tell_from(Box::new(move || geo.all_named()));
    let enrolling = Enrolling::new(enrolment::Door {
        reader: started.reader.clone(),
        proposer: started.proposer.clone(),
        keys: keys.clone(),
        credentials: credentials.clone(),
    });
    let admin = admin::services(
        started.reader.clone(),
        started.proposer.clone(),
        membership,
        started.outcomes.clone(),
        started.tables.clone(),
        (keys, credentials),
        shutdown.clone(),
    );
    let routes = admin
        .await
        .add_service(ingest.service())
        .add_service(enrolling.service())
        .add_service(started.raft_service.clone())
        .add_service(started.peer_service.clone());
    let server = Server::builder()
        .tcp_nodelay(true)
        .http2_keepalive_interval(Some(KEEPALIVE.0))
        .http2_keepalive_timeout(Some(KEEPALIVE.1))
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .add_routes(policy::guarded(routes))
        .serve_with_incoming_shutdown(connections, shutdown.clone().cancelled_owned());
    tokio::spawn(async move {
        if let Err(error) = server.await {
            tracing::error!(%error, "the gRPC listener failed");
        }
        ingest.ended().await;
    })
}

/// Serves the health pages.
fn serve_http(listener: TcpListener, web: Web, shutdown: CancellationToken) -> JoinHandle<()> {
    tokio::spawn(async move {
        let server = axum::serve(listener, web::router(web));
        if let Err(error) = server.with_graceful_shutdown(shutdown.cancelled_owned()).await {
            tracing::error!(%error, "the HTTP listener failed");
        }
    })
}

fn member_config(config: &Config, credentials: Option<Arc<Credentials>>) -> MemberConfig {
    MemberConfig {
        name: config.name.clone(),
        data_dir: config.data_dir.clone(),
        grpc_advertise: config.grpc_advertise.to_string(),
        dns_advertise: config.dns_advertise.clone(),
        http_advertise: format!("http://{}", config.http_listen),
        timers: timers(config),
        compaction: Compaction::after(config.snapshot_after),
        apply_level_max: config.apply_level_max,
        credentials,
    }
}

fn timers(config: &Config) -> TimerProfile {
    match config.timers {
        Timers::Local => TimerProfile::Local,
        Timers::Regional => TimerProfile::Regional,
        Timers::Global => TimerProfile::Global,
    }
}
