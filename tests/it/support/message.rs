//! Messages as text, and the headers a client sends beside them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

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
    derive_headers(text).unwrap_or_default()
}

fn derive_headers(text: &str) -> Option<Vec<(&'static str, String)>> {
    let message = members(text)?;
    let params = members(message.get("params")?.get())?;
    let meta = members(params.get("_meta")?.get())?;
    let string = |value: Option<&Box<RawValue>>| -> Option<String> {
        serde_json::from_str(value?.get()).ok()
    };
    let method = string(message.get("method"))?;
    let mut headers = vec![
        (
            "MCP-Protocol-Version",
            string(meta.get("io.modelcontextprotocol/protocolVersion"))?,
        ),
        ("Mcp-Method", method.clone()),
    ];
    let named = match method.as_str() {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => None,
    };
    if let Some(name) = string(named) {
        headers.push(("Mcp-Name", encoded(&name)));
    }
    Some(headers)
}

/// The members of an object, each as it is written: there are numbers that no `Value` holds.
pub(crate) fn members(text: &str) -> Option<BTreeMap<String, Box<RawValue>>> {
    serde_json::from_str(text).ok()
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
