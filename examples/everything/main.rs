//! A server with one of everything: run with `cargo run --example everything`, see `options.rs`.
//!
//! It answers the scenarios of the public conformance suite and the calls of real clients. Each
//! module holds one kind of thing; `offers.rs` puts them together.

mod content;
mod diagnostics;
mod endings;
mod fixtures;
mod offers;
mod options;
mod progress;
mod prompts;
mod resources;
mod samples;
mod schemas;
mod slow;

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use portcullis::transport::HttpCore;
use portcullis::{Gate, Stack};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tower::Layer;
use tower::layer::util::Identity;
use tracing_subscriber::EnvFilter;

use self::fixtures::Shelf;
use self::options::{Options, Transport, USAGE, Wish};

fn main() -> ExitCode {
    match Wish::parse(std::env::args().skip(1)) {
        Ok(Wish::Help) => {
            eprintln!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(Wish::Serve(options)) => match run(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("everything: {error}");
                ExitCode::FAILURE
            }
        },
        Err(problem) => {
            eprintln!("everything: {problem}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .init();
    // Kept here until the end, so that its directory is removed whatever else is still running.
    let shelf = options.fixtures.then(Shelf::default);
    let stack = Stack::new(offers::registry(shelf.as_ref())?)
        .identity("everything", env!("CARGO_PKG_VERSION"))
        .instructions("Every tool says in its description what it is there to show.")
        .mode(options.mode.clone());
    let runtime = Runtime::new()?;
    let served = runtime.block_on(async {
        if options.identity_layers {
            let stack = stack
                .layer_http(Identity::new())
                .layer_frame(Identity::new())
                .layer(Identity::new())
                .operation_layer(Identity::new());
            serve(&stack.build()?, options.transport).await
        } else {
            serve(&stack.build()?, options.transport).await
        }
    });
    // A thread that is still blocked, be it by a wedged tool or by an open stdin, is not waited for.
    runtime.shutdown_timeout(PATIENCE);
    served
}

async fn serve<H>(gate: &Gate<H>, transport: Transport) -> Result<(), Box<dyn Error>>
where
    H: Layer<HttpCore, Service = HttpCore>,
{
    match transport {
        Transport::Stdio => gate.stdio().run().await?,
        Transport::Http(address) => {
            let listener = listen(address).await?;
            eprintln!("Serving http://{}/mcp", listener.local_addr()?);
            portcullis::serve(listener, gate.http().at("/mcp")).await?;
        }
    }
    Ok(())
}

async fn listen(address: SocketAddr) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|error| format!("cannot listen on {address}: {error}"))
}

const PATIENCE: Duration = Duration::from_millis(100);
