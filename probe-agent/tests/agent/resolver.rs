//! Targets that are names: which address is probed, and whose fault it is when there is none.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME, NS};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use tokio::net::UdpSocket;
use tokio::time::Instant;
use waymark_agent::guard::Guard;
use waymark_agent::probe::{self, ProbeReport, Tools};
use waymark_agent::resolve::Resolver;
use waymark_core::health::OutcomeClass::{self, Agent, Dns, Ok as Success, Timeout};
use waymark_core::model::{Protocol, parse_target};

use crate::endpoint::{Endpoint, check, install_provider};

/// What a resolver says to one question; nothing at all if it is `None`.
type Reply = Option<(ResponseCode, Vec<RData>)>;

/// A resolver that answers by `reply`, to the name without its final dot and the type.
async fn resolver(reply: impl Fn(&str, RecordType) -> Reply + Send + Sync + 'static) -> SocketAddr {
    slow_resolver(Duration::ZERO, reply).await
}

/// The same, each answer `delay` late.
async fn slow_resolver(
    delay: Duration,
    reply: impl Fn(&str, RecordType) -> Reply + Send + Sync + 'static,
) -> SocketAddr {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    let reply = Arc::new(reply);
    tokio::spawn(async move {
        let mut buffer = [0; 4096];
        while let Ok((length, client)) = socket.recv_from(&mut buffer).await {
            let mut message = Message::from_vec(&buffer[..length]).unwrap();
            let query = message.queries[0].clone();
            let name = query.name().to_ascii().to_ascii_lowercase();
            let Some((code, records)) = reply(name.trim_end_matches('.'), query.query_type()) else {
                continue;
            };
            message.metadata.message_type = MessageType::Response;
            message.metadata.response_code = code;
            message.answers = records
                .into_iter()
                .map(|data| {
                    // What is behind a CNAME stands there under the alias's name.
                    let owner = match &data {
                        RData::A(_) if name.starts_with("alias") => Name::from_ascii("real.test.").unwrap(),
                        _ => query.name().clone(),
                    };
                    Record::from_rdata(owner, 0, data)
                })
                .collect();
            tokio::time::sleep(delay).await;
            let _ = socket.send_to(&message.to_vec().unwrap(), client).await;
        }
    });
    address
}

fn records(records: Vec<RData>) -> Reply {
    Some((ResponseCode::NoError, records))
}

fn v4() -> RData {
    RData::A(A::new(127, 0, 0, 1))
}

fn v6() -> RData {
    RData::AAAA(AAAA::new(0, 0, 0, 0, 0, 0, 0, 1))
}

/// Probes `name` with half a second's time.
async fn probe(tools: &Tools, name: &str, port: u16) -> ProbeReport {
    let mut check = check(Protocol::Http, (Ipv4Addr::LOCALHOST, port).into());
    check.target = parse_target(name).unwrap();
    check.timeout_ms = 500;
    probe::run(tools, &check).await
}

fn tools(resolver: SocketAddr) -> Tools {
    install_provider();
    Tools::new(Guard::new(true, vec![], vec![]), Resolver::new(Some(resolver)))
}

fn class(report: &ProbeReport) -> OutcomeClass {
    report.outcome.class
}

/// PRB-10, F-PRB-19: the IPv4 address if there is one, even if it is dead, else the IPv6 address; it is shown.
#[tokio::test]
async fn prb_10_v4_before_v6() {
    let endpoint = Endpoint::responding("HTTP/1.1 200 OK\r\n\r\n").await;
    let server = resolver(|name, kind| match (name, kind) {
        ("both.test", RecordType::A) => records(vec![v4()]),
        ("both.test", RecordType::AAAA) => records(vec![v6()]),
        ("six.test", RecordType::AAAA) => records(vec![v6()]),
        ("alias.test", RecordType::A) => {
            records(vec![RData::CNAME(CNAME(Name::from_ascii("real.test.").unwrap())), v4()])
        }
        _ => records(vec![]),
    })
    .await;
    let tools = tools(server);
    for (name, address) in [("both.test", "127.0.0.1"), ("alias.test", "127.0.0.1"), ("six.test", "::1")] {
        let report = probe(&tools, name, endpoint.address.port()).await;
        assert_eq!(report.address, Some(address.parse().unwrap()), "{name}: {report:?}");
        assert!(report.resolve.is_some());
        // Nobody listens on ::1.
        assert_eq!(class(&report) == Success, address == "127.0.0.1", "{report:?}");
    }
    assert_eq!(endpoint.visits()[0].header("host"), [format!("both.test:{}", endpoint.address.port())]);
    let report = probe(&tools, "none.test", 1).await;
    assert_eq!((class(&report), report.detail.as_str()), (Dns, "none.test has no address"));
}

/// PRB-9: the name's own trouble, while the resolver answers for others.
#[tokio::test]
async fn prb_9_a_name_that_is_not_answered_for_is_dns() {
    let server = resolver(|name, _| match name {
        "good.test" => records(vec![v4()]),
        "gone.test" => Some((ResponseCode::NXDomain, vec![])),
        "broken.test" => Some((ResponseCode::ServFail, vec![])),
        "silent.test" => None,
        _ => Some((ResponseCode::Refused, vec![])),
    })
    .await;
    let tools = tools(server);
    let endpoint = Endpoint::responding("HTTP/1.1 200 OK\r\n\r\n").await;
    assert_eq!(class(&probe(&tools, "good.test", endpoint.address.port()).await), Success);
    for (name, expected) in [("gone.test", Dns), ("broken.test", Dns), ("silent.test", Timeout)] {
        let start = Instant::now();
        let report = probe(&tools, name, 1).await;
        assert_eq!(class(&report), expected, "{report:?}");
        assert!(report.detail.starts_with(name) && report.address.is_none(), "{report:?}");
        assert!(start.elapsed().as_millis() < 1_000, "{:?}", start.elapsed());
    }
}

/// PRB-9: NXDOMAIN is an answer, also from a resolver that never gave an address.
#[tokio::test]
async fn prb_9_nxdomain_alone_is_dns() {
    let tools = tools(resolver(|_, _| Some((ResponseCode::NXDomain, vec![]))).await);
    assert_eq!(class(&probe(&tools, "gone.test", 1).await), Dns);
}

/// PRB-9: the only name there is has worked and then breaks, while the resolver answers for the root: the name's trouble,
/// not the agent's.
#[tokio::test]
async fn prb_9_the_only_name_breaks_by_itself() {
    let is_broken = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let switch = Arc::clone(&is_broken);
    let server = resolver(move |name, _| match name {
        "" => records(vec![RData::NS(NS(Name::from_ascii("a.root.test.").unwrap()))]),
        _ if switch.load(std::sync::atomic::Ordering::Relaxed) => Some((ResponseCode::ServFail, vec![])),
        _ => records(vec![v4()]),
    })
    .await;
    let tools = tools(server);
    let endpoint = Endpoint::responding("HTTP/1.1 200 OK\r\n\r\n").await;
    assert_eq!(class(&probe(&tools, "web.test", endpoint.address.port()).await), Success);
    is_broken.store(true, std::sync::atomic::Ordering::Relaxed);
    for _ in 0..3 {
        let report = probe(&tools, "web.test", endpoint.address.port()).await;
        assert_eq!(class(&report), Dns, "{report:?}");
    }
}

/// PRB-7: one deadline for all of it: a slow resolver leaves the response less time.
#[tokio::test]
async fn prb_7_the_resolver_and_the_head_share_one_deadline() {
    let server = slow_resolver(Duration::from_millis(300), |_, _| records(vec![v4()])).await;
    let endpoint = Endpoint::acting(|mut wire| async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let _ = tokio::io::AsyncWriteExt::write_all(&mut wire, b"HTTP/1.1 200 OK\r\n\r\n").await;
        wire
    })
    .await;
    let report = probe(&tools(server), "web.test", endpoint.address.port()).await;
    assert_eq!(class(&report), Timeout, "each of 300 ms fits into 500 ms, both do not: {report:?}");
    assert!(report.resolve.is_some() && report.first_byte.is_none(), "{report:?}");
}

/// PRB-9: a resolver that answers for no name, or is not there at all, is the agent's trouble.
#[tokio::test]
async fn prb_9_a_resolver_that_answers_for_no_name_is_the_agents_trouble() {
    let nobody = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap().local_addr().unwrap();
    for server in [
        resolver(|_, _| Some((ResponseCode::ServFail, vec![]))).await,
        resolver(|_, _| Some((ResponseCode::Refused, vec![]))).await,
        resolver(|_, _| None).await,
        nobody,
    ] {
        let tools = tools(server);
        let start = Instant::now();
        let report = probe(&tools, "web.test", 1).await;
        assert_eq!(class(&report), Agent, "{report:?}");
        assert!(report.detail.contains("resolver answers for no name"), "{report:?}");
        assert!(start.elapsed().as_millis() < 1_000, "{:?}", start.elapsed());
    }
}

/// PRB-9: a resolver that dies is the agent's trouble from its first silence on, for every name.
#[tokio::test]
async fn prb_9_a_resolver_that_dies_fails_no_endpoint() {
    let is_alive = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let switch = Arc::clone(&is_alive);
    let server = resolver(move |_, _| {
        let is_alive = switch.load(std::sync::atomic::Ordering::Relaxed);
        is_alive.then(|| (ResponseCode::NoError, vec![v4()]))
    })
    .await;
    let tools = tools(server);
    let endpoint = Endpoint::responding("HTTP/1.1 200 OK\r\n\r\n").await;
    assert_eq!(class(&probe(&tools, "web.test", endpoint.address.port()).await), Success);
    is_alive.store(false, std::sync::atomic::Ordering::Relaxed);
    for _ in 0..3 {
        assert_eq!(class(&probe(&tools, "web.test", endpoint.address.port()).await), Agent);
    }
}

/// Names in /etc/hosts need no resolver.
#[tokio::test]
async fn names_in_the_hosts_file_are_found() {
    let endpoint = Endpoint::responding("HTTP/1.1 200 OK\r\n\r\n").await;
    let tools = tools(resolver(|_, _| None).await);
    assert_eq!(class(&probe(&tools, "localhost", endpoint.address.port()).await), Success);
}
