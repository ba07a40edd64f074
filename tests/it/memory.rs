//! What one message can make a server allocate, and what any number of them can.
//!
//! Everything here runs on one thread, whose allocations are counted: what is measured is the most
//! that was allocated at any moment, not what the system made of it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use allocation_counter::measure;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use portcullis::layers::Mode;
use portcullis::service::Limits;
use portcullis::wire::json::RawJson;
use portcullis::{Gate, Operation, Prompt, Registry, Resource, Stack};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tower::ServiceExt as _;

use crate::support::message::{LEGACY, modern, request, tool};
use crate::support::registry::fixture;

const MIB: usize = 1024 * 1024;
const MOST: usize = 2 * MIB;

/// A JSON value of about this length, each made to cost as much as possible in another way.
fn values(length: usize) -> Vec<(&'static str, String)> {
    let repeat = |part: &str| part.repeat(length / part.len());
    let list = |part: &str| format!("[{}0]", repeat(part));
    let object = |width: usize| {
        let names = (b'!'..=b'~').filter(|name| !b"\"\\".contains(name));
        let members: Vec<_> = names
            .take(width)
            .map(|name| format!("\"{}\":1", char::from(name)))
            .collect();
        format!("{{{}}},", members.join(","))
    };
    let numbered = |name: &dyn Fn(usize) -> String| {
        let mut members = String::with_capacity(length + 64);
        for n in 0.. {
            if members.len() >= length {
                break;
            }
            members.push_str(&name(n));
        }
        format!("{{{members}\"\":0}}")
    };
    vec![
        ("empty lists", list("[],")),
        ("empty objects", list("{},")),
        ("digits", list("1,")),
        ("empty strings", list("\"\",")),
        ("quotes", list(r#""\"\"\"\"\"\"\"\"","#)),
        ("objects of one member", list(r#"{"":0},"#)),
        ("objects of 17 members", list(&object(17))),
        ("objects of 22 members", list(&object(22))),
        ("objects of 43 members", list(&object(43))),
        ("objects of 86 members", list(&object(86))),
        ("one wide object", numbered(&|n| format!("\"{n:x}\":0,"))),
        (
            "names that are almost the same",
            numbered(&|n| format!("\"aaaaaaaa{n:06x}aaaaaaaa\":0,")),
        ),
        (
            "names in escapes",
            numbered(&|n| format!("\"\\u0061{n:x}\":0,")),
        ),
        (
            "one name many times",
            format!("{{{}\"a\":0}}", repeat("\"a\":0,")),
        ),
        ("a text of escapes", format!("\"{}\"", repeat("\\u0041"))),
        (
            "a name of escapes",
            format!("{{\"{}\":0}}", repeat("\\u0041")),
        ),
        ("a text of line breaks", format!("\"{}\"", repeat("\\n"))),
        ("a long number", repeat("9")),
        (
            "text, then digits",
            format!(
                "[\"{}\",{}0]",
                "x".repeat(length / 2),
                "1,".repeat(length / 4)
            ),
        ),
        (
            "digits, then text",
            format!(
                "[{}\"{}\"]",
                "1,".repeat(length / 4),
                "x".repeat(length / 2)
            ),
        ),
        ("digits without an end", format!("[{}", repeat("1,"))),
        ("blanks", format!("[{}]", repeat(" "))),
    ]
}

/// Calls with each value, exactly this long.
fn hostile(length: usize) -> Vec<(&'static str, String)> {
    let call = |(name, value): (_, String)| {
        let arguments = tool("mirror", &format!("{{\"q\":{value}}}"));
        let text = modern("1", "tools/call", &arguments);
        let text = format!("{text}{}", " ".repeat(length - text.len()));
        (name, text)
    };
    values(length - 512).into_iter().map(call).collect()
}

fn gate_with(limits: Limits) -> Gate {
    let stack = Stack::new(fixture().0).mode(Mode::Plain).limits(limits);
    stack.build().unwrap()
}

fn post<B>(text: &str, body: B) -> Request<B> {
    let mut request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("content-length", text.len());
    for (name, value) in crate::support::message::derived_headers(text) {
        request = request.header(name, value);
    }
    if !text.contains("2026-07-28") {
        request = request.header("mcp-protocol-version", LEGACY);
    }
    request.body(body).unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(future)
}

/// The most that was allocated at any moment while this ran, in bytes.
fn peak(run: impl FnOnce()) -> usize {
    usize::try_from(measure(run).bytes_max).unwrap()
}

/// Sends a message over HTTP and reads the answer.
fn over_http(gate: &Gate, text: &str) -> usize {
    let body = Full::new(Bytes::from(text.as_bytes().to_vec()));
    let request = post(text, body);
    peak(|| {
        block_on(async {
            let response = gate.http().oneshot(request).await.unwrap();
            drop(response.into_body().collect().await.unwrap());
        });
    })
}

/// Sends a message as a line and reads the answer.
fn over_stdio(gate: &Gate, text: &str) -> usize {
    peak(|| {
        block_on(async {
            let (mut input, reader) = tokio::io::duplex(CHUNK);
            let (writer, mut output) = tokio::io::duplex(CHUNK);
            let served = gate.stdio().streams(reader, writer).run();
            let client = async {
                input.write_all(text.as_bytes()).await.unwrap();
                input.write_all(b"\n").await.unwrap();
                drop(input);
                let mut read = [0; 1024];
                let mut lines = 0;
                while let length @ 1.. = output.read(&mut read).await.unwrap() {
                    lines += read[..length].iter().filter(|byte| **byte == b'\n').count();
                }
                assert_eq!(lines, 1);
            };
            let (served, ()) = tokio::join!(served, client);
            served.unwrap();
        });
    })
}

/// Contract: S-158.
#[test]
fn one_message_takes_at_most_fourteen_times_its_size() {
    let gate = gate_with(Limits::default());
    // The figures do not depend on the size, so most of them are taken where it is quick.
    for length in [MOST, MOST / 8] {
        let mut worst = (0, "");
        for (name, text) in hostile(length) {
            if length == MOST && !["digits", "objects of 86 members"].contains(&name) {
                continue;
            }
            for send in [over_http, over_stdio] {
                worst = worst.max((send(&gate, &text), name));
            }
        }
        let (peak, name) = worst;
        println!("{length} bytes take {peak} with {name}");
        // The runtime and the pipe are there for any message.
        let around = 4 * CHUNK;
        assert!(
            peak - around <= 14 * length,
            "{length} bytes take {peak} with {name}"
        );
        assert!(
            peak >= 9 * length,
            "what is measured is not what it was meant for"
        );
    }
}

/// A body that comes in pieces, while others get theirs.
struct Dripping {
    rest: Bytes,
    due: bool,
}

impl http_body::Body for Dripping {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        self.due = !self.due;
        if self.due {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let length = self.rest.len().min(CHUNK);
        let piece = self.rest.split_to(length);
        Poll::Ready((length > 0).then(|| Ok(http_body::Frame::data(piece))))
    }
}

/// Calls that never end, as many at once as there are; how many were refused with 503.
async fn crowd(gate: &Gate, requests: Vec<Request<Dripping>>) -> usize {
    let mut refused = 0;
    let mut calls = tokio::task::JoinSet::new();
    for request in requests {
        calls.spawn(gate.http().oneshot(request));
    }
    let all = async {
        while let Some(answered) = calls.join_next().await {
            let response = answered.unwrap().unwrap();
            assert_eq!(response.status(), 503);
            assert_eq!(response.headers()["retry-after"], "1");
            refused += 1;
        }
    };
    // Ends as soon as nothing moves any more.
    let _ = tokio::time::timeout(Duration::from_secs(1), all).await;
    refused
}

/// Contract: S-158.
#[test]
fn any_number_of_messages_share_their_budget() {
    const LENGTH: usize = 128 * 1024;
    const BUDGET: usize = 4 * MIB;
    const CROWD: usize = 64;
    let limits = Limits::default().message_bytes(LENGTH as u64);
    let gate = gate_with(limits.ingress_bytes(BUDGET as u64));
    for (name, value) in values(LENGTH - 512) {
        let some = [
            "digits",
            "quotes",
            "objects of 22 members",
            "one wide object",
            "a text of escapes",
        ];
        if !some.contains(&name) {
            continue;
        }
        let text = request(
            "1",
            "tools/call",
            &tool("hang", &format!("{{\"q\":{value}}}")),
        );
        let request_of = |n: usize| {
            let rest = Bytes::from(text.clone().into_bytes());
            let mut request = post(&text, Dripping { rest, due: false });
            if n.is_multiple_of(2) {
                request.headers_mut().remove("content-length");
            }
            request
        };
        let requests = (0..CROWD).map(request_of).collect();
        let mut refused = 0;
        let peak = peak(|| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().start_paused(true).build().unwrap();
            refused = runtime.block_on(crowd(&gate, requests));
        });
        println!("{name}: {peak} bytes, {refused} refused");
        assert!(peak <= BUDGET + BUDGET / 10, "{name}: {peak} bytes");
        if name == "digits" {
            assert!((CROWD - 8..CROWD).contains(&refused), "{refused}");
            assert!(
                peak >= BUDGET / 2,
                "{peak} bytes: what others could have is not used"
            );
        }
        if name == "a text of escapes" {
            assert!(refused < CROWD - 8, "{refused} although they take little");
        }
    }
}

/// A result that cannot be sent is not written first.
///
/// Contract: S-098, S-105.
#[test]
fn a_result_that_is_too_large_is_not_written() {
    let text = || "\u{1}".repeat(20 * MIB);
    let registry = Registry::builder()
        .operation(Operation::new("text").handler(move || async move { text() }))
        .operation(Operation::new("value").handler(move || async move {
            RawJson::parse(["[\"", &"x".repeat(20 * MIB), "\"]"].concat()).unwrap()
        }))
        .resource(Resource::new("note://long", "Long").read(move || async move { text() }))
        .prompt(Prompt::new("long").handler(move || async move { text() }))
        .build()
        .unwrap();
    let gate = Stack::new(registry).mode(Mode::Plain).build().unwrap();
    for (method, params) in [
        ("tools/call", r#"{"name":"text"}"#),
        ("tools/call", r#"{"name":"value"}"#),
        ("resources/read", r#"{"uri":"note://long"}"#),
        ("prompts/get", r#"{"name":"long"}"#),
    ] {
        let peak = over_http(&gate, &modern("1", method, params)) / MIB;
        // The handler's own, and what it takes to make it.
        assert!((20..45).contains(&peak), "{method} {params}: {peak} MiB");
    }
}

/// Bytes that come at once.
const CHUNK: usize = 64 * 1024;
