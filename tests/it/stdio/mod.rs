//! What a pair of pipes adds to messages: lines, calls side by side, and an end.

mod calls;
mod ending;
mod framing;
mod purity;
mod stalled;

use crate::support::message::{modern, tool};

/// A call in the modern era, which needs no handshake.
fn call(id: &str, name: &str, arguments: &str) -> String {
    modern(id, "tools/call", &tool(name, arguments))
}

/// The id of a reply.
fn id(line: &str) -> serde_json::Value {
    let reply: serde_json::Value = serde_json::from_str(line).unwrap();
    reply["id"].clone()
}

/// The code of an error; zero for no error.
fn code(line: &str) -> i64 {
    let reply: serde_json::Value = serde_json::from_str(line).unwrap();
    reply["error"]["code"].as_i64().unwrap_or(0)
}

/// Cancels a call.
fn cancel(id: &str) -> String {
    let params = format!(r#"{{"requestId":{id}}}"#);
    crate::support::message::notification("notifications/cancelled", &params)
}
