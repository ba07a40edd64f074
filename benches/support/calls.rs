//! What is called: registries, and the same call as a message, a frame, an envelope or a request.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use portcullis::layers::Mode;
use portcullis::service::handler::{Args, Text};
use portcullis::service::{Envelope, Inbound};
use portcullis::wire::json::{MAX_DEPTH, RawJson};
use portcullis::wire::{Frame, Method, ProtocolVersion};
use portcullis::{Operation, Registry};
use schemars::JsonSchema;
use serde::Deserialize;

/// Which protocol a call speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Echo {
    /// Text to give back
    pub(crate) text: String,
}

pub(crate) async fn echo(Args(input): Args<Echo>) -> Text {
    Text(input.text)
}

/// A registry of this many operations, which all echo.
pub(crate) fn registry(operations: usize) -> Registry {
    let mut builder = Registry::builder();
    for n in 0..operations {
        builder = builder.operation(
            Operation::new(name(n))
                .describe(format!("Give a text back, number {n}"))
                .handler(echo),
        );
    }
    builder.build().expect("all names differ")
}

/// The name of the nth operation.
pub(crate) fn name(n: usize) -> String {
    format!("echo_{n:05}")
}

/// Parameters that call an operation by its own name.
pub(crate) fn native(operation: &str) -> String {
    format!(r#"{{"name":"{operation}","arguments":{ARGUMENTS}}}"#)
}

/// Parameters that call an operation as a mode wants it.
pub(crate) fn shown(mode: &Mode, operation: &str) -> String {
    match mode {
        Mode::Compact(_) => {
            let call = native(operation);
            format!(r#"{{"name":"call_tool","arguments":{call}}}"#)
        }
        _ => native(operation),
    }
}

/// A message as a client writes it.
pub(crate) fn message(era: Era, method: &str, params: &str) -> String {
    let params = match (era, params) {
        (Era::Legacy, params) => params.to_owned(),
        (Era::Modern, "{}") => format!(r#"{{"_meta":{META}}}"#),
        (Era::Modern, params) => {
            format!(r#"{},"_meta":{META}}}"#, &params[..params.len() - 1])
        }
    };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

/// A message that has been scanned.
pub(crate) fn frame(message: &str) -> Frame {
    scan(message.into())
}

/// Scans a message.
pub(crate) fn scan(message: Vec<u8>) -> Frame {
    Frame::parse(message, MAX_DEPTH).expect("the message is JSON")
}

/// A scanned message that nothing else is known about.
pub(crate) fn inbound(message: &str) -> Inbound {
    Inbound::new(frame(message))
}

/// A call that has been decoded.
pub(crate) fn envelope(era: Era, method: Method, params: &str) -> Envelope {
    notification(era, method, params).id(1)
}

/// The same without an id.
pub(crate) fn notification(era: Era, method: Method, params: &str) -> Envelope {
    let version = match era {
        Era::Legacy => ProtocolVersion::LATEST_LEGACY,
        Era::Modern => ProtocolVersion::July2026,
    };
    let params = RawJson::parse(params).expect("the parameters are JSON");
    Envelope::new(method, version).params(params)
}

/// A message as an HTTP client sends it.
pub(crate) fn request<B>(era: Era, method: &str, operation: &str, body: B) -> Request<B> {
    let request = Request::post("/mcp")
        .header("host", "127.0.0.1:3000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let request = match era {
        Era::Legacy => request.header("mcp-protocol-version", LEGACY),
        Era::Modern => request
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", method)
            .header("mcp-name", operation),
    };
    request.body(body).expect("the head is in order")
}

/// The same with a message for a body.
pub(crate) fn posted(era: Era, message: &str, operation: &str) -> Request<Full<Bytes>> {
    let body = Full::new(Bytes::copy_from_slice(message.as_bytes()));
    request(era, "tools/call", operation, body)
}

/// The parameters of `initialize`.
pub(crate) const HANDSHAKE: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}"#;
const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";
const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);
const ARGUMENTS: &str =
    r#"{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#;
