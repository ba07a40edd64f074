//! Something in a handler panics: its call fails, nobody hears why, and nothing else is touched.

use portcullis::layers::Mode;
use portcullis::{Operation, Registry, Stack};
use tower::buffer::BufferLayer;

use crate::support::layers::Fragile;
use crate::support::{Client, each_transport, fixture, gate};

const SECRET: &str = r#"{"secret":"tok-42"}"#;

/// Contract: M-031, case T12.
#[tokio::test]
async fn only_the_call_that_panics_fails() {
    each_transport(async |way| {
        let (gate, probe) = gate();
        let client = way.open(&gate).await;
        let other = client.start("nap", r#"{"ms":60}"#);
        let hanging = client.start("hang", "{}");
        probe.begun.reach(2).await;
        for _ in 0..3 {
            let failed = client.tool("explode", SECRET).await;
            failed.assert_status(200);
            assert!(failed.is_error());
            assert_eq!(failed.text(), "internal error");
            // The operation declares no output schema, so the code has a place in any version that
            // knows structured values.
            let failure = &failed.json()["result"]["structuredContent"]["failure"];
            assert_eq!(failure["code"], "internal", "{failure}");
            untold(failed.raw());
        }
        assert_eq!(other.answer().await.text(), "slept 60 ms");
        assert_eq!(
            probe.begun.get() - probe.ended.get(),
            1,
            "the other one still runs"
        );
        hanging.cancel().await;
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
    })
    .await;
}

/// Contract: M-035, M-039, case T12.
#[tokio::test]
async fn handlers_of_resources_and_prompts_may_panic_too() {
    each_transport(async |way| {
        let (gate, _probe) = gate();
        let client = way.open(&gate).await;
        for (method, params) in [
            ("resources/read", r#"{"uri":"note://pad/explode"}"#),
            ("prompts/get", r#"{"name":"explode"}"#),
        ] {
            let failed = client.request(method, params).await;
            failed.assert_status(200);
            assert_eq!(failed.code(), -32603);
            assert_eq!(failed.json()["error"]["data"]["code"], "internal");
            untold(failed.raw());
            assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
        }
    })
    .await;
}

/// Layers on every plane below HTTP. Below a buffer of `tower` they must not: its worker would not
/// survive it.
///
/// Contract: case T12.
#[tokio::test]
async fn layers_may_panic() {
    let stack = || Stack::new(fixture().0).mode(Mode::Plain);
    each_transport(async |way| {
        let operations = stack().operation_layer(Fragile::layer());
        let messages = stack().layer(Fragile::layer()).layer(BufferLayer::new(4));
        let frames = stack().layer_frame(Fragile::layer());
        survives(way.open(&operations.build().unwrap()).await, true).await;
        survives(way.open(&messages.build().unwrap()).await, true).await;
        survives(way.open(&frames.build().unwrap()).await, false).await;
    })
    .await;
}

async fn survives(client: Client, as_result: bool) {
    for _ in 0..3 {
        let failed = client.tool("mirror", r#"{"panic":"tok-42"}"#).await;
        assert_eq!(
            (failed.is_error(), failed.code() == -32603),
            (as_result, !as_result)
        );
        untold(failed.raw());
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
    }
    assert_eq!(client.connections(), 1);
}

/// Contract: case T12.
#[tokio::test]
async fn work_on_a_thread_of_its_own_may_panic() {
    let explode =
        Operation::new("explode").blocking(|| -> String { panic!("about to tell tok-42") });
    let registry = Registry::builder().operation(explode);
    let registry = registry.operation(Operation::new("echo").handler(|| async { "hi" }));
    let gate = Stack::new(registry.build().unwrap())
        .mode(Mode::Plain)
        .build()
        .unwrap();
    each_transport(async |way| {
        let client = way.open(&gate).await;
        let failed = client.tool("explode", "{}").await;
        assert!(failed.is_error());
        untold(failed.raw());
        assert_eq!(client.tool("echo", "{}").await.text(), "hi");
    })
    .await;
}

/// Contract: M-031.
#[tokio::test]
async fn what_a_question_mark_turns_into_a_failure_is_not_told() {
    each_transport(async |way| {
        let (gate, _probe) = gate();
        let client = way.open(&gate).await;
        let failed = client.tool("leak", SECRET).await;
        assert!(failed.is_error());
        assert_eq!(failed.text(), "the operation failed");
        untold(failed.raw());
        assert!(!failed.raw().contains("No such file"), "{failed:?}");
        let declined = client.tool("decline", "{}").await;
        assert!(declined.is_error());
        assert_eq!(declined.text(), "the shop is closed");
    })
    .await;
}

fn untold(reply: &str) {
    for word in [
        "tok-42",
        "about to tell",
        "registry.rs",
        "src/",
        "panicked",
        "backtrace",
    ] {
        assert!(!reply.contains(word), "{word} in {reply}");
    }
}
