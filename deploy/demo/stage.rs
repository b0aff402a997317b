//! What the demo consists of: a cluster, its agents, two profiles and the endpoints behind them.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use harness::{Cluster, FakeEndpoint, Member, eventually, ports};
use serde_json::{Value, json};

use crate::keeper::Keeper;

/// The zone that the demo serves.
pub(crate) const ZONE: &str = "waymark.test";

/// Where the members listen if the ports are free.
const DNS_PORT: u16 = 5301;
const GRPC_PORT: u16 = 7411;
const HTTP_PORT: u16 = 7511;

/// The port of all endpoints: each has a loopback address of its own.
const ENDPOINT_PORT: u16 = 18_080;

/// Agents' regions and where they are.
const REGIONS: [(&str, &str); 3] = [("europe", "50.1,8.7"), ("america", "39.0,-77.5"), ("asia", "1.3,103.8")];

/// Endpoints: profile, name, last two bytes of the address, further flags.
const ENDPOINTS: [(&str, &str, [u8; 2], &str); 5] = [
    ("web", "first", [1, 1], "--priority 1"),
    ("web", "second", [1, 2], "--priority 2"),
    ("web", "third", [1, 3], "--priority 3"),
    ("api", "large", [2, 1], "--weight 80"),
    ("api", "small", [2, 2], "--weight 20"),
];

/// Everything that runs.
pub(crate) struct Stage {
    pub(crate) cluster: Cluster,
    pub(crate) endpoints: Vec<Placed>,
    /// Dropped last: it waits until everything else is gone.
    keeper: Keeper,
}

/// An endpoint with its name.
pub(crate) struct Placed {
    pub(crate) profile: &'static str,
    pub(crate) name: &'static str,
    pub(crate) server: FakeEndpoint,
}

impl Stage {
    /// Starts everything and waits until every endpoint is Online.
    pub(crate) fn set() -> Self {
        let directory = tempfile::Builder::new().prefix("waymark-demo-").tempdir();
        let directory = directory.expect("a temporary directory can be made");
        let keeper = Keeper::start(directory.path());
        let members = (0..3_u16).map(|at| member(at, directory.path())).collect();
        let cluster = Cluster::found(directory, members);
        let endpoint_port = if ports::is_free(ENDPOINT_PORT) { ENDPOINT_PORT } else { ports::free() };
        let mut stage = Self { cluster, endpoints: Vec::new(), keeper };
        stage.tell_keeper();
        stage.place_endpoints(endpoint_port);
        stage.configure(endpoint_port);
        stage.tell_keeper();
        stage.all_online();
        stage.write_environment();
        stage
    }

    /// A file that makes a shell an operator of this demo.
    fn environment(&self) -> PathBuf {
        self.cluster.directory().join("env")
    }

    fn write_environment(&self) {
        let cli = self.cluster.cli();
        let binary = PathBuf::from(&cli.prefix()[0]);
        let binaries = binary.parent().expect("a binary is in a directory").display();
        let variables =
            cli.environment().into_iter().map(|(name, value)| format!("export {name}='{value}'\n"));
        let text = format!("export PATH='{binaries}':\"$PATH\"\n{}", variables.collect::<String>());
        std::fs::write(self.environment(), text).expect("the demo's directory can be written");
    }

    /// Tells the keeper of every process that runs now.
    pub(crate) fn tell_keeper(&mut self) {
        for member in &self.cluster.members {
            self.keeper.tell(member.pid());
        }
        for agent in &self.cluster.agents {
            self.keeper.tell(agent.pid());
        }
    }

    fn place_endpoints(&mut self, port: u16) {
        for (profile, name, [c, d], _) in ENDPOINTS {
            let server = FakeEndpoint::http(SocketAddr::from((Ipv4Addr::new(127, 0, c, d), port)));
            self.endpoints.push(Placed { profile, name, server });
        }
    }

    fn configure(&mut self, port: u16) {
        let cli = self.cluster.cli();
        let name_servers: String = (1..=3).map(|n| format!(" --ns ns{n}.{ZONE}=127.0.0.1")).collect();
        cli.ok(&format!("zone create {ZONE}{name_servers}"));
        for (name, routing) in [("web", "priority"), ("api", "weighted")] {
            cli.ok(&format!(
                "profile create {name} --zone {ZONE} --relative-name {name} --routing {routing} --ttl 5 \
                 --protocol http --port {port} --path /health --interval 1s --timeout 500ms --tolerated-failures 2"
            ));
        }
        for (placed, (.., flags)) in self.endpoints.iter().zip(ENDPOINTS) {
            cli.ok(&format!(
                "endpoint add {} {} --target {} {flags}",
                placed.profile,
                placed.name,
                placed.server.ip()
            ));
        }
        for (region, place) in REGIONS {
            cli.ok(&format!("region set {region} --at {place}"));
            self.cluster.start_agent(region);
        }
    }

    fn all_online(&self) {
        let cli = self.cluster.cli();
        eventually("every endpoint is Online", || {
            let text = cli.run("status -o json").stdout;
            let online = text.matches("\"Online\"").count();
            // Five endpoints and the two profiles themselves.
            if online >= ENDPOINTS.len() + 2 { Ok(()) } else { Err(text) }
        });
    }

    /// Where everything is, for machines (OPS-1).
    pub(crate) fn describe(&self) -> Value {
        let members = self.cluster.members.iter().enumerate().map(|(at, member)| {
            json!({
                "id": at + 1, "name": member.name, "dns": member.dns, "grpc": member.url(),
                "http": format!("http://{}", member.http), "pid": member.pid(),
            })
        });
        let agents = self
            .cluster
            .agents
            .iter()
            .map(|agent| json!({ "name": agent.name, "region": agent.region, "pid": agent.pid() }));
        let endpoints = self.endpoints.iter().map(|placed| {
            json!({ "name": format!("{}/{}", placed.profile, placed.name), "address": placed.server.address() })
        });
        json!({
            "zone": ZONE,
            "cli": self.cluster.cli().prefix(),
            "env": self.environment(),
            "members": members.collect::<Value>(),
            "agents": agents.collect::<Value>(),
            "endpoints": endpoints.collect::<Value>(),
        })
    }

    /// Tells a person where everything is and what to try.
    pub(crate) fn introduce(&self) {
        println!("\nMembers, each of which answers DNS and takes commands:");
        for member in &self.cluster.members {
            println!(
                "  {}  DNS {}  gRPC {}  health http://{}/readyz",
                member.name,
                member.dns,
                member.url(),
                member.http
            );
        }
        println!("Endpoints:");
        for placed in &self.endpoints {
            println!("  {}/{}  http://{}/health", placed.profile, placed.name, placed.server.address());
        }
        let dns = self.cluster.members[1].dns;
        println!(
            "\nMembers speak TLS and want to know who asks. In another terminal, to be the demo's operator:"
        );
        println!("  . {}", self.environment().display());
        println!("Three things to try there:");
        println!("  dig @{} -p {} web.{ZONE} +short", dns.ip(), dns.port());
        println!("  waymark explain web.{ZONE}");
        println!("  waymark status --watch\n");
    }
}

fn member(at: u16, directory: &std::path::Path) -> Member {
    let mut member = Member::new(&format!("m{}", at + 1), directory);
    let wanted = [(&mut member.dns, DNS_PORT), (&mut member.grpc, GRPC_PORT), (&mut member.http, HTTP_PORT)];
    for (address, first) in wanted {
        if ports::is_free(first + at) {
            address.set_port(first + at);
        }
    }
    member
}
