//! The server inside an axum application that has other routes: run with
//! `cargo run --example axum_mount`.

use std::io;

use axum::Router;
use axum::routing::get;
use portcullis::service::handler::{Args, Text};
use portcullis::{Mode, Operation, Registry, Stack};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Who to greet
    name: String,
}

async fn greet(Args(input): Args<Greet>) -> Text {
    Text(format!("Hello, {}!", input.name))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let registry = Registry::builder()
        .operation(
            Operation::new("greet")
                .describe("Greet somebody")
                .read_only(true)
                .handler(greet),
        )
        .build()?;
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .identity("greeter", "1.0.0")
        .build()?;

    let app = Router::new()
        .route("/", get(|| async { "What the application did before." }))
        // The one line. A layer on the router sees these requests too, up to the response head.
        .route_service("/mcp", gate.http());

    let listener = match TcpListener::bind("127.0.0.1:8080").await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind("127.0.0.1:0").await?,
    };
    eprintln!(
        "Serving http://{address}/ and http://{address}/mcp. Try:\n\n  curl http://{address}/mcp \
         -H 'Content-Type: application/json' \\\n    -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
         \"params\":{{\"name\":\"greet\",\"arguments\":{{\"name\":\"Ada\"}}}}}}'\n",
        address = listener.local_addr()?
    );
    axum::serve(listener, app)
        .with_graceful_shutdown(async {
            let _ = tokio::signal::ctrl_c().await;
        })
        .await?;
    Ok(())
}
