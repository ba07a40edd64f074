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

/// Makes a JSON value of about this length.
type Value = fn(usize) -> String;

/// Values, each made to cost as much as possible in another way.
const VALUES: [(&str, Value); 22] = [
    ("empty lists", |length| list("[],", length)),
    ("empty objects", |length| list("{},", length)),
    ("digits", |length| list("1,", length)),
    ("empty strings", |length| list("\"\",", length)),
    ("quotes", |length| list(r#""\"\"\"\"\"\"\"\"","#, length)),
    ("objects of one member", |length| list(r#"{"":0},"#, length)),
    ("objects of 17 members", |length| list(&object(17), length)),
    ("objects of 22 members", |length| list(&object(22), length)),
    ("objects of 43 members", |length| list(&object(43), length)),
    ("objects of 86 members", |length| list(&object(86), length)),
    ("one wide object", |length| {
        members(length, |n| format!("\"{n:x}\":0,"))
    }),
    ("names that are almost the same", |length| {
        members(length, |n| format!("\"aaaaaaaa{n:06x}aaaaaaaa\":0,"))
    }),
    ("names in escapes", |length| {
        members(length, |n| format!("\"\\u0061{n:x}\":0,"))
    }),
    ("one name many times", |length| {
        members(length, |_| "\"a\":0,".to_owned())
    }),
    ("a text of escapes", |length| {
        format!("\"{}\"", repeat("\\u0041", length))
    }),
    ("a name of escapes", |length| {
        format!("{{\"{}\":0}}", repeat("\\u0041", length))
    }),
    ("a text of line breaks", |length| {
        format!("\"{}\"", repeat("\\n", length))
    }),
    ("a long number", |length| repeat("9", length)),
    ("text, then digits", |length| {
        format!(
            "[\"{}\",{}0]",
            repeat("x", length / 2),
            repeat("1,", length / 2)
        )
    }),
    ("digits, then text", |length| {
        format!(
            "[{}\"{}\"]",
            repeat("1,", length / 2),
            repeat("x", length / 2)
        )
    }),
    ("digits without an end", |length| {
        format!("[{}", repeat("1,", length))
    }),
    ("blanks", |length| format!("[{}]", repeat(" ", length))),
];

fn repeat(part: &str, length: usize) -> String {
    part.repeat(length / part.len())
}

fn list(element: &str, length: usize) -> String {
    format!("[{}0]", repeat(element, length))
}

/// An object with so many members, each of which has the shortest name there is.
fn object(width: usize) -> String {
    let names = (b'!'..=b'~').filter(|name| !b"\"\\".contains(name));
    let members: Vec<_> = names
        .take(width)
        .map(|name| format!("\"{}\":1", char::from(name)))
        .collect();
    format!("{{{}}},", members.join(","))
}

fn members(length: usize, member: impl Fn(usize) -> String) -> String {
    let mut members = String::with_capacity(length + 64);
    for n in 0.. {
        if members.len() >= length {
            break;
        }
        members.push_str(&member(n));
    }
    format!("{{{members}\"\":0}}")
}

/// A call with such a value, exactly this long.
fn hostile(value: Value, length: usize) -> String {
    let value = value(length - 512);
    let arguments = tool("mirror", &format!("{{\"q\":{value}}}"));
    let text = modern("1", "tools/call", &arguments);
    format!("{text}{}", " ".repeat(length - text.len()))
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
                    lines += memchr::memchr_iter(b'\n', &read[..length]).count();
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
        for (name, value) in VALUES {
            if length == MOST && !["digits", "objects of 86 members"].contains(&name) {
                continue;
            }
            let text = hostile(value, length);
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
    for (name, value) in VALUES {
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
        let value = value(LENGTH - 512);
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
