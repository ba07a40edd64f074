//! The server that the transports' properties talk to, and what every message of it has to be.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;
use tokio::time::Duration;

use crate::layers::Mode;
use crate::service::handler::{Completions, Parsed, Progress, RawArgs, State, Text};
use crate::service::{
    CallContext, Failure, Limits, Operation, Prompt, Registry, Resource, ResourceTemplate,
};
use crate::stack::{Gate, Stack};
use crate::wire::json::{Document, MAX_DEPTH, Node, RawJson};
use crate::wire::{Error, PromptArgument, RequestId};

/// The longest message that is accepted: short, so that inputs go beyond it.
pub(super) const LONGEST: usize = 2048;

/// How often the operation with an effect ran.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(Arc<AtomicU64>);

impl Tally {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Deserialize)]
struct Numbers {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Times {
    times: u8,
}

thread_local! {
    static GATE: (Gate, Tally) = {
        let tally = Tally::default();
        let limits = Limits::default()
            .message_bytes(LONGEST as u64)
            .protocol_header_bytes(512)
            .connection_calls(3)
            .parked_calls(3)
            .parked_bytes(1024);
        let stack = Stack::new(registry(&tally)).mode(Mode::Plain).limits(limits);
        (stack.build().expect("the stack is sound"), tally)
    };
}

/// The server of this thread.
pub(super) fn gate() -> (Gate, Tally) {
    GATE.with(Clone::clone)
}

fn registry(tally: &Tally) -> Registry {
    let numbers = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},
        "required":["a","b"],"additionalProperties":false}"#;
    let place = r#"{"type":"object","properties":{
        "zone":{"type":"string","x-mcp-header":"Zone"},"slot":{"type":"integer","x-mcp-header":"Slot"}}}"#;
    let times = r#"{"type":"object","properties":{"times":{"type":"integer","maximum":9,"minimum":0}},
        "required":["times"]}"#;
    let builder = Registry::builder()
        .state(tally.clone())
        .operation(Operation::new("mirror").handler(|RawArgs(raw): RawArgs| async move { raw }))
        .operation(
            Operation::new("bump").handler(|State(tally): State<Tally>| async move {
                Text(format!("{}", tally.0.fetch_add(1, Ordering::Relaxed)))
            }),
        )
        .operation(Operation::new("add").input_schema(numbers).handler(
            |Parsed(input): Parsed<Numbers>| async move {
                let sum = input.a.checked_add(input.b);
                let sum = sum.ok_or_else(|| Failure::new("too_large", "it does not fit"))?;
                Ok::<_, Failure>(Text(sum.to_string()))
            },
        ))
        .operation(
            Operation::new("place")
                .input_schema(place)
                .handler(|| async { Text("placed".into()) }),
        )
        .operation(Operation::new("tell").input_schema(times).handler(tell))
        .operation(Operation::new("nap").handler(|| async {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }));
    let builder = builder
        .resource(Resource::new("note://1", "Note").text("remember"))
        .template(
            ResourceTemplate::new("note://{shelf}/{+rest}", "Shelf")
                .read(|RawArgs(raw): RawArgs| async move { raw.text().to_owned() })
                .complete("shelf", || async { Completions::new(["a".to_owned()]) }),
        )
        .prompt(
            Prompt::new("review")
                .argument(PromptArgument::new("code").required())
                .handler(|RawArgs(raw): RawArgs| async move { raw.text().to_owned() }),
        );
    builder.build().expect("the registry is sound")
}

/// Sends messages before it answers.
async fn tell(Parsed(input): Parsed<Times>, RawArgs(raw): RawArgs, call: CallContext) -> RawJson {
    for time in 0..input.times {
        call.progress(Progress::new(time)).await;
        // Who takes no messages gets none.
        let _ = call.peer().notify("notifications/told", &raw).await;
    }
    raw
}

/// What the server wrote.
#[derive(Debug)]
pub(super) enum Written {
    /// Something it says on its own account.
    Notification,
    /// The answer to a request.
    Result(RequestId),
    /// The refusal of a message, with its id if it could be read.
    Error(Option<RequestId>),
}

/// What a message of the server is. It has to be one.
pub(super) fn written(text: &str) -> Written {
    let raw = serde_json::from_str::<&serde_json::value::RawValue>(text);
    raw.unwrap_or_else(|error| panic!("{error}: {text}"));
    let document = Document::parse(text.as_bytes().to_vec(), MAX_DEPTH + ROOM);
    let document = document.unwrap_or_else(|error| panic!("{error}: {text}"));
    let root = document.root();
    assert_eq!(
        root.get("jsonrpc").map(Node::text),
        Some("\"2.0\""),
        "{text}"
    );
    let id = root
        .get("id")
        .map(|id| RequestId::parse(id.text()).expect(text));
    if root.get("method").is_some() {
        assert!(id.is_none() && root.len() == 3, "{text}");
        return Written::Notification;
    }
    let (result, error) = (root.get("result"), root.get("error"));
    match (result, error, id) {
        (Some(result), None, Some(id)) => {
            assert!(result.is_object(), "{text}");
            Written::Result(id)
        }
        (None, Some(error), id) => {
            refused(error, text);
            Written::Error(id)
        }
        _ => panic!("neither a result nor an error: {text}"),
    }
}

/// Errors are bounded whatever they repeat, and none is a fault of ours.
fn refused(error: Node<'_>, text: &str) {
    assert!(
        text.len() <= LONGEST_ERROR,
        "an error of {} bytes",
        text.len()
    );
    let code = error.get("code").and_then(Node::as_number).expect(text);
    assert!(
        error.get("message").and_then(Node::as_str).is_some(),
        "{text}"
    );
    if code == Error::INTERNAL_ERROR.to_string() {
        let reason = error.get("data").and_then(|data| data.get("code"));
        assert_eq!(reason.map(Node::text), Some("\"overloaded\""), "{text}");
    }
}

/// What stands around a value in a message may nest deeper than what was sent.
const ROOM: u32 = 16;
/// An error, an id, and what is written around them.
const LONGEST_ERROR: usize = Error::LONGEST + RequestId::LONGEST + 256;
