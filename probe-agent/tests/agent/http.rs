//! http probes: what is a success, and what each kind of failure is called.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::Instant;
use waymark_core::health::OutcomeClass::{Ok as Success, Protocol, Reset, Status, Timeout};
use waymark_core::model::StatusRange;

use crate::endpoint::{Endpoint, expect_outcome, with_header};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn status(code: &str) -> String {
    format!("HTTP/1.1 {code} X\r\nContent-Length: 0\r\n\r\n")
}

/// PRB-1, PRB-4, PRB-5, PRB-7, PRB-9: one GET with each header once, all phases measured, the connection gone.
#[tokio::test]
async fn prb_1_a_success_is_one_request_and_its_head() {
    let endpoint = Endpoint::responding(OK).await;
    let mut check = endpoint.check();
    check.path = "/health?deep=1".to_owned();
    let report = expect_outcome(&check, Success, Some(200)).await;
    assert_eq!(report.address, Some(endpoint.address.ip()));
    assert!(report.connect.is_some() && report.first_byte.is_some(), "{report:?}");
    assert!(report.resolve.is_none() && report.tls.is_none() && report.certificate.is_none(), "{report:?}");
    let visit = endpoint.only_visit().await;
    assert!(visit.request.starts_with("GET /health?deep=1 HTTP/1.1\r\n"), "{}", visit.request);
    assert_eq!(visit.header("host"), [endpoint.address.to_string()]);
    assert_eq!(visit.header("user-agent"), [concat!("waymark-agent/", env!("CARGO_PKG_VERSION"))]);
    assert_eq!(visit.more, 0, "nothing but the request");
}

/// PRB-1, SET-9: only the listed codes; the code is in the outcome and in the reason.
#[tokio::test]
async fn prb_1_any_other_status_is_a_failure() {
    for code in [204_u16, 206, 301, 401, 404, 500, 503, 522, 599, 999] {
        let endpoint = Endpoint::responding(status(&code.to_string())).await;
        let report = expect_outcome(&endpoint.check(), Status, Some(code)).await;
        assert_eq!(report.detail, format!("status {code}, expected 200"));
    }
    let endpoint = Endpoint::responding(status("401")).await;
    let mut check = endpoint.check();
    check.expect = vec![StatusRange { min: 200, max: 204 }, StatusRange { min: 401, max: 401 }];
    expect_outcome(&check, Success, Some(401)).await;
}

/// PRB-2, F-PRB-01: the redirect itself is judged.
#[tokio::test]
async fn prb_2_redirects_are_not_followed() {
    let elsewhere = Endpoint::responding(OK).await;
    let redirect = format!("HTTP/1.1 302 Found\r\nLocation: http://{}/\r\n\r\n", elsewhere.address);
    let endpoint = Endpoint::responding(redirect).await;
    expect_outcome(&endpoint.check(), Status, Some(302)).await;
    let mut check = endpoint.check();
    check.expect = vec![StatusRange { min: 302, max: 302 }];
    expect_outcome(&check, Success, Some(302)).await;
    assert!(elsewhere.visits().is_empty());
}

/// PRB-2, F-PRB-03: the head decides; the rest is left to the server, which is hung up on at once.
#[tokio::test]
async fn prb_2_the_body_is_not_waited_for() {
    for (what, response) in [
        ("a slow body", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"),
        ("a body of unknown length", "HTTP/1.1 200 OK\r\n\r\n"),
        (
            "a chunk of absurd size",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nxx",
        ),
        ("a bomb's head", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9999999\r\n\r\n\x1f"),
        ("NUL in the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\0\0"),
        ("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n"),
        ("no reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n"),
    ] {
        let endpoint = Endpoint::responding(response).await;
        let start = Instant::now();
        expect_outcome(&endpoint.check(), Success, Some(200)).await;
        assert!(start.elapsed() < Duration::from_millis(900), "{what} was waited for");
        endpoint.only_visit().await;
    }
}

/// PRB-1, PRB-7: one deadline, also for a head that trickles.
#[tokio::test]
async fn prb_7_a_head_that_is_late_is_a_timeout() {
    let trickling = Endpoint::acting(|mut wire| async move {
        for byte in status("200").bytes() {
            if wire.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        wire
    })
    .await;
    let silent = Endpoint::responding("").await;
    for endpoint in [trickling, silent] {
        let mut check = endpoint.check();
        check.timeout_ms = 300;
        let start = Instant::now();
        let report = expect_outcome(&check, Timeout, None).await;
        assert!((300..900).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        assert_eq!(report.detail, "no whole response head within 300 ms");
        assert!(report.connect.is_some() && report.first_byte.is_none());
        let visit = endpoint.only_visit().await;
        assert!(!visit.request.is_empty());
    }
}

/// PRB-9, F-PRB-06: hung up on without a whole head; asked once and never again.
#[tokio::test]
async fn prb_7_a_closed_connection_is_a_reset_and_no_second_try() {
    for partial in ["", "HTTP/1.1 200 OK\r\nContent-Le"] {
        let endpoint = Endpoint::accepting(move |endpoint, stream, index| async move {
            let act: Box<dyn Fn() -> &'static str + Send> = Box::new(move || partial);
            let mut stream = stream;
            let mut buffer = [0; 4096];
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut buffer).await;
            let _ = stream.write_all(act().as_bytes()).await;
            drop(stream);
            endpoint.update(index, |visit| visit.end = Some("closed"));
        })
        .await;
        let report = expect_outcome(&endpoint.check(), Reset, None).await;
        assert_eq!(report.detail, "closed before the response head was whole");
        // Had there been a second try, it would have come before the report.
        endpoint.only_visit().await;
    }
}

/// PRB-9: a reset connection, before and after the request.
#[tokio::test]
async fn prb_9_a_reset_connection_is_a_reset() {
    for reads_first in [true, false] {
        let endpoint = Endpoint::accepting(move |_, mut stream, _| async move {
            if reads_first {
                let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 4096]).await;
            }
            stream.set_zero_linger().unwrap();
        })
        .await;
        expect_outcome(&endpoint.check(), Reset, None).await;
        assert_eq!(endpoint.visits().len(), 1);
    }
}

/// PRB-9, F-PRB-10: what is not HTTP is a failure, not a crash.
#[tokio::test]
async fn prb_9_what_is_not_http_is_protocol() {
    for response in [
        "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 99 X\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\0\0\0\0\0\0\0\0",
        "HTTP/1.1 200 OK\r\nbad header line\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ] {
        let endpoint = Endpoint::responding(response).await;
        let report = expect_outcome(&endpoint.check(), Protocol, None).await;
        assert!(report.detail.starts_with("no HTTP response: "), "{report:?}");
    }
}

/// PRB-1: bytes that are odd but legal do not matter.
#[tokio::test]
async fn prb_1_odd_bytes_are_no_failure() {
    for response in [
        b"HTTP/1.1 200 \xff\xfe\r\nX-Odd: \xc3\x28\xff\r\nContent-Length: 0\r\n\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\nX-Long: ".iter().copied().chain([b'y'; 30_000]).chain(*b"\r\n\r\n").collect(),
    ] {
        let endpoint = Endpoint::responding(response).await;
        expect_outcome(&endpoint.check(), Success, Some(200)).await;
    }
}

/// PRB-12, F-PRB-17: whatever comes, no more than a bound of it is taken in: the endpoint is hung up on long before it
/// has sent everything.
#[tokio::test]
async fn prb_12_what_is_taken_in_is_bounded() {
    let line = "HTTP/1.1 200 OK\r\nX-Pad: ".to_owned();
    let lines = format!("HTTP/1.1 200 OK\r\n{}", "X-Pad: y\r\n".repeat(10_000));
    let reason = "HTTP/1.1 200 ".to_owned();
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
    let plain = "HTTP/1.1 200 OK\r\n\r\n".to_owned();
    let chunk = format!("400\r\n{}\r\n", "x".repeat(1024));
    for (what, head, filler, outcome) in [
        ("20 MB of header", line, "y".repeat(1024), (Protocol, None)),
        ("10,000 header lines", lines, "X-Pad: y\r\n".repeat(100), (Protocol, None)),
        ("10 MB of status line", reason, "z".repeat(1024), (Protocol, None)),
        ("an endless body", plain, "x".repeat(1024), (Success, Some(200))),
        ("endless chunks", chunked, chunk, (Success, Some(200))),
    ] {
        let sent = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&sent);
        let endpoint = Endpoint::acting(move |mut wire| {
            let (head, filler, sent) = (head.clone(), filler.clone(), std::sync::Arc::clone(&counted));
            async move {
                let mut piece = head;
                while wire.write_all(piece.as_bytes()).await.is_ok() {
                    sent.fetch_add(piece.len(), std::sync::atomic::Ordering::Relaxed);
                    piece.clone_from(&filler);
                }
                wire
            }
        })
        .await;
        expect_outcome(&endpoint.check(), outcome.0, outcome.1).await;
        endpoint.only_visit().await;
        // The kernels on both ends hold some megabytes on loopback.
        let sent = sent.load(std::sync::atomic::Ordering::Relaxed);
        assert!(sent < 16 * 1024 * 1024, "{what}: {sent} bytes were taken in");
    }
}

/// PRB-12: a head has 64 KiB, and what is longer is no answer, also if it ends.
#[tokio::test]
async fn prb_12_a_head_has_64_kib() {
    let padded = |length: usize| format!("HTTP/1.1 200 OK\r\nX-Pad: {}\r\n\r\n", "y".repeat(length));
    for (length, class, status) in [(60_000, Success, Some(200)), (256 * 1024, Protocol, None)] {
        let endpoint = Endpoint::responding(padded(length)).await;
        expect_outcome(&endpoint.check(), class, status).await;
        endpoint.only_visit().await;
    }
}

/// PRB-1: interim heads are passed over; 101 is final.
#[tokio::test]
async fn prb_1_the_final_head_counts() {
    for interim in ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"] {
        let endpoint = Endpoint::responding(format!("{interim}{interim}{OK}")).await;
        expect_outcome(&endpoint.check(), Success, Some(200)).await;
    }
    let endpoint = Endpoint::responding("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n").await;
    expect_outcome(&endpoint.check(), Status, Some(101)).await;
}

/// PRB-4, PRB-5: the check's own headers are sent in place of the usual ones, each exactly once.
#[tokio::test]
async fn prb_4_custom_headers_are_sent_once() {
    let endpoint = Endpoint::responding(OK).await;
    let check = with_header(endpoint.check(), "hOsT", "shop.example.org");
    let check = with_header(check, "User-Agent", "curl/8");
    let check = with_header(check, "X-Token", "abc");
    expect_outcome(&check, Success, Some(200)).await;
    let visit = endpoint.only_visit().await;
    assert_eq!(visit.header("host"), ["shop.example.org"]);
    assert_eq!(visit.header("user-agent"), ["curl/8"]);
    assert_eq!(visit.header("x-token"), ["abc"]);
}

/// PRB-7, F-PRB-05: every probe has a connection of its own.
#[tokio::test]
async fn prb_7_every_probe_connects_anew() {
    let endpoint = Endpoint::responding(OK).await;
    for _ in 0..3 {
        expect_outcome(&endpoint.check(), Success, Some(200)).await;
    }
    let visits = endpoint.visits();
    let mut ports: Vec<u16> = visits.iter().map(|visit| visit.port).collect();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 3, "{visits:?}");
    assert!(visits.iter().all(|visit| visit.request.matches("GET ").count() == 1), "{visits:?}");
}
