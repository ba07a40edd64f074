//! Answers of any size: to the byte as long as they fit, and a short failure from the first byte on
//! that does not. What fits is measured on what is written, escapes included.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use portcullis::layers::Mode;
use portcullis::service::handler::{Args, CompletionRequest, Json, Text};
use portcullis::service::{Limits, Outbound, Payload};
use portcullis::wire::PromptArgument;
use portcullis::{Gate, Operation, Prompt, Registry, Resource, Stack};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tower::util::MapResponseLayer;

use crate::support::example::Example;
use crate::support::http1::{Connection, Request};
use crate::support::message::{self, tool};
use crate::support::stdio::Pipe;
use crate::support::{Answer, Client, Way, each_transport, over, soon};

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum Unit {
    /// As long as it looks.
    Letter,
    /// Six bytes instead of one.
    Control,
    /// Two bytes instead of one.
    Quote,
    /// Four bytes, and written as they are.
    Astral,
}

const UNITS: [Unit; 4] = [Unit::Letter, Unit::Control, Unit::Quote, Unit::Astral];

impl Unit {
    fn text(self) -> &'static str {
        match self {
            Self::Letter => "m",
            Self::Control => "\u{1}",
            Self::Quote => "\"",
            Self::Astral => "\u{1f600}",
        }
    }

    /// As it stands in a JSON text.
    fn encoded(self) -> &'static str {
        match self {
            Self::Control => r"\u0001",
            Self::Quote => r#"\""#,
            other => other.text(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Letter => "Letter",
            Self::Control => "Control",
            Self::Quote => "Quote",
            Self::Astral => "Astral",
        }
    }
}

/// What is emitted: a unit many times, and letters behind it.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
struct Amount {
    unit: Unit,
    times: usize,
    letters: usize,
}

impl Amount {
    /// So much that its text takes exactly this many bytes when it is written.
    fn of(unit: Unit, bytes: usize) -> Self {
        let width = unit.encoded().len();
        Self {
            unit,
            times: bytes / width,
            letters: bytes % width,
        }
    }

    fn text(self) -> String {
        self.unit.text().repeat(self.times) + &"x".repeat(self.letters)
    }

    fn encoded(self) -> String {
        self.unit.encoded().repeat(self.times) + &"x".repeat(self.letters)
    }

    fn arguments(self) -> String {
        let Self {
            unit,
            times,
            letters,
        } = self;
        json!({"unit": unit.name(), "times": times, "letters": letters}).to_string()
    }

    /// The members of the result that tells it.
    fn members(self) -> String {
        format!(
            r#""content":[{{"type":"text","text":"{}"}}]"#,
            self.encoded()
        )
    }
}

/// What is around the text in those members.
fn around() -> usize {
    Amount::of(Unit::Letter, 0).members().len()
}

fn gate(mode: Mode, limits: Limits) -> Gate {
    let registry = Registry::builder()
        .operation(
            Operation::new("emit")
                .handler(|Args(amount): Args<Amount>| async move { Text(amount.text()) }),
        )
        .operation(
            Operation::new("emit_value").handler(|Args(amount): Args<Amount>| async move {
                Json(BTreeMap::from([("value", amount.text())]))
            }),
        )
        .operation(Operation::new("alive").handler(async || "alive"))
        .resource(Resource::new("note://long", "Long").read(async || "x".repeat(MOST)))
        .prompt(
            Prompt::new("long")
                .argument(PromptArgument::new("q"))
                .handler(async || "x".repeat(MOST))
                .complete("q", async |_: CompletionRequest| vec!["x".repeat(MOST)]),
        )
        .build()
        .unwrap();
    Stack::new(registry)
        .mode(mode)
        .limits(limits)
        .build()
        .unwrap()
}

/// A response, in bytes, where the ceiling is low.
const MOST: usize = 40_000;
/// What is kept free of it.
const RESERVE: usize = 8 * 1024;

fn low() -> Limits {
    Limits::default().response_bytes(MOST as u64)
}

/// Not what it said, which is long.
fn assert_emitted(answer: &Answer, amount: Amount, place: &str) {
    let members = amount.members();
    let raw = answer.raw();
    assert!(raw.contains(&members), "not to the byte: {place}");
    assert!(
        raw.len() - members.len() < RESERVE,
        "more than that: {place}"
    );
}

async fn assert_alive(client: &Client) {
    assert_eq!(client.tool("alive", "{}").await.text(), "alive");
}

/// Contract: case T13.
#[tokio::test]
async fn answers_are_whole_and_to_the_byte_across_every_edge() {
    each_transport(async |way| {
        let client = way.open(&gate(Mode::Plain, Limits::default())).await;
        for unit in UNITS {
            for bytes in [0, 1024, 65_535, 65_536, 65_537, 1024 * 1024] {
                let amount = Amount::of(unit, bytes);
                let answer = client.tool("emit", &amount.arguments()).await;
                assert_emitted(
                    &answer,
                    amount,
                    &format!("{way:?}, {}, {bytes}", unit.name()),
                );
            }
            // The value, and its text beside it.
            let amount = Amount::of(unit, 10_000);
            let answer = client.tool("emit_value", &amount.arguments()).await;
            let value = json!({"value": amount.text()});
            assert!(
                answer.json()["result"]["structuredContent"] == value,
                "{way:?}"
            );
            assert!(serde_json::from_str::<serde_json::Value>(&answer.text()).unwrap() == value);
        }
        assert_alive(&client).await;
    })
    .await;
}

/// Contract: S-098, S-099, S-100, case T13.
#[tokio::test]
async fn the_ceiling_is_measured_on_what_is_written_and_costs_one_call_at_most() {
    each_transport(async |way| {
        for mode in [Mode::Plain, Mode::Direct] {
            let wrapped = mode.name() == "direct";
            let client = way.open(&gate(mode, low())).await;
            for unit in UNITS {
                let room = MOST - RESERVE - around();
                let place = format!("{way:?}, {}", unit.name());
                for less in [0, 1] {
                    let amount = Amount::of(unit, room - less);
                    let answer = client.tool("emit", &amount.arguments()).await;
                    assert_emitted(&answer, amount, &place);
                }
                for more in [1, MOST] {
                    let amount = Amount::of(unit, room + more);
                    let answer = client.tool("emit", &amount.arguments()).await;
                    assert_too_large(&answer, wrapped, &place);
                }
                assert_alive(&client).await;
            }
            // A value is written twice, once as text.
            let amount = Amount::of(Unit::Letter, MOST / 2);
            let answer = client.tool("emit_value", &amount.arguments()).await;
            assert_too_large(&answer, wrapped, &format!("{way:?}, value"));
            assert_alive(&client).await;
        }
    })
    .await;
}

/// Contract: S-098, S-104, case T13.
#[tokio::test]
async fn by_default_a_response_has_at_most_sixteen_mebibytes() {
    const DEFAULT: usize = 16 * 1024 * 1024;
    over(&[Way::HttpModern, Way::StdioLegacy], async |way| {
        let client = way.open(&gate(Mode::Plain, Limits::default())).await;
        let room = DEFAULT - RESERVE - around();
        let unit = if way.is_http() {
            Unit::Control
        } else {
            Unit::Letter
        };
        let amount = Amount::of(unit, room);
        let answer = client.tool("emit", &amount.arguments()).await;
        assert_emitted(&answer, amount, &format!("{way:?}"));
        assert!(answer.raw().len() <= DEFAULT);
        // However much it is, what is sent instead is short.
        for (unit, bytes) in [(unit, room + 1), (Unit::Letter, 4 * DEFAULT)] {
            let amount = Amount::of(unit, bytes);
            let answer = client.tool("emit", &amount.arguments()).await;
            assert_too_large(&answer, false, &format!("{way:?}, {bytes}"));
        }
        assert_alive(&client).await;
    })
    .await;
}

/// What is written around a message for HTTP is not counted.
///
/// Contract: S-103.
#[tokio::test]
async fn an_event_may_be_as_long_as_any_other_answer() {
    let client = Way::HttpModern.open(&gate(Mode::Plain, low())).await;
    let room = MOST - RESERVE - around();
    for (bytes, fits) in [(room, true), (room + 1, false)] {
        let amount = Amount::of(Unit::Quote, bytes);
        let text = client.text("1", "tools/call", &tool("emit", &amount.arguments()));
        let request = Request::derived(&text).with("Accept", "text/event-stream");
        let mut connection = Connection::open(client.address()).await;
        let response = connection.send(&request).await;
        assert!(response.head.is_stream());
        assert_eq!(response.text().contains(&amount.members()), fits, "{bytes}");
        assert_eq!(response.body.len() < 1000, !fits);
    }
}

/// Contract: S-098, case T13.
#[tokio::test]
async fn answers_to_other_methods_are_bounded_as_well() {
    each_transport(async |way| {
        let client = way.open(&gate(Mode::Plain, low())).await;
        let complete =
            r#"{"ref":{"type":"ref/prompt","name":"long"},"argument":{"name":"q","value":""}}"#;
        for (method, params) in [
            ("resources/read", r#"{"uri":"note://long"}"#),
            ("prompts/get", r#"{"name":"long"}"#),
            ("completion/complete", complete),
        ] {
            assert_response_too_large(&client.request(method, params).await);
            assert_alive(&client).await;
        }

        let mut registry = Registry::builder();
        for n in 0..100 {
            let operation = Operation::new(format!("tool_{n}")).describe("d".repeat(MOST / 30));
            registry = registry.operation(operation.handler(async || "alive"));
        }
        let registry = registry.build().unwrap();
        let stack = |mode| Stack::new(registry.clone()).mode(mode).limits(low());
        // One page of plain mode is too long, and says so.
        let client = way.open(&stack(Mode::Plain).build().unwrap()).await;
        assert_response_too_large(&client.request("tools/list", "").await);
        assert_eq!(client.tool("tool_7", "{}").await.text(), "alive");
        // The pages of direct mode are shorter.
        let client = way.open(&stack(Mode::Direct).build().unwrap()).await;
        let page = client.request("tools/list", "").await.json();
        assert_eq!(page["result"]["tools"].as_array().map(Vec::len), Some(20));
        assert!(page["result"]["nextCursor"].is_string());
    })
    .await;
}

/// A pipe of the operating system holds 64 KiB, and the reader may be slow.
///
/// Contract: P-90, case T13.
#[tokio::test]
async fn lines_are_whole_over_a_pipe_of_the_system() {
    let mut server = Example::start("everything", &["--stdio", "--fixtures"]);
    for bytes in [65_535, 65_536, 65_537, 1024 * 1024] {
        let emit = tool("emit_bytes", &format!(r#"{{"n":{bytes},"kind":"text"}}"#));
        let line = message::modern("1", "tools/call", &emit) + "\n";
        let input = server.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).await.unwrap();
        // The server has begun to write when the reading begins.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let answer = server.line().await.unwrap();
        let reply: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let text = reply["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(text.len(), bytes);
    }
    drop(server.input.take());
    assert_eq!(server.line().await, None);
    let (status, _) = server.ended().await;
    assert!(status.success());
}

/// Nothing of such a line is written, and no line after it.
///
/// Contract: S-101, S-102, S-159.
#[tokio::test]
async fn a_layer_that_makes_a_line_too_long_ends_the_connection_over_stdio() {
    let length = Arc::new(AtomicUsize::new(MOST));
    let wanted = Arc::clone(&length);
    let pad = MapResponseLayer::new(move |outbound: Outbound| {
        let text = outbound
            .payload
            .map(Payload::into_bytes)
            .unwrap_or_default();
        let mut text = text.to_vec();
        text.resize(wanted.load(Ordering::SeqCst), b' ');
        Outbound::new(text.into())
    });
    let registry = Registry::builder()
        .operation(Operation::new("alive").handler(async || "alive"))
        .operation(Operation::new("hang").handler(std::future::pending::<()>))
        .build()
        .unwrap();
    let stack = Stack::new(registry).mode(Mode::Plain).limits(low());
    let gate = stack.layer_frame(pad).build().unwrap();
    let call = |id, name| message::modern(id, "tools/call", &tool(name, "{}"));

    let mut pipe = Pipe::open(&gate);
    pipe.write(&call("1", "hang")).await;
    assert_eq!(pipe.ask(&call("2", "alive")).await.len(), MOST);
    length.store(MOST + 1, Ordering::SeqCst);
    pipe.write(&call("3", "alive")).await;
    // The client has closed nothing.
    assert_eq!(pipe.output.next().await, None);
    let ended = soon("the end of the server", pipe.running).await.unwrap();
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    drop(pipe.input);
}

/// A failure of the call, and a short one.
fn assert_too_large(answer: &Answer, wrapped: bool, place: &str) {
    assert!(answer.raw().len() < 1000, "not short: {place}");
    answer.assert_status(200);
    let result = &answer.json()["result"];
    assert_eq!(result["isError"], true, "{place}");
    if wrapped {
        assert_eq!(
            result["structuredContent"]["failure"]["code"],
            "result_too_large"
        );
    } else {
        assert_eq!(
            answer.text(),
            "the result is larger than this server may send"
        );
    }
}

fn assert_response_too_large(answer: &Answer) {
    assert!(answer.raw().len() < 1000);
    assert_eq!(answer.code(), -32603);
    assert_eq!(answer.json()["error"]["data"]["code"], "response_too_large");
}
