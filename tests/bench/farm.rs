//! The far side of probes: any number of endpoints on loopback behind one listener, as cheap as it can be, which notes who was probed
//! and when.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use waymark_proto::admin::v1::Protocol;

/// Threads that take connections, each one at a time.
const THREADS: usize = 4;

/// How long one may wait for a request.
const PATIENCE: Duration = Duration::from_secs(2);

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

/// One connection: to which address, and when it was taken.
pub(crate) type Visit = (IpAddr, Instant);

/// It ends with its owner.
pub(crate) struct Farm {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    visits: Arc<Mutex<Vec<Visit>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Farm {
    /// Every address of loopback is an endpoint that speaks `protocol`, on one port.
    pub(crate) fn start(protocol: Protocol) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port can be had");
        let address = listener.local_addr().expect("it has an address");
        let (stopping, visits) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<Visit>>>::default());
        let tls = (protocol == Protocol::Https).then(tls);
        let serve = |_| {
            let listener = listener.try_clone().expect("a descriptor can be had");
            let (stopping, visits, tls) = (stopping.clone(), visits.clone(), tls.clone());
            std::thread::spawn(move || {
                while let Ok((stream, _)) = listener.accept() {
                    if stopping.load(Ordering::Relaxed) {
                        return;
                    }
                    note(&stream, &visits);
                    // Whoever probes may be gone: the visit counts all the same.
                    let _ = match (&tls, protocol) {
                        (Some(tls), _) => answer_encrypted(stream, tls.clone()),
                        (None, Protocol::Tcp) => Ok(()),
                        (None, _) => answer(stream),
                    };
                }
            })
        };
        let threads = (0..THREADS).map(serve).collect();
        Self { address, stopping, visits, threads }
    }

    /// The port of all endpoints.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// How often endpoints were visited.
    pub(crate) fn count(&self) -> u64 {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    /// All visits until now.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Farm {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // Whoever takes this connection sees that it is to end; there is one for each.
            let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.address.port()));
            drop(thread);
        }
    }
}

/// The address of the endpoint of that number, below two million.
pub(crate) fn address(number: u32) -> Ipv4Addr {
    Ipv4Addr::from(0x7f10_0000 + number)
}

fn note(stream: &TcpStream, visits: &Mutex<Vec<Visit>>) {
    if let Ok(address) = stream.local_addr() {
        let mut visits = visits.lock().unwrap_or_else(PoisonError::into_inner);
        visits.push((address.ip(), Instant::now()));
    }
}

fn answer(mut stream: impl Read + Write) -> std::io::Result<()> {
    let (mut request, mut length) = ([0; 2_048], 0);
    while !request[..length].ends_with(b"\r\n\r\n") {
        match stream.read(&mut request[length..])? {
            0 => return Ok(()),
            more => length += more,
        }
    }
    stream.write_all(RESPONSE)
}

fn answer_encrypted(stream: TcpStream, tls: Arc<ServerConfig>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let connection = ServerConnection::new(tls).map_err(std::io::Error::other)?;
    answer(StreamOwned::new(connection, stream))
}

/// A certificate of its own, as endpoints have them that nobody vouches for.
fn tls() -> Arc<ServerConfig> {
    let made = rcgen::generate_simple_self_signed(["endpoint.bench.test".to_owned()]);
    let made = made.expect("a certificate can be made");
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![made.cert.der().clone()], key.into());
    Arc::new(config.expect("the pair matches"))
}
