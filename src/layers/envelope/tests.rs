use std::sync::Mutex;

use tower::{ServiceExt as _, service_fn};

use super::*;
use crate::service::{CacheHint, Declared, Field, Session};
use crate::wire::json::RawJson;
use crate::wire::{ClientCapabilities, Frame, ProtocolVersion};

#[derive(Debug, Default)]
struct Headers(Vec<(&'static str, &'static str)>);

impl Declared for Headers {
    fn field(&self, name: &str) -> Field<'_> {
        let mut found = self.0.iter().filter(|(header, _)| *header == name);
        match (found.next(), found.next()) {
            (None, _) => Field::Absent,
            (Some((_, value)), None) => Field::One(value.as_bytes()),
            _ => Field::Several,
        }
    }
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn message(text: &str) -> Inbound {
    Inbound::new(Frame::parse(text.as_bytes().to_vec(), 128).unwrap())
}

/// A message over HTTP, with these headers.
fn posted(text: &str, headers: &[(&'static str, &'static str)]) -> Inbound {
    let mut inbound = message(text);
    inbound.declared = Some(Arc::new(Headers(headers.to_vec())));
    inbound
}

/// Sends a message through the layer: status, body, and the version that was decoded, if any was.
async fn send(inbound: Inbound) -> (u16, String, Option<ProtocolVersion>) {
    let seen = Arc::new(Mutex::new(None));
    let inner = {
        let seen = Arc::clone(&seen);
        service_fn(move |call: Envelope| {
            *seen.lock().unwrap() = Some(call.features().version());
            std::future::ready(Ok::<_, tower::BoxError>(Reply::cacheable(
                "\"a\":1",
                CacheHint::NONE,
            )))
        })
    };
    let layer = EnvelopeLayer::new(&Implementation::new("s", "1")).unwrap();
    let outbound = layer.layer(inner).oneshot(inbound).await.unwrap();
    let body = outbound
        .payload
        .map(|payload| payload.into_bytes().to_vec())
        .unwrap_or_default();
    let version = seen.lock().unwrap().take();
    (
        outbound.hints.status,
        String::from_utf8(body).unwrap(),
        version,
    )
}

fn code(body: &str) -> i64 {
    let value: serde_json::Value = serde_json::from_str(body).unwrap();
    value["error"]["code"].as_i64().unwrap_or_default()
}

/// Contract: P-1, P-5, P-6, P-27.
#[tokio::test]
async fn modern_results_say_what_they_are_and_legacy_ones_do_not() {
    let modern = format!(r#"{{"jsonrpc":"2.0","id":"\u0061","method":"x","params":{{{META}}}}}"#);
    let (status, body, version) = send(message(&modern)).await;
    assert_eq!((status, version), (200, Some(ProtocolVersion::July2026)));
    assert_eq!(
        body,
        r#"{"jsonrpc":"2.0","id":"\u0061","result":{"resultType":"complete","a":1,"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#
    );
    let (_, body, _) = send(message(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#)).await;
    assert_eq!(body, r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#);
}

/// Contract: P-18, P-19, P-20, P-42, P-43, P-67, P-70, P-71, P-72, P-73, case H07, case H10.
#[tokio::test]
async fn modern_requests_are_checked_in_order() {
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    let null = r#""io.modelcontextprotocol/clientCapabilities":null"#;
    let unknown = r#""io.modelcontextprotocol/protocolVersion":"v9""#;
    let old = r#""io.modelcontextprotocol/protocolVersion":"2025-11-25""#;
    let meta = |members: &[&str]| call(&format!(r#""_meta":{{{}}}"#, members.join(",")));
    let good = meta(&[version, capabilities]);

    check(&good, &HEADERS, 0).await;
    check(&call(r#""x":1"#), &HEADERS, -32602).await;
    check(&meta(&[capabilities]), &HEADERS, -32602).await;
    check(&meta(&[version]), &HEADERS, -32602).await;
    check(&meta(&[version, null]), &HEADERS, -32602).await;

    let (unknown, old) = (meta(&[unknown, capabilities]), meta(&[old, capabilities]));
    let named = |version| replaced("mcp-protocol-version", version);
    check(&unknown, &HEADERS, -32020).await;
    check(&unknown, &named("v9"), -32022).await;
    check(&old, &named("2025-11-25"), -32022).await;

    check(&good, &without("mcp-protocol-version"), -32020).await;
    check(&good, &named("2025-11-25"), -32020).await;
    check(&good, &without("mcp-method"), -32020).await;
    check(&good, &replaced("mcp-method", "TOOLS/CALL"), -32020).await;
    check(&good, &replaced("mcp-method", "tools/list"), -32020).await;
    check(&good, &without("mcp-name"), -32020).await;
    check(&good, &replaced("mcp-name", "N"), -32020).await;
    check(&good, &replaced("mcp-name", "  n\t"), 0).await;
    check(&good, &replaced("mcp-name", "=?base64?bg==?="), 0).await;
    check(&good, &replaced("mcp-name", "=?base64?bg=?="), -32020).await;
    check(
        &good,
        &[&HEADERS[..], &[("mcp-name", "n")]].concat(),
        -32020,
    )
    .await;
}

const HEADERS: [(&str, &str); 3] = [
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "n"),
];

fn replaced(name: &str, value: &'static str) -> Vec<(&'static str, &'static str)> {
    let replace = |(header, old)| (header, if header == name { value } else { old });
    HEADERS.into_iter().map(replace).collect()
}

fn without(name: &str) -> Vec<(&'static str, &'static str)> {
    let others = HEADERS.into_iter().filter(|(header, _)| *header != name);
    others.collect()
}

/// A call whose params have the name `n` and these members.
fn call(members: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"n",{members}}}}}"#)
}

/// Sends a call and checks its answer: the code of an error, or 0 where it reaches the core.
async fn check(text: &str, headers: &[(&'static str, &'static str)], expected: i64) {
    let (status, body, version) = send(posted(text, headers)).await;
    let wanted = if expected == 0 { 200 } else { 400 };
    assert_eq!(
        (status, code(&body)),
        (wanted, expected),
        "{text} {headers:?} {body}"
    );
    assert!(body.contains(r#""id":1"#), "{body}");
    let reached = version.is_some();
    assert_eq!(reached, expected == 0, "a refused message reached the core");
}

/// Contract: P-252, P-253, P-254, P-255, P-217, case L01.
#[tokio::test]
async fn eras_are_told_apart_message_by_message() {
    let session = Session::new();
    let with_session = |text: &str| {
        let mut inbound = message(text);
        inbound.session = Some(session.clone());
        inbound
    };
    let initialize = |version: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":{version}}}}}"#
        )
    };
    for (asked, spoken) in [
        (r#""2024-11-05""#, ProtocolVersion::November2024),
        (r#""2025-06-18""#, ProtocolVersion::June2025),
        (r#""2099-01-01""#, ProtocolVersion::November2025),
        (r#""2026-07-28""#, ProtocolVersion::November2025),
        ("20250618", ProtocolVersion::November2025),
    ] {
        assert_eq!(
            send(message(&initialize(asked))).await.2,
            Some(spoken),
            "{asked}"
        );
    }
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let (status, body, _) = send(with_session(list)).await;
    assert_eq!(
        (status, code(&body)),
        (400, -32602),
        "nothing was negotiated"
    );
    session.negotiate(ProtocolVersion::June2025, ClientCapabilities::default());
    assert_eq!(
        send(with_session(list)).await.2,
        Some(ProtocolVersion::June2025)
    );
    let modern = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{{META}}}}}"#);
    assert_eq!(
        send(with_session(&modern)).await.2,
        Some(ProtocolVersion::July2026)
    );
}

/// Contract: P-227, P-228.
#[tokio::test]
async fn legacy_requests_without_a_session_go_by_their_header() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let version = |date| send(posted(list, &[("mcp-protocol-version", date)]));
    assert_eq!(
        version("2025-11-25").await.2,
        Some(ProtocolVersion::November2025)
    );
    assert_eq!(
        send(posted(list, &[])).await.2,
        Some(ProtocolVersion::March2025)
    );
    let (status, body, _) = version("1900-01-01").await;
    assert_eq!((status, code(&body)), (400, -32022));
}

/// Contract: P-10, P-58, P-59, case H23.
#[tokio::test]
async fn notifications_get_no_reply_and_refused_ones_no_id() {
    let (status, body, version) = send(posted(
        r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
        &[],
    ))
    .await;
    assert_eq!((status, &*body, version.is_some()), (202, "", true));
    // Only requests have to carry `_meta`.
    let (status, body, version) = send(posted(
        r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
        &[("mcp-protocol-version", "2026-07-28")],
    ))
    .await;
    assert_eq!((status, &*body), (202, ""));
    assert_eq!(version, Some(ProtocolVersion::July2026));
    let refused = r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v9"}}}"#;
    let (status, body, _) = send(posted(refused, &[])).await;
    assert_eq!((status, code(&body)), (400, -32022));
    assert!(!body.contains("\"id\""), "{body}");
}

/// A limit below must not hold them back, so nothing below is asked.
#[tokio::test]
async fn what_only_the_transport_needs_to_know_goes_no_further() {
    for (method, expected) in [
        ("notifications/cancelled", false),
        ("notifications/initialized", false),
        ("notifications/x", true),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
        let (status, body, version) = send(posted(&text, &[])).await;
        assert_eq!((status, &*body), (202, ""), "{method}");
        assert_eq!(version.is_some(), expected, "{method}");
    }
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled"}"#;
    assert!(send(posted(request, &[])).await.2.is_some());
}

/// Contract: P-17, P-92, S-092.
#[tokio::test]
async fn what_is_no_message_is_an_invalid_request() {
    for text in [
        "[]",
        "[{}]",
        "7",
        r#"{"jsonrpc":"2.0","id":"srv-1","result":{}}"#,
    ] {
        let (status, body, version) = send(posted(text, &[])).await;
        assert_eq!(
            (status, code(&body), version),
            (400, -32600, None),
            "{text}"
        );
    }
}

#[tokio::test]
async fn long_results_are_not_copied_and_read_the_same() {
    let text = format!("\"a\":\"{}\"", "x".repeat(100_000));
    let encoder = Encoder::new(&Implementation::new("s", "1")).unwrap();
    let features = ProtocolVersion::July2026.features();
    let members = bytes::Bytes::from(text.clone());
    let mut reply = Reply::result(members.clone());
    if let crate::service::Outcome::Result(body) = &mut reply.outcome {
        body.meta = Some(RawJson::parse(r#"{ "k": 1 }"#).unwrap());
    }
    let payload = encoder
        .encode(reply, Some(&1.into()), features)
        .payload
        .unwrap();
    assert!(
        payload
            .pieces()
            .any(|piece| piece.as_ptr() == members.as_ptr())
    );
    let whole = String::from_utf8(payload.into_bytes().to_vec()).unwrap();
    assert_eq!(
        whole,
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete",{text},"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}},"k": 1}}}}}}"#
        )
    );
}

#[test]
fn identity_is_bounded_on_both_sides() {
    let identity = |length: usize| Implementation::new("n".repeat(length), "");
    let around = r#"{"name":"","version":""}"#.len();
    assert!(Encoder::new(&identity(4096 - around)).is_ok());
    assert!(Encoder::new(&identity(4097 - around)).is_err());
}
