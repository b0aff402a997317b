//! An endpoint that can be broken and healed: HTTP, HTTPS or bare TCP on a loopback address of its own.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What an endpoint does with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers a request with this status.
    Status(u16),
    /// Answers one request with this status, and every further one with 200.
    StatusOnce(u16),
    /// Closes without a word.
    Close,
    /// Says nothing for this long, then closes.
    Silent(Duration),
}

/// How long an endpoint waits for a request.
const REQUEST_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct Shared {
    behaviour: Mutex<Behaviour>,
    stopping: AtomicBool,
    connections: AtomicU64,
    requests: AtomicU64,
    last_request: Mutex<String>,
}

/// A server on loopback.
#[derive(Debug)]
pub struct FakeEndpoint {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl FakeEndpoint {
    /// Serves HTTP on `address`, 200 for everything.
    ///
    /// # Panics
    /// When the address cannot be had.
    pub fn http(address: SocketAddr) -> Self {
        let shared = Arc::new(Shared {
            behaviour: Mutex::new(Behaviour::Status(200)),
            stopping: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            last_request: Mutex::default(),
        });
        let mut endpoint = Self { address, shared, thread: None };
        endpoint.heal();
        endpoint
    }

    /// Its address, without the port: the endpoint's target.
    pub fn ip(&self) -> IpAddr {
        self.address.ip()
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on does `behaviour` with each connection.
    pub fn behave(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().expect("no holder panics") = behaviour;
    }

    /// How many connections it has taken.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// How many requests it has read to their end.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// The last request that it has read, as it came.
    ///
    /// # Panics
    /// Never.
    pub fn last_request(&self) -> String {
        self.shared.last_request.lock().expect("no holder panics").clone()
    }

    /// Is it listening?
    pub fn is_up(&self) -> bool {
        self.thread.is_some()
    }

    /// Stops listening: from now on connections are refused.
    pub fn stop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.shared.stopping.store(true, Ordering::Relaxed);
        // The listener looks at the flag when a connection wakes it.
        let _ = TcpStream::connect(self.address);
        let _ = thread.join();
    }

    /// Listens again.
    ///
    /// # Panics
    /// When the address cannot be had.
    pub fn heal(&mut self) {
        if self.thread.is_some() {
            return;
        }
        self.shared.stopping.store(false, Ordering::Relaxed);
        let listener = listen(self.address).unwrap_or_else(|error| panic!("{}: {error}", self.address));
        let shared = self.shared.clone();
        self.thread = Some(std::thread::spawn(move || serve(&listener, &shared)));
    }
}

impl Drop for FakeEndpoint {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Listens at once again on an address whose last connections still linger.
fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = socket2::Socket::new(socket2::Domain::for_address(address), socket2::Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(128)?;
    Ok(socket.into())
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else { continue };
        shared.connections.fetch_add(1, Ordering::Relaxed);
        let behaviour = {
            let mut held = shared.behaviour.lock().expect("no holder panics");
            let healed = if let Behaviour::StatusOnce(_) = *held { Behaviour::Status(200) } else { *held };
            std::mem::replace(&mut *held, healed)
        };
        let shared = shared.clone();
        std::thread::spawn(move || {
            // The other side may be gone: that is its own matter.
            let _ = answer(stream, behaviour, &shared);
        });
    }
}

fn answer(mut stream: TcpStream, behaviour: Behaviour, shared: &Shared) -> std::io::Result<()> {
    match behaviour {
        Behaviour::Close => Ok(()),
        Behaviour::Silent(patience) => {
            stream.set_read_timeout(Some(patience))?;
            std::io::copy(&mut stream, &mut std::io::sink()).map(drop)
        }
        Behaviour::Status(status) | Behaviour::StatusOnce(status) => {
            stream.set_read_timeout(Some(REQUEST_PATIENCE))?;
            let request = read_request(&mut stream)?;
            *shared.last_request.lock().expect("no holder panics") = request;
            shared.requests.fetch_add(1, Ordering::Relaxed);
            write!(stream, "HTTP/1.1 {status} Test\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
    }
}

fn read_request(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut request, mut part) = (Vec::new(), [0; 1024]);
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut part)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            length => request.extend_from_slice(&part[..length]),
        }
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}
