//! An endpoint that does to a probe whatever a test tells it to, and remembers what came.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use waymark_agent::guard::Guard;
use waymark_agent::probe::{self, ProbeReport, Tools};
use waymark_agent::resolve::Resolver;
use waymark_core::health::{Check, OutcomeClass};
use waymark_core::model::{Header, Protocol, Revision, StatusRange, Target};

/// What came over one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visit {
    /// The other side's port.
    pub(crate) port: u16,
    /// The request head, if one came.
    pub(crate) request: String,
    /// Bytes that came behind it.
    pub(crate) more: usize,
    /// How it ended: `closed`, `reset`, or nothing while it lasts.
    pub(crate) end: Option<&'static str>,
}

impl Visit {
    /// The values of a header, in the order in which they came.
    pub(crate) fn header(&self, name: &str) -> Vec<&str> {
        let lines = self.request.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).collect()
    }
}

/// Anything that bytes go through.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Wire for S {}

type Act = Arc<dyn Fn(Box<dyn Wire>) -> BoxFuture<'static, Box<dyn Wire>> + Send + Sync>;

/// A listening endpoint.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    visits: Arc<Mutex<Vec<Visit>>>,
}

impl Endpoint {
    /// Reads a request on each connection, then writes `response` and waits for the other side's end.
    pub(crate) async fn responding(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::acting(move |mut wire| {
            let response = response.clone();
            async move {
                // An endpoint that is left while it speaks is what some tests are about.
                let _ = wire.write_all(&response).await;
                wire
            }
        })
        .await
    }

    /// Reads a request on each connection, then does `act` with it and waits for the other side's end.
    pub(crate) async fn acting<F, A>(act: F) -> Self
    where
        F: Fn(Box<dyn Wire>) -> A + Send + Sync + 'static,
        A: Future<Output = Box<dyn Wire>> + Send + 'static,
    {
        let act: Act = Arc::new(move |wire| act(wire).boxed());
        Self::accepting(move |endpoint, stream, index| {
            let act = Arc::clone(&act);
            async move {
                endpoint.converse(index, Box::new(stream), &act).await;
            }
        })
        .await
    }

    /// Does `accept` with each connection; the number is its visit's.
    pub(crate) async fn accepting<F, A>(accept: F) -> Self
    where
        F: Fn(Self, TcpStream, usize) -> A + Send + Sync + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let endpoint = Self { address: listener.local_addr().unwrap(), visits: Arc::default() };
        let serving = endpoint.clone();
        tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                let index = serving.note(Visit { port: peer.port(), ..Visit::default() });
                tokio::spawn(accept(serving.clone(), stream, index));
            }
        });
        endpoint
    }

    fn note(&self, visit: Visit) -> usize {
        let mut visits = self.visits.lock().unwrap();
        visits.push(visit);
        visits.len() - 1
    }

    /// Changes what is remembered of a visit.
    pub(crate) fn update(&self, index: usize, change: impl FnOnce(&mut Visit)) {
        change(&mut self.visits.lock().unwrap()[index]);
    }

    /// A whole conversation: request, act, end.
    pub(crate) async fn converse(&self, index: usize, mut wire: Box<dyn Wire>, act: &Act) {
        let request = read_head(&mut wire).await;
        self.update(index, |visit| visit.request = request);
        let wire = act(wire).await;
        self.wait_for_end(index, wire).await;
    }

    /// Reads until the other side ends the connection.
    pub(crate) async fn wait_for_end(&self, index: usize, mut wire: Box<dyn Wire>) {
        let mut buffer = [0; 4096];
        loop {
            match wire.read(&mut buffer).await {
                Ok(0) => return self.update(index, |visit| visit.end = Some("closed")),
                Ok(count) => self.update(index, |visit| visit.more += count),
                Err(_) => return self.update(index, |visit| visit.end = Some("reset")),
            }
        }
    }

    /// What has come so far.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        self.visits.lock().unwrap().clone()
    }

    /// The only visit there was, once it has ended.
    pub(crate) async fn only_visit(&self) -> Visit {
        eventually("the visit ends", || self.visits().first().is_some_and(|visit| visit.end.is_some())).await;
        let mut visits = self.visits();
        assert_eq!(visits.len(), 1, "{visits:?}");
        visits.remove(0)
    }

    /// An http check of it.
    pub(crate) fn check(&self) -> Check {
        check(Protocol::Http, self.address)
    }
}

async fn read_head(wire: &mut Box<dyn Wire>) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match wire.read(&mut byte).await {
            Ok(1) => head.push(byte[0]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A check of an address, with a second's time; another one for each port.
pub(crate) fn check(protocol: Protocol, address: SocketAddr) -> Check {
    Check {
        protocol,
        target: Target::from(address.ip()),
        port: address.port(),
        path: "/".to_owned(),
        interval_ms: 1_000,
        timeout_ms: 1_000,
        expect: vec![StatusRange { min: 200, max: 200 }],
        headers: Vec::new(),
        revision: Revision(u64::from(address.port())),
    }
}

/// `check` with a header more.
pub(crate) fn with_header(mut check: Check, name: &str, value: &str) -> Check {
    check.headers.push(Header { name: name.to_owned(), value: value.into() });
    check
}

/// Makes the rustls provider that `main` would.
pub(crate) fn install_provider() {
    // All tests but the first find it installed.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

/// What all probes of the tests share, as those of an agent do that may probe loopback.
pub(crate) fn tools() -> Tools {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    install_provider();
    TOOLS.get_or_init(|| Tools::new(Guard::new(true, vec![], vec![]), Resolver::new(None))).clone()
}

/// Probes, and asserts on the outcome.
pub(crate) async fn expect_outcome(check: &Check, class: OutcomeClass, status: Option<u16>) -> ProbeReport {
    let report = probe::run(&tools(), check).await;
    assert_eq!((report.outcome.class, report.outcome.status), (class, status), "{report:?}");
    assert_eq!(report.detail.is_empty(), class == OutcomeClass::Ok, "{report:?}");
    report
}

/// Waits until `holds`, for ten seconds at most.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(
        tokio::time::timeout(Duration::from_secs(10), wait).await.is_ok(),
        "not within ten seconds: {what}"
    );
}
