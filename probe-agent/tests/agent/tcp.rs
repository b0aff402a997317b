//! tcp probes, and what a connection can fail of.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::AsyncReadExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;
use waymark_agent::guard::Guard;
use waymark_agent::probe::{self, Tools};
use waymark_agent::resolve::Resolver;
use waymark_core::health::OutcomeClass::{Agent, Ok as Success, Refused, Timeout};
use waymark_core::model::Protocol;

use crate::endpoint::{Endpoint, check, expect_outcome, install_provider, with_header};

/// A port of loopback on which nobody listens.
async fn closed_port() -> SocketAddr {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    socket.local_addr().unwrap()
}

/// PRB-6, F-PRB-18: established is enough; then comes RST, and not a byte before it.
#[tokio::test]
async fn prb_6_a_connection_is_enough_and_is_reset() {
    let endpoint = Endpoint::accepting(|endpoint, mut stream, index| async move {
        let end = match stream.read(&mut [0; 64]).await {
            Ok(0) => "closed",
            Ok(_) => "spoke",
            Err(_) => "reset",
        };
        endpoint.update(index, |visit| visit.end = Some(end));
    })
    .await;
    let report = expect_outcome(&check(Protocol::Tcp, endpoint.address), Success, None).await;
    assert_eq!(report.address, Some(endpoint.address.ip()));
    assert!(report.connect.is_some() && report.first_byte.is_none(), "{report:?}");
    assert_eq!(endpoint.only_visit().await.end, Some("reset"));
}

/// PRB-6, PRB-9: refused is told at once.
#[tokio::test]
async fn prb_9_a_closed_port_is_refused() {
    for protocol in Protocol::ALL {
        let report = expect_outcome(&check(protocol, closed_port().await), Refused, None).await;
        assert!(report.connect.is_none(), "{report:?}");
    }
}

/// PRB-6, PRB-9, F-PRB-18: a port that swallows every packet, as a listener does whose queue is full.
#[tokio::test]
async fn prb_9_a_silent_port_is_a_timeout() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    // Nobody accepts: the queue fills, and then SYNs are dropped.
    while let Ok(stream) =
        tokio::time::timeout(std::time::Duration::from_millis(200), TcpStream::connect(address)).await
    {
        waiting.push(stream.unwrap());
    }
    let mut check = check(Protocol::Tcp, address);
    check.timeout_ms = 300;
    let start = Instant::now();
    let report = expect_outcome(&check, Timeout, None).await;
    assert_eq!(report.detail, "no connection within 300 ms");
    assert!((300..900).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
}

/// PRB-13: what the guard refuses is not connected to, and is trouble of the agent's own, with the reason.
#[tokio::test]
async fn prb_13_what_is_refused_is_not_touched() {
    install_provider();
    let endpoint = Endpoint::responding("HTTP/1.1 200 OK\r\n\r\n").await;
    let denied = Guard::new(true, vec![], vec!["127.0.0.0/8".parse().unwrap()]);
    for (guard, reason) in [(Guard::new(false, vec![], vec![]), "--allow-loopback"), (denied, "guard.deny")] {
        let tools = Tools::new(guard, Resolver::new(None));
        for protocol in Protocol::ALL {
            let mut check = check(protocol, endpoint.address);
            if protocol == Protocol::Http {
                // By name too: the guard looks at what it resolves to.
                check.target = waymark_core::model::parse_target("localhost").unwrap();
            }
            let report = probe::run(&tools, &check).await;
            assert_eq!(report.outcome.class, Agent, "{report:?}");
            assert!(report.detail.contains(reason), "{report:?}");
            assert_eq!(report.address, Some(endpoint.address.ip()));
        }
    }
    assert!(endpoint.visits().is_empty());
}

/// A request that cannot be sent is the agent's trouble, and costs the endpoint no connection.
#[tokio::test]
async fn what_cannot_be_sent_is_not_tried() {
    let endpoint = Endpoint::responding("HTTP/1.1 200 OK\r\n\r\n").await;
    let plain = || endpoint.check();
    let mut bad_path = plain();
    bad_path.path = "/a b".to_owned();
    for check in [
        bad_path,
        with_header(plain(), "X Y", "1"),
        with_header(plain(), "X", "a\r\nb: c"),
        with_header(plain(), "Content-Length", "5"),
        with_header(plain(), "transfer-encoding", "chunked"),
    ] {
        let report = expect_outcome(&check, Agent, None).await;
        assert!(report.detail.contains("cannot be sent"), "{report:?}");
    }
    let secret = expect_outcome(&with_header(plain(), "X-Key", "s3\ncr3t"), Agent, None).await;
    assert!(!secret.detail.contains("cr3t"), "{secret:?}");
    assert!(endpoint.visits().is_empty());
}
