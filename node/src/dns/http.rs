//! From a request to a response: where the query is in it, which status it gets, and for how long the reply is fresh
//! (RFC 8484).

use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use tokio::time::timeout;

use super::visit::{MESSAGE_MAX, Pieces, Visit};

/// The one path that is served (RFC 8484 §4.1.1 leaves it to us, and this is what clients expect).
const PATH: &str = "/dns-query";

/// The one format that is spoken (RFC 8484 §6).
const FORMAT: &str = "application/dns-message";

/// How long a body may take to come.
const BODY_TIME_MAX: Duration = Duration::from_secs(5);

/// The response to `request`. The first line that fits holds:
///
/// | request                                                  | status |
/// |----------------------------------------------------------|--------|
/// | for another path                                         | 404    |
/// | neither GET nor POST                                     | 405    |
/// | GET without `dns`, or not in base64url without padding   | 400    |
/// | POST of something else than `application/dns-message`    | 415    |
/// | POST that is longer than a message can be                | 413    |
/// | POST whose body does not come in time                    | 408    |
/// | a message that gets no reply: a response, or no header   | 400    |
/// | a message that gets one, whatever its response code      | 200    |
pub(super) async fn respond(visit: &Visit, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let reply = match query(visit, request).await {
        Ok(query) => visit.answer(&query).ok_or(StatusCode::BAD_REQUEST),
        Err(status) => Err(status),
    };
    match reply {
        Ok((reply, fresh_s)) => told(reply, fresh_s),
        Err(status) => refused(status),
    }
}

async fn query(visit: &Visit, request: Request<Incoming>) -> Result<Vec<u8>, StatusCode> {
    if request.uri().path() != PATH {
        return Err(StatusCode::NOT_FOUND);
    }
    match *request.method() {
        Method::GET => in_target(request.uri().query().unwrap_or_default()).ok_or(StatusCode::BAD_REQUEST),
        Method::POST if is_format(request.headers()) => in_body(visit, request.into_body()).await,
        Method::POST => Err(StatusCode::UNSUPPORTED_MEDIA_TYPE),
        _ => Err(StatusCode::METHOD_NOT_ALLOWED),
    }
}

async fn in_body(visit: &Visit, mut body: Incoming) -> Result<Vec<u8>, StatusCode> {
    let mut query = Vec::new();
    let gathered = timeout(BODY_TIME_MAX, visit.gather(&mut body, MESSAGE_MAX, &mut query)).await;
    match gathered.map_err(|_| StatusCode::REQUEST_TIMEOUT)? {
        Ok(true) => Ok(query),
        Ok(false) => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::BAD_REQUEST),
    }
}

impl Pieces for Incoming {
    type Error = hyper::Error;

    async fn next(&mut self) -> Result<Option<Bytes>, hyper::Error> {
        while let Some(frame) = self.frame().await {
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

/// The query in a target's variables.
fn in_target(variables: &str) -> Option<Vec<u8>> {
    let text = variables.split('&').find_map(|variable| variable.strip_prefix("dns="))?;
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()
}

fn is_format(headers: &HeaderMap) -> bool {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = text.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(FORMAT)
}

/// A cache in between is answered as the resolver that it is: by its own address, or by the client subnet that stands in the
/// message, and so in what it keys its entries by.
fn told(reply: Bytes, fresh_s: Option<u32>) -> Response<Full<Bytes>> {
    let fresh = match fresh_s {
        Some(seconds) => HeaderValue::try_from(format!("max-age={seconds}")).expect("digits are no controls"),
        None => HeaderValue::from_static("no-store"),
    };
    let mut response = Response::new(Full::new(reply));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(FORMAT));
    response.headers_mut().insert(CACHE_CONTROL, fresh);
    response
}

fn refused(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dns_15_a_query_in_a_target_has_no_padding_and_no_other_letters() {
        for (variables, expected) in [
            ("dns=AAA", Some(vec![0, 0])),
            ("a=b&dns=-_8&c", Some(vec![0xfb, 0xff])),
            ("dns=", Some(vec![])),
            ("dns=AAA=", None),
            ("dns=+/8", None),
            ("dns=A", None),
            ("dns", None),
            ("", None),
        ] {
            assert_eq!(in_target(variables), expected, "{variables}");
        }
    }
}
