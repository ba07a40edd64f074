//! The tools of the server: three that do something, and as many more as asked for.

use portcullis::service::ConfigError;
use portcullis::service::handler::{Args, Structured, Text};
use portcullis::{Operation, Registry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// text to echo
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// left
    a: i64,
    /// right
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Blob {
    /// how many characters
    bytes: usize,
}

async fn echo(Args(e): Args<Echo>) -> Text {
    Text(e.text)
}

async fn add(Args(input): Args<Add>) -> Structured<Sum> {
    Structured(Sum {
        sum: input.a + input.b,
    })
}

async fn blob(Args(input): Args<Blob>) -> Text {
    Text("x".repeat(input.bytes))
}

/// A registry of `count` tools, the fourth and later of which echo.
pub(crate) fn registry(count: usize, distinct: bool) -> Result<Registry, ConfigError> {
    let mut builder = Registry::builder()
        .operation(
            Operation::new("echo")
                .describe("Echo a text back")
                .handler(echo),
        )
        .operation(
            Operation::new("add")
                .describe("Add two integers")
                .handler(add),
        )
        .operation(
            Operation::new("blob")
                .describe("Return a text of that many characters")
                .handler(blob),
        );
    for n in 3..count {
        let operation = Operation::new(format!("tool_{n:04}"))
            .describe(format!("Catalogue tool number {n}, which echoes its text"))
            .handler(echo);
        builder = builder.operation(if distinct {
            operation.input_schema(schema(n))
        } else {
            operation
        });
    }
    builder.build()
}

/// An input schema that no other tool has.
fn schema(n: usize) -> String {
    format!(
        r#"{{"type":"object","properties":{{"text":{{"type":"string","maxLength":{}}},"option_{n}":{{"enum":["a","b{n}"]}}}},"required":["text"]}}"#,
        100_000 + n
    )
}
