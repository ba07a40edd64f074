//! A server to measure: run with `cargo run --release --example bench_server -- http 8090 3`.
//!
//! - `http PORT N` serves N tools over HTTP, on any path;
//! - `stdio N` serves them over stdin and stdout;
//! - `inproc DIR SCENARIO N` calls the HTTP service without a socket, with the body and headers of
//!   `DIR/SCENARIO.body` and `.hdr`, and prints nanoseconds per call; with a fourth argument it makes
//!   that many calls and prints nothing, for tools that count instructions.
//!
//! The stack is the default one, with nothing switched off. `--schemas` gives every tool a schema of
//! its own.

mod inproc;
mod tools;

use std::error::Error;

use portcullis::{Gate, Mode, Stack};
use tokio::net::TcpListener;

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let distinct = arguments
        .iter()
        .position(|argument| argument == "--schemas");
    let distinct = distinct.map(|at| arguments.remove(at)).is_some();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["http", port, rest @ ..] => {
            let gate = gate(count(rest.first())?, distinct)?;
            eprintln!("{}", gate.describe());
            let listener = TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
            portcullis::serve(listener, gate.http()).await?;
        }
        ["stdio", rest @ ..] => gate(count(rest.first())?, distinct)?.stdio().run().await?,
        ["inproc", directory, scenario, rest @ ..] => {
            let gate = gate(count(rest.first())?, distinct)?;
            let calls = rest.get(1).map(|calls| calls.parse()).transpose()?;
            inproc::run(&gate, directory, scenario, calls).await?;
        }
        _ => {
            let usage = "http PORT N | stdio N | inproc DIR SCENARIO N [CALLS]";
            return Err(format!("usage: bench_server {usage}").into());
        }
    }
    Ok(())
}

fn gate(tools: usize, distinct: bool) -> Result<Gate, Box<dyn Error>> {
    let registry = tools::registry(tools, distinct)?;
    Ok(Stack::new(registry).mode(Mode::Plain).build()?)
}

fn count(argument: Option<&&str>) -> Result<usize, std::num::ParseIntError> {
    argument.map_or(Ok(3), |count| count.parse())
}
