//! HTTP in process: every request gets a proper answer, and the next one is served.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Uri};
use http_body::Body as _;
use tower::{BoxError, ServiceExt as _};

use crate::stack::Gate;
use crate::transport::Http;
use crate::wire::json::MAX_DEPTH;
use crate::wire::{Frame, RequestId};

use super::events::events;
use super::gate::{LONGEST, Written, gate, written};
use super::stdio::runtime;

/// The input is a request as it would stand on the wire. `Host` and `Content-Type` are added unless
/// a line takes them away (`-host`); `x-chunk: 7` is the size of the body's pieces, and with size 0
/// the body breaks off.
pub fn post(data: &[u8]) {
    let (gate, tally) = gate();
    let request = request(data);
    let sent = request.body().rest.clone();
    let before = tally.get();
    let answer = runtime().block_on(ask(&gate, request));
    let runs = tally.get() - before;
    assert!(runs <= 1, "one request ran {runs} times");
    assert!(
        runs == 0 || answer.succeeded(),
        "it was refused, and ran: {answer:?}"
    );
    answer.check(&sent);
    assert!(runtime().block_on(is_healthy(&gate)), "after {answer:?}");
}

#[derive(Debug)]
struct Answer {
    status: u16,
    media_type: Option<String>,
    body: String,
}

impl Answer {
    fn messages(&self) -> Vec<String> {
        match self.media_type.as_deref() {
            Some("application/json") => vec![self.body.clone()],
            Some("text/event-stream") => events(self.body.as_bytes()),
            _ => Vec::new(),
        }
    }

    /// Whether the last message is a result.
    fn succeeded(&self) -> bool {
        let messages = self.messages();
        let last = messages.last().map(|text| written(text));
        self.status == 200 && matches!(last, Some(Written::Result(_)))
    }

    /// It is of a known kind, and about the message that was sent.
    fn check(&self, sent: &[u8]) {
        let Self { status, .. } = self;
        let known = [200, 202, 400, 403, 404, 405, 406, 413, 415, 431];
        assert!(known.contains(status), "{self:?}");
        let messages = self.messages();
        if *status == 202 {
            assert!(self.body.is_empty() && messages.is_empty(), "{self:?}");
            return;
        }
        let (last, others) = messages.split_last().expect("an answer");
        for other in others {
            assert!(matches!(written(other), Written::Notification), "{self:?}");
        }
        let frame = Frame::parse(sent.to_vec(), MAX_DEPTH).ok();
        let asked = frame.as_ref().and_then(Frame::id);
        let told: Option<RequestId> = match written(last) {
            Written::Result(id) => Some(id),
            Written::Error(id) => id,
            Written::Notification => panic!("no reply: {self:?}"),
        };
        // Other refusals may come before the message was read.
        assert!(told.is_some() || ![200, 404].contains(status), "{self:?}");
        if let Some(told) = told {
            let asked = asked.expect("an id that was sent");
            assert_eq!(told.text(), asked.text());
            assert!(
                sent.len() <= LONGEST,
                "longer than accepted, and read: {self:?}"
            );
        }
    }
}

/// A call whose answer is known.
async fn is_healthy(gate: &Gate) -> bool {
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mirror","arguments":{"n":1.0}}}"#;
    let request = request(format!("POST /mcp\n\n{call}").as_bytes());
    let answer = ask(gate, request).await;
    answer.status == 200 && answer.body.contains(r#""text":"{\"n\":1.0}""#)
}

async fn ask(gate: &Gate, request: Request<Chunks>) -> Answer {
    let http: Http = gate.http();
    let response = http.oneshot(request).await.expect("it never fails");
    let (head, mut body) = response.into_parts();
    let mut read = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let data = frame.expect("a whole answer").into_data();
        read.extend_from_slice(&data.unwrap_or_default());
    }
    let media_type = head.headers.get(CONTENT_TYPE);
    Answer {
        status: head.status.as_u16(),
        media_type: media_type.map(|value| value.to_str().expect("text").to_owned()),
        body: String::from_utf8(read).expect("a body is UTF-8"),
    }
}

fn request(data: &[u8]) -> Request<Chunks> {
    let mut lines = data;
    let mut line = || {
        let (line, rest) = super::halves(lines);
        lines = rest;
        line.strip_suffix(b"\r").unwrap_or(line)
    };
    let first = line();
    let (method, path) = match memchr::memchr(b' ', first) {
        Some(at) => (&first[..at], &first[at + 1..]),
        None => (first, &b""[..]),
    };
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_static("localhost"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut chunk = usize::MAX;
    loop {
        let line = line();
        if line.is_empty() {
            break;
        }
        header(&mut headers, line, &mut chunk);
    }
    let mut request = Request::new(Chunks {
        rest: Bytes::copy_from_slice(lines),
        chunk,
    });
    *request.method_mut() = Method::from_bytes(method).unwrap_or(Method::POST);
    *request.uri_mut() = Uri::try_from(path).unwrap_or_default();
    *request.headers_mut() = headers;
    request
}

/// Adds what a line says to the headers. One that cannot stand there is left out.
fn header(headers: &mut HeaderMap, line: &[u8], chunk: &mut usize) {
    if let Some(name) = line.strip_prefix(b"-") {
        if let Ok(name) = HeaderName::from_bytes(name) {
            headers.remove(name);
        }
        return;
    }
    let Some(at) = memchr::memchr(b':', line) else {
        return;
    };
    let value = line[at + 1..].trim_ascii();
    if line[..at].eq_ignore_ascii_case(b"x-chunk") {
        let size = std::str::from_utf8(value).ok();
        *chunk = size.and_then(|size| size.parse().ok()).unwrap_or(1);
    } else if let (Ok(name), Ok(value)) = (
        HeaderName::from_bytes(&line[..at]),
        HeaderValue::from_bytes(value),
    ) {
        headers.append(name, value);
    }
}

/// A body that comes in pieces.
struct Chunks {
    rest: Bytes,
    chunk: usize,
}

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, BoxError>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.chunk.min(self.rest.len());
        Poll::Ready(Some(match self.rest.split_to(length) {
            none if none.is_empty() => Err("the connection broke".into()),
            piece => Ok(http_body::Frame::data(piece)),
        }))
    }
}
