//! Over HTTPS: DNS-15's HTTP/1.1, HTTP/2, statuses and freshness, DNS-22, and of DNS-14 the limits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::certificates::*;
use super::packets::*;
use super::sockets::*;
use super::streams::is_closed;
use super::zone::view;
use crate::dns::places::Limits;

const KEY: &str = "dns_https_listen";
const FORMAT: &str = "application/dns-message";

type Body = Full<Bytes>;

/// A client of either version.
enum Client {
    One(http1::SendRequest<Body>),
    Two(http2::SendRequest<Body>),
}

impl Client {
    async fn send(&mut self, request: Request<Body>) -> hyper::Result<Response<Bytes>> {
        let exchange = async {
            let response = match self {
                Self::One(sender) => {
                    sender.ready().await?;
                    sender.send_request(request).await?
                }
                Self::Two(sender) => sender.send_request(request).await?,
            };
            let (head, body) = response.into_parts();
            Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
        };
        timeout(DEADLINE, exchange).await.expect("in time")
    }

    async fn is_answered(&mut self, id: u16) -> bool {
        let response = self.send(post(numbered(id))).await;
        response.is_ok_and(|response| Seen::of(response.body()).id == id)
    }
}

async fn stream(pair: &Pair, address: SocketAddr, protocol: &str) -> TlsStream<TcpStream> {
    let stream = TcpStream::connect(address).await.expect("it listens");
    stream.set_nodelay(true).expect("the option");
    let name = ServerName::try_from("localhost").expect("a name");
    let connector = TlsConnector::from(Arc::new(pair.client(protocol)));
    connector.connect(name, stream).await.expect("hands are shaken")
}

async fn one(secure: &SecureDoor) -> Client {
    let stream = stream(&secure.pair, secure.address(KEY), "http/1.1").await;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP/1.1");
    tokio::spawn(connection);
    Client::One(sender)
}

async fn two(secure: &SecureDoor) -> Client {
    let stream = stream(&secure.pair, secure.address(KEY), "h2").await;
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2");
    tokio::spawn(connection);
    Client::Two(sender)
}

fn request(method: Method, target: &str, body: Vec<u8>) -> Request<Body> {
    let request = Request::builder().method(method).uri(format!("https://localhost{target}"));
    request.header("content-type", FORMAT).body(Full::new(body.into())).expect("a request")
}

fn post(message: Vec<u8>) -> Request<Body> {
    request(Method::POST, "/dns-query", message)
}

fn get(message: &[u8]) -> Request<Body> {
    request(Method::GET, &format!("/dns-query?dns={}", BASE64URL_NOPAD.encode(message)), Vec::new())
}

#[tokio::test]
async fn dns_15_get_and_post_over_both_versions_get_the_same_answer() {
    let secure = SecureDoor::open_on(view(), Limits::of_process());
    let query = query("app.example.com");
    for mut client in [one(&secure).await, two(&secure).await] {
        for request in [get(&query), post(query.clone())] {
            let response = client.send(request).await.expect("a response");
            assert_eq!(response.status(), StatusCode::OK);
            assert_eq!(response.headers()["content-type"], FORMAT);
            assert_eq!(response.headers()["cache-control"], "max-age=30");
            let seen = Seen::of(response.body());
            assert_eq!((seen.id, seen.rcode, seen.counts), (ID, NO_ERROR, [1, 1, 0, 0]));
            assert_eq!(seen.bytes[seen.bytes.len() - 4..], [192, 0, 2, 80]);
        }
    }
    let counts = secure.door.statistics.counts();
    assert_eq!((counts.queries, counts.connections), (4, 2));
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_15_each_request_gets_its_status() {
    let secure = SecureDoor::open();
    let (asked, dns) = (numbered(1), BASE64URL_NOPAD.encode(&numbered(1)));
    let typed = |kind: &'static str| {
        let mut request = post(numbered(1));
        request.headers_mut().insert("content-type", kind.parse().expect("a value"));
        request
    };
    for mut client in [one(&secure).await, two(&secure).await] {
        for (request, status) in [
            (request(Method::POST, "/", asked.clone()), 404),
            (request(Method::GET, &format!("/dns-query/?dns={dns}"), Vec::new()), 404),
            (request(Method::PUT, "/dns-query", asked.clone()), 405),
            (request(Method::HEAD, &format!("/dns-query?dns={dns}"), Vec::new()), 405),
            (request(Method::GET, "/dns-query", Vec::new()), 400),
            (request(Method::GET, &format!("/dns-query?dns={dns}="), Vec::new()), 400),
            (request(Method::GET, "/dns-query?dns=!!", Vec::new()), 400),
            (get(b"short"), 400),
            (get(&header(QR, [0; 4])), 400),
            (typed("application/json"), 415),
            (typed("Application/DNS-Message; charset=x"), 200),
            (post(Vec::new()), 400),
            (post(vec![0; 65_536]), 413),
            (request(Method::GET, &format!("/dns-query?a=b&dns={dns}"), Vec::new()), 200),
            // Whatever the answer says: it is one.
            (post(header(0, [0; 4])), 200),
        ] {
            let what = format!("{} {}", request.method(), request.uri());
            let response = client.send(request).await.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(response.status(), status, "{what}");
            if status == 405 {
                assert_eq!(response.headers()["allow"], "GET, POST");
            }
            if status == 413 && matches!(client, Client::One(_)) {
                // The rest of such a body is not waited for.
                client = one(&secure).await;
            }
        }
    }
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_15_a_reply_is_fresh_as_long_as_what_is_in_it() {
    let secure = SecureDoor::open_on(view(), Limits::of_process());
    let mut client = two(&secure).await;
    for (name, expected) in [
        ("app.example.com", "max-age=30"),
        ("ns1.example.com", "max-age=3600"),
        ("nope.example.com", "max-age=30"),
        ("elsewhere.test", "no-store"),
    ] {
        let response = client.send(get(&query(name))).await.expect("a response");
        assert_eq!(
            (response.status(), &response.headers()["cache-control"]),
            (StatusCode::OK, &expected.parse().expect("a value")),
            "{name}"
        );
    }
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_15_many_streams_are_answered_at_once() {
    let secure = SecureDoor::open();
    let Client::Two(sender) = two(&secure).await else { unreachable!("it is one") };
    let asked = (0..500).map(|id| {
        let mut client = Client::Two(sender.clone());
        tokio::spawn(async move { client.is_answered(id).await })
    });
    for answered in asked.collect::<Vec<_>>() {
        assert!(answered.await.expect("no panic"));
    }
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_14_who_asks_nothing_over_https_is_closed() {
    let limits = Limits { idle_max: Duration::from_millis(500), ..Limits::of_process() };
    let secure = SecureDoor::open_with(limits);
    let mut silent = stream(&secure.pair, secure.address(KEY), "h2").await;
    let mut half = stream(&secure.pair, secure.address(KEY), "http/1.1").await;
    half.write_all(b"POST /dns-query HTTP/1.1\r\nHost: x\r\n").await.expect("it can be sent");
    let mut body = stream(&secure.pair, secure.address(KEY), "http/1.1").await;
    let head = format!(
        "POST /dns-query HTTP/1.1\r\nHost: x\r\nContent-Type: {FORMAT}\r\nContent-Length: 50\r\n\r\n1"
    );
    body.write_all(head.as_bytes()).await.expect("it can be sent");
    let mut refused = two(&secure).await;
    let begun = Instant::now();
    let ended = async {
        for stream in [&mut silent, &mut half, &mut body] {
            while !is_closed(stream).await {}
        }
        while refused.send(request(Method::POST, "/", Vec::new())).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(DEADLINE, ended).await.expect("in time");
    assert!(begun.elapsed() < DEADLINE / 2, "{:?}", begun.elapsed());
    assert!(one(&secure).await.is_answered(1).await);
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_22_requests_that_have_come_are_answered_before_the_end() {
    let secure = SecureDoor::open();
    let mut streams = Vec::new();
    for id in 0..10 {
        let mut stream = stream(&secure.pair, secure.address(KEY), "http/1.1").await;
        let target = BASE64URL_NOPAD.encode(&numbered(id));
        let request = format!("GET /dns-query?dns={target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it can be sent");
        stream.flush().await.expect("it can be sent");
        streams.push(stream);
    }
    let mut client = two(&secure).await;
    assert!(client.is_answered(1).await);
    let asked = tokio::spawn(async move { client.is_answered(2).await });
    while secure.door.statistics.counts().connections < 11 {
        tokio::task::yield_now().await;
    }
    let begun = Instant::now();
    secure.door.shut().await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    for stream in &mut streams {
        let mut response = Vec::new();
        let read = timeout(DEADLINE, stream.read_to_end(&mut response)).await.expect("in time");
        assert!(response.starts_with(b"HTTP/1.1 200 OK\r\n"), "{read:?} {response:?}");
    }
    assert!(asked.await.expect("no panic"));
}

/// DNS-14: a client that opens streams and resets them at once asks nothing and costs much; it is shut out, and alone.
#[tokio::test]
async fn dns_14_streams_that_are_reset_at_once_shut_their_client_out() {
    const SETTINGS: u8 = 4;
    const HEADERS: u8 = 1;
    const RESET: u8 = 3;
    const END_HEADERS: u8 = 4;
    let frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = (payload.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    };
    // POST, https and two literals (RFC 7541).
    let head = [&[0x83, 0x87, 0x04, 10][..], b"/dns-query", &[0x01, 9], b"localhost"].concat();
    let secure = SecureDoor::open();
    let mut other = two(&secure).await;
    let mut stream = stream(&secure.pair, secure.address(KEY), "h2").await;
    let begun = Instant::now();
    let flood = async {
        let preface = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &frame(SETTINGS, 0, 0, &[])[..]].concat();
        stream.write_all(&preface).await?;
        for nth in 0..10_000 {
            let id = nth * 2 + 1;
            let both = [frame(HEADERS, END_HEADERS, id, &head), frame(RESET, 0, id, &[0, 0, 0, 8])].concat();
            stream.write_all(&both).await?;
        }
        stream.flush().await
    };
    let _ = timeout(DEADLINE, flood).await.expect("in time");
    while !is_closed(&mut stream).await {}
    assert!(
        begun.elapsed() < Limits::of_process().idle_max / 2,
        "it was not for being idle: {:?}",
        begun.elapsed()
    );
    assert!(other.is_answered(1).await);
    secure.door.shut().await;
}
