//! Compact and direct mode from the outside, over every transport.

mod compact;
mod direct;
mod shell;

use portcullis::layers::Mode;
use portcullis::service::handler::{RawArgs, State};
use portcullis::service::{Failure, Output, RegistryBuilder};
use portcullis::wire::json::RawJson;
use portcullis::wire::{Content, ResourceContents, ResourceLink};
use portcullis::{Gate, Operation, Registry, Resource, Stack};
use serde_json::Value;

use crate::support::message::tool;
use crate::support::{Answer, Client, Probe};

/// A catalogue in which every handler that runs counts.
fn catalogue(probe: &Probe) -> RegistryBuilder {
    let counting = |operation: Operation| {
        operation.handler(|State(probe): State<Probe>| async move {
            probe.tally.add();
            "done"
        })
    };
    let mut builder = Registry::builder().state(probe.clone());
    for n in 0..40 {
        let operation = Operation::new(format!("weigh_{n:02}"));
        builder = builder.operation(counting(operation.describe("Weigh a parcel")));
    }
    builder
        .operation(counting(documented()))
        .operation(Operation::new("mirror").handler(|RawArgs(raw): RawArgs| async move { raw }))
        .operation(Operation::new("null").handler(async || RawJson::parse("null")))
        .operation(Operation::new("absent").handler(async || "nothing structured"))
        .operation(Operation::new("six_kinds").handler(async || six_kinds()))
        .operation(
            Operation::new("decline")
                .handler(async || Err::<(), _>(Failure::new("too_late", "the shop is closed"))),
        )
        .resource(Resource::new("note://pad/1", "First note").text("remember"))
        .resource(Resource::new(SHELL, "Hidden by the shell").text("what nobody sees"))
}

/// An operation that says all there is to say of one.
fn documented() -> Operation {
    Operation::new("documented")
        .title("Documented")
        .describe("Say everything")
        .input_schema(SCHEMA)
        .read_only(false)
        .open_world(true)
        .meta(RawJson::parse(r#"{"it/kind":"test"}"#).unwrap())
}

const SCHEMA: &str =
    r#"{"type":"object","properties":{"weight":{"type":"number","examples":[1e2]}}}"#;

/// A block of each kind, and a value.
fn six_kinds() -> Output {
    Output::new()
        .content("text")
        .content(Content::image(b"\0", "image/png"))
        .content(Content::audio(b"\0", "audio/wav"))
        .content(Content::link(ResourceLink::new("note://pad/1", "First")))
        .content(Content::resource(ResourceContents::text("note://t", "")))
        .content(Content::resource(ResourceContents::blob("note://b", b"")))
        .structured(RawJson::parse(r#"{"n":1.0}"#).unwrap())
}

const SHELL: &str = "ui://it/shell";

fn stack(probe: &Probe, mode: Mode) -> Stack {
    Stack::new(catalogue(probe).build().unwrap())
        .identity("it", "0")
        .mode(mode)
}

fn gate(mode: Mode) -> (Gate, Probe) {
    let probe = Probe::default();
    (stack(&probe, mode).build().unwrap(), probe)
}

/// Calls an operation the way a mode has it.
async fn invoke(client: &Client, mode: &Mode, name: &str, arguments: &str) -> Answer {
    match mode {
        Mode::Compact(_) => client.tool("call_tool", &tool(name, arguments)).await,
        _ => client.tool(name, arguments).await,
    }
}

/// The text of the last block.
fn last_text(result: &Value) -> &str {
    let blocks = result["content"].as_array().expect("content");
    blocks
        .last()
        .and_then(|block| block["text"].as_str())
        .expect("text")
}

/// What both modes make of outcomes.
///
/// Contract: S-039, S-040, S-041, S-042, S-051, S-052, case X01.
#[tokio::test]
async fn outcomes_are_wrapped_and_content_comes_first() {
    crate::support::each_transport(async |way| {
        for mode in [Mode::default(), Mode::Direct] {
            let (gate, _probe) = gate(mode.clone());
            let client = way.open(&gate).await;
            let result = async |name: &str, arguments: &str| {
                invoke(&client, &mode, name, arguments).await.json()["result"].clone()
            };
            let exact = invoke(&client, &mode, "mirror", r#"{"n": 1.0, "big": 1E+300}"#).await;
            let wrapped = r#""structuredContent":{"value":{"n": 1.0, "big": 1E+300}}"#;
            assert!(exact.raw().contains(wrapped), "{exact:?}");

            let null = result("null", "{}").await;
            assert_eq!(
                null["structuredContent"],
                serde_json::json!({"value": null})
            );
            assert_eq!(last_text(&null), r#"{"value":null}"#);

            let absent = result("absent", "{}").await;
            assert!(absent.get("structuredContent").is_none());
            assert_eq!(absent["content"].as_array().map(Vec::len), Some(1));

            let six = result("six_kinds", "{}").await;
            let kinds: Vec<_> = six["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| &it["type"])
                .collect();
            let expected = [
                "text",
                "image",
                "audio",
                "resource_link",
                "resource",
                "resource",
                "text",
            ];
            assert_eq!(kinds, expected);
            assert_eq!(six["content"][4]["resource"]["text"], "");
            assert_eq!(six["content"][5]["resource"]["blob"], "");
            assert_eq!(last_text(&six), r#"{"value":{"n":1.0}}"#);

            let declined = result("decline", "{}").await;
            assert_eq!(declined["structuredContent"]["failure"]["code"], "too_late");
            assert_eq!(declined["isError"], true);
        }
    })
    .await;
}
