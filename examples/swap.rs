//! One layer in production and another in a test: run with `cargo run --example swap`.
//!
//! A stack is put together by a function that takes the layer that differs. In production calls wait
//! for one of four permits; in the test a recorder takes that place, and everything else is the same.

use std::sync::{Arc, Mutex};

use portcullis::layers::{Next, from_fn};
use portcullis::service::{Envelope, MessageService};
use portcullis::testing::Client;
use portcullis::{ConfigError, Gate, MessageCore, Mode, Operation, OperationCore, Registry, Stack};
use tower::Layer;
use tower::limit::ConcurrencyLimitLayer;

/// The server, with `guard` where it belongs: around whole calls.
fn server<L>(guard: L) -> Result<Gate, ConfigError>
where
    L: Layer<MessageCore<OperationCore>, Service: MessageService>,
{
    let registry = Registry::builder()
        .operation(Operation::new("open_gate").handler(|| async { "it is open" }))
        .build()?;
    Stack::new(registry).mode(Mode::Plain).layer(guard).build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In production.
    let gate = server(ConcurrencyLimitLayer::new(4))?;
    let answer = Client::modern(&gate).call_tool("open_gate", "{}").await;
    assert_eq!(answer.text(), "it is open");

    // In a test.
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorder = {
        let seen = Arc::clone(&seen);
        from_fn(move |call: Envelope, next: Next| {
            if let Ok(mut seen) = seen.lock() {
                seen.push(call.method().name().to_owned());
            }
            next.run(call)
        })
    };
    let gate = server(recorder)?;
    let client = Client::modern(&gate);
    client.request("tools/list", "{}").await;
    client.call_tool("open_gate", "{}").await;
    let seen = seen.lock().map(|seen| seen.clone()).unwrap_or_default();
    eprintln!("the stack saw {seen:?}");
    assert_eq!(seen, ["tools/list", "tools/call"]);
    Ok(())
}
