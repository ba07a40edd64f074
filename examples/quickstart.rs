//! A calculator to try: run with `cargo run --example quickstart`, or add `-- --stdio` for editors.

use std::io;

use portcullis::service::Failure;
use portcullis::service::handler::{Args, Structured};
use portcullis::{Mode, Operation, Prompt, Registry, Resource, Stack};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    /// The number to begin with
    a: i64,
    /// The number to add, or to divide by
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    value: i64,
}

async fn add(Args(input): Args<Numbers>) -> Result<Structured<Answer>, Failure> {
    let sum = input.a.checked_add(input.b);
    let value = sum.ok_or_else(|| Failure::new("too_large", "the sum does not fit 64 bits"))?;
    Ok(Structured(Answer { value }))
}

async fn divide(Args(input): Args<Numbers>) -> Result<Structured<Answer>, Failure> {
    let quotient = input.a.checked_div(input.b);
    let value = quotient.ok_or_else(|| Failure::new("undefined", "there is no such quotient"))?;
    Ok(Structured(Answer { value }))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let registry = Registry::builder()
        .operation(
            Operation::new("add")
                .describe("Add two integers")
                .read_only(true)
                .handler(add),
        )
        .operation(
            Operation::new("divide")
                .describe("Divide two integers")
                .read_only(true)
                .handler(divide),
        )
        .resource(
            Resource::new("calculator://about", "About")
                .mime_type("text/plain")
                .text("It adds and divides 64-bit integers."),
        )
        .prompt(
            Prompt::new("explain")
                .describe("Explain a sum")
                .handler(|| async {
                    "Add 19 and 23 with the tool `add`, and explain what you did."
                }),
        )
        .build()?;
    let gate = Stack::new(registry)
        .identity("calculator", "1.0.0")
        .mode(Mode::Plain)
        .build()?;

    if std::env::args().any(|argument| argument == "--stdio") {
        return Ok(gate.stdio().run().await?);
    }
    let listener = match TcpListener::bind("127.0.0.1:8080").await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind("127.0.0.1:0").await?,
    };
    eprintln!(
        "Serving http://{address}/mcp. Try:\n\n  curl http://{address}/mcp -H 'Content-Type: application/json' \\\n    \
         -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
         \"params\":{{\"name\":\"add\",\"arguments\":{{\"a\":19,\"b\":23}}}}}}'\n",
        address = listener.local_addr()?
    );
    portcullis::serve(listener, gate.http().at("/mcp")).await?;
    Ok(())
}
