//! Messages as text, and the headers a client sends beside them.

use serde_json::Value;

/// The newest version with a handshake.
pub(crate) const LEGACY: &str = "2025-11-25";

/// The members of `_meta` a modern client cannot leave out.
pub(crate) const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

/// A request as legacy clients write it. `params` is an object, or empty for none.
pub(crate) fn request(id: &str, method: &str, params: &str) -> String {
    let params = member("params", params);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#)
}

/// A request as modern clients write it. `params` is an object, or empty for one with `_meta` alone.
pub(crate) fn modern(id: &str, method: &str, params: &str) -> String {
    request(id, method, &with_meta(params))
}

/// A notification. `params` is an object, or empty for none.
pub(crate) fn notification(method: &str, params: &str) -> String {
    let params = member("params", params);
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#)
}

/// The params of `tools/call`; `arguments` is JSON.
pub(crate) fn tool(name: &str, arguments: &str) -> String {
    format!(r#"{{"name":"{name}","arguments":{arguments}}}"#)
}

/// The params of `initialize`.
pub(crate) fn handshake(version: &str) -> String {
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"it","version":"0"}}}}"#
    )
}

/// Params with what a modern request must say of itself; an object that has a `_meta` is kept.
pub(crate) fn with_meta(params: &str) -> String {
    if params.contains(r#""_meta""#) {
        return params.to_owned();
    }
    let inner = params.trim();
    let inner = inner
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    let rest = match inner.unwrap_or_default().trim() {
        "" => String::new(),
        members => format!(",{members}"),
    };
    format!(r#"{{"_meta":{{{META}}}{rest}}}"#)
}

fn member(name: &str, value: &str) -> String {
    match value {
        "" => String::new(),
        value => format!(r#","{name}":{value}"#),
    }
}

/// The headers a modern client derives from a request; none for what is not a modern request.
pub(crate) fn derived_headers(text: &str) -> Vec<(&'static str, String)> {
    let Ok(message) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let version = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    let (Some(version), Some(method)) = (version.as_str(), message["method"].as_str()) else {
        return Vec::new();
    };
    let mut headers = vec![
        ("MCP-Protocol-Version", version.to_owned()),
        ("Mcp-Method", method.to_owned()),
    ];
    let named = match method {
        "tools/call" | "prompts/get" => &message["params"]["name"],
        "resources/read" => &message["params"]["uri"],
        _ => &Value::Null,
    };
    if let Some(name) = named.as_str() {
        headers.push(("Mcp-Name", encoded(name)));
    }
    headers
}

/// A value as a header can carry it.
fn encoded(value: &str) -> String {
    let plain = |c: char| (' '..='~').contains(&c);
    let trimmed = value.trim() == value && !value.is_empty();
    if trimmed && value.chars().all(plain) && !value.starts_with("=?base64?") {
        return value.to_owned();
    }
    format!("=?base64?{}?=", base64(value.as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let at = |n: usize| u32::from(*chunk.get(n).unwrap_or(&0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for n in 0..4 {
            if n <= chunk.len() {
                let index = (bits >> (18 - 6 * n)) & 63;
                out.push(char::from(ALPHABET[index as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[test]
fn base64_is_that_of_everybody() {
    for (text, expected) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foobar", "Zm9vYmFy"),
    ] {
        assert_eq!(base64(text.as_bytes()), expected);
    }
}
