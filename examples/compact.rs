//! A server whose tools are always the same three: run with `cargo run --example compact`.
//!
//! However many operations there are, a model sees three tools: one to search for operations, one to
//! look at one of them, and one to call it. Add `-- --serve` to serve it on a port.

use portcullis::service::handler::{Args, Structured};
use portcullis::testing::Client;
use portcullis::{Gate, Operation, Registry, Stack};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct City {
    /// Its name in English
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: i32,
    sky: &'static str,
}

async fn current_weather(Args(input): Args<City>) -> Structured<Weather> {
    let celsius = i32::try_from(input.city.len()).unwrap_or(20);
    Structured(Weather {
        celsius,
        sky: "clear",
    })
}

fn gate() -> Result<Gate, portcullis::ConfigError> {
    let mut registry = Registry::builder().operation(
        Operation::new("current_weather")
            .describe("Tell temperature and sky in a city right now")
            .read_only(true)
            .handler(current_weather),
    );
    // A catalogue that a model should not have to read as a whole.
    for subject in [
        "invoices",
        "customers",
        "orders",
        "parcels",
        "refunds",
        "reviews",
    ] {
        for verb in ["list", "create", "update", "archive", "export"] {
            let operation = Operation::new(format!("{verb}_{subject}"))
                .describe(format!("{verb} {subject} of the shop"))
                .handler(|| async { "done" });
            registry = registry.operation(operation);
        }
    }
    // Compact is the default mode.
    Stack::new(registry.build()?)
        .identity("shop", "1.0.0")
        .build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gate = gate()?;
    if std::env::args().any(|argument| argument == "--serve") {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        eprintln!("Serving http://{}/mcp", listener.local_addr()?);
        return Ok(portcullis::serve(listener, gate.http().at("/mcp")).await?);
    }

    let client = Client::modern(&gate);
    let tools = client.request("tools/list", "{}").await;
    eprintln!(
        "tools/list takes {} bytes",
        tools.raw.unwrap_or_default().len()
    );

    let found = client
        .call_tool("search_tools", r#"{"query":"weather in Oslo"}"#)
        .await;
    eprintln!("search_tools: {}", found.text());
    assert!(found.text().contains("current_weather"));

    let details = client
        .call_tool("get_tool_details", r#"{"name":"current_weather"}"#)
        .await;
    eprintln!("get_tool_details: {}", details.text());

    let call = r#"{"name":"current_weather","arguments":{"city":"Oslo"}}"#;
    let result = client.call_tool("call_tool", call).await;
    eprintln!("call_tool: {}", result.text());
    assert_eq!(
        result.structured(),
        Some(r#"{"value":{"celsius":4,"sky":"clear"}}"#)
    );
    Ok(())
}
