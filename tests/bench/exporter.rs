//! Prometheus' blackbox_exporter, as Debian packages it: what most people probe with, one probe for each request.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use harness::eventually;
use harness::peer::Running;
use harness::ports;
use reqwest::blocking::Client;
use tempfile::TempDir;
use waymark_proto::admin::v1::Protocol;

const PROGRAM: &str = "/usr/bin/prometheus-blackbox-exporter";

const CONFIG: &str = "modules:
  http:
    prober: http
    timeout: 5s
    http:
      preferred_ip_protocol: ip4
      tls_config:
        insecure_skip_verify: true
  tcp:
    prober: tcp
    timeout: 5s
";

/// A process of it that ends with its owner.
pub(crate) struct Exporter {
    running: Running,
    address: SocketAddr,
    client: Client,
    _directory: TempDir,
}

impl Exporter {
    /// Starts it where it is installed.
    pub(crate) fn start() -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory can be made");
        let config = directory.path().join("config.yml");
        std::fs::write(&config, CONFIG).expect("a file can be written");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
        let arguments =
            [format!("--config.file={}", config.display()), format!("--web.listen-address={address}")];
        let running = Running::start(Path::new(PROGRAM), &arguments, directory.path());
        let client = Client::new();
        eventually("the exporter listens", || {
            client.get(format!("http://{address}/-/healthy")).send().map_err(|error| error.to_string())
        });
        Some(Self { running, address, client, _directory: directory })
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.running.0.id()
    }

    /// Has it probe the endpoint at `target` once.
    pub(crate) fn probe(&self, protocol: Protocol, target: SocketAddr) {
        let (module, target) = match protocol {
            Protocol::Tcp => ("tcp", target.to_string()),
            Protocol::Https => ("http", format!("https://{target}/")),
            _ => ("http", format!("http://{target}/")),
        };
        let url = format!("http://{}/probe?module={module}&target={target}", self.address);
        let told = self.client.get(url).send().and_then(reqwest::blocking::Response::text);
        let told = told.expect("the exporter answers");
        assert!(told.contains("probe_success 1"), "{target} was not probed well: {told}");
    }
}
