//! A `waymark-node` process with its addresses and its data directory.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use crate::caller::Caller;
use crate::cli::Cli;
use crate::eventually::{claim, eventually};
use crate::pki;
use crate::ports;
use crate::process::Process;

/// A member of a cluster under test. Its data and addresses outlive its process.
#[derive(Debug)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Where its log file and data directory are.
    pub directory: PathBuf,
    /// Its gRPC address.
    pub grpc: SocketAddr,
    /// Its DNS address.
    pub dns: SocketAddr,
    /// Its HTTP address.
    pub http: SocketAddr,
    /// Further flags for every start.
    pub flags: Vec<String>,
    /// Variables in its environment at every start, beside those of this process.
    pub environment: Vec<(&'static str, PathBuf)>,
    process: Option<Process>,
}

impl Member {
    /// A member that is not started yet, with free ports.
    pub fn new(name: &str, directory: &Path) -> Self {
        let address = || SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
        Self {
            name: name.to_owned(),
            directory: directory.to_owned(),
            grpc: address(),
            dns: address(),
            http: address(),
            flags: Vec::new(),
            environment: Vec::new(),
            process: None,
        }
    }

    /// The address that CLI and agents are given.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.is_plain() { "http" } else { "https" }, self.grpc)
    }

    /// Calls it as the operator of the test.
    pub fn caller(&self) -> Caller {
        Caller::new(&self.url(), pki::open(pki::operator(&self.directory)))
    }

    /// Does it speak plain text? With `--dev` among its flags.
    fn is_plain(&self) -> bool {
        self.flags.iter().any(|flag| flag == "--dev")
    }

    /// A CLI with this member as its only endpoint.
    pub fn cli(&self) -> Cli {
        Cli { endpoints: self.url(), identity: (!self.is_plain()).then(|| pki::operator(&self.directory)) }
    }

    /// Its data directory.
    pub fn data(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// The command line that it is started with.
    pub fn arguments(&self) -> Vec<String> {
        let data = self.data().display().to_string();
        let (grpc, dns, http) = (self.grpc.to_string(), self.dns.to_string(), self.http.to_string());
        let pairs = [
            ("--name", self.name.as_str()),
            ("--data-dir", &data),
            ("--grpc-listen", &grpc),
            ("--dns-listen", &dns),
            ("--http-listen", &http),
        ];
        let given = pairs.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value.to_owned()]);
        let tls = match self.is_plain() {
            true => Vec::new(),
            false => pki::arguments(&pki::identity(&self.directory, "member", None, &self.name), "tls-"),
        };
        given.chain(tls).chain(self.flags.iter().cloned()).collect()
    }

    /// Starts its process and returns at once.
    pub fn start(&mut self) {
        let log = self.directory.join(format!("{}.log", self.name));
        let (arguments, environment) = (self.arguments(), &self.environment);
        self.process = Some(Process::start_with("waymark-node", &arguments, environment, &log));
    }

    /// Its process.
    ///
    /// # Panics
    /// When it was never started or has been ended.
    pub fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("the member was started")
    }

    /// Is a process there that has not ended?
    pub fn is_running(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| process.ended().is_none())
    }

    /// Its process id, 0 without a process.
    pub fn pid(&self) -> u32 {
        self.process.as_ref().map_or(0, Process::id)
    }

    /// Ends it as a crash would.
    pub fn kill(&mut self) {
        self.process().kill();
        self.process = None;
    }

    /// Waits until its gRPC port takes connections.
    pub fn listens(&mut self) {
        let (name, grpc) = (self.name.clone(), self.grpc);
        eventually(&format!("{name} listens"), || {
            self.check_alive(|| {
                std::net::TcpStream::connect(grpc).map(drop).map_err(|error| error.to_string())
            })
        });
    }

    /// Waits until it is ready: part of a cluster, caught up, answering DNS.
    pub fn ready(&mut self) {
        let (name, http) = (self.name.clone(), self.http);
        eventually(&format!("{name} is ready"), || {
            self.check_alive(|| {
                let answer = reqwest::blocking::get(format!("http://{http}/readyz"))
                    .map_err(|error| error.to_string())?;
                let ready = answer.status().is_success();
                claim(ready, answer.text().unwrap_or_default())
            })
        });
    }

    fn check_alive(&mut self, check: impl Fn() -> Result<(), String>) -> Result<(), String> {
        if let Some(process) = &mut self.process
            && let Some(status) = process.ended()
        {
            panic!("{} ended with {status}:\n{}", self.name, process.log());
        }
        check()
    }
}
