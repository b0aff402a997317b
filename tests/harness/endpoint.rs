//! An endpoint that can be broken and healed: HTTP, HTTPS or bare TCP on a loopback address of its own.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What an endpoint does with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers a request with this status.
    Status(u16),
    /// Answers one request with this status, and every further one with 200.
    StatusOnce(u16),
    /// Answers so many requests of each address with this status, and every further one of it with 200.
    StatusEach(u16, u32),
    /// Closes without a word.
    Close,
    /// Says nothing for this long, then closes.
    Silent(Duration),
}

/// How long an endpoint waits for a request.
const REQUEST_PATIENCE: Duration = Duration::from_secs(2);

/// Answers that are kept; the oldest give way. Hours of a few agents.
const ANSWERS_MAX: usize = 65_536;

/// One request, and what it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When, by the monotonic clock.
    pub at: Instant,
    /// Who asked: an agent's address.
    pub from: IpAddr,
    /// What it called itself (`User-Agent`).
    pub agent: String,
    /// The status that it was answered.
    pub status: u16,
}

#[derive(Debug)]
struct Shared {
    behaviour: Mutex<Behaviour>,
    /// Requests of each address since the endpoint behaves as it does.
    asked: Mutex<BTreeMap<IpAddr, u32>>,
    answers: Mutex<VecDeque<Answer>>,
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
            asked: Mutex::default(),
            answers: Mutex::default(),
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
        let mut held = self.shared.behaviour.lock().expect("no holder panics");
        self.shared.asked.lock().expect("no holder panics").clear();
        *held = behaviour;
    }

    /// What it has answered, the oldest first.
    ///
    /// # Panics
    /// Never.
    pub fn answers(&self) -> Vec<Answer> {
        self.shared.answers.lock().expect("no holder panics").iter().cloned().collect()
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
        Behaviour::Status(_) | Behaviour::StatusOnce(_) | Behaviour::StatusEach(..) => {
            stream.set_read_timeout(Some(REQUEST_PATIENCE))?;
            let from = stream.peer_addr()?.ip();
            let request = read_request(&mut stream)?;
            let status = shared.status(behaviour, from);
            shared.note(Answer { at: Instant::now(), from, agent: agent_of(&request), status });
            *shared.last_request.lock().expect("no holder panics") = request;
            shared.requests.fetch_add(1, Ordering::Relaxed);
            write!(stream, "HTTP/1.1 {status} Test\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
    }
}

impl Shared {
    fn status(&self, behaviour: Behaviour, from: IpAddr) -> u16 {
        match behaviour {
            Behaviour::Status(status) | Behaviour::StatusOnce(status) => status,
            Behaviour::StatusEach(status, times) => {
                let mut asked = self.asked.lock().expect("no holder panics");
                let asked = asked.entry(from).or_default();
                *asked += 1;
                if *asked <= times { status } else { 200 }
            }
            Behaviour::Close | Behaviour::Silent(_) => 0,
        }
    }

    fn note(&self, answer: Answer) {
        let mut answers = self.answers.lock().expect("no holder panics");
        if answers.len() == ANSWERS_MAX {
            answers.pop_front();
        }
        answers.push_back(answer);
    }
}

fn agent_of(request: &str) -> String {
    let fields = request.lines().filter_map(|line| line.split_once(':'));
    let mut named = fields.filter(|(name, _)| name.eq_ignore_ascii_case("user-agent"));
    named.next().map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_fails_so_often_and_all_is_written_down() {
        let endpoint = FakeEndpoint::http(SocketAddr::from(([127, 0, 0, 1], crate::ports::free())));
        endpoint.behave(Behaviour::StatusEach(503, 2));
        let ask = || {
            let mut stream = TcpStream::connect(endpoint.address()).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nuser-agent: me\r\n\r\n").unwrap();
            let mut reply = String::new();
            stream.read_to_string(&mut reply).unwrap();
            reply[9..12].to_owned()
        };
        assert_eq!([ask(), ask(), ask()], ["503", "503", "200"]);
        let answers = endpoint.answers();
        assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [503, 503, 200]);
        assert!(answers.iter().all(|answer| answer.agent == "me" && answer.from == endpoint.ip()));
        assert!(answers.is_sorted_by_key(|answer| answer.at));
    }
}
