//! Modern requests say everything twice, and both times the same; legacy ones say their version once.

use portcullis::Stack;
use portcullis::layers::Mode;
use portcullis::service::Principal;
use portcullis::wire::{ProtocolVersion, Versions};

use crate::support::http1::{Connection, Request, Response};
use crate::support::message::{self, LEGACY, META, derived_headers, modern, tool, with_meta};
use crate::support::stdio::Pipe;
use crate::support::{Server, fixture, gate};

fn bump() -> String {
    modern("7", "tools/call", &tool("tally_bump", "{}"))
}

/// A refusal with the id of the request.
fn assert_refused(response: &Response, status: u16, code: i64, case: &str) {
    assert_eq!(response.outcome(), (status, code), "{case}");
    assert_eq!(response.json()["id"], 7, "{case}");
}

/// Contract: P-67, P-70, P-71, P-72, P-73, P-74, P-75, P-76, P-77, case H07.
#[tokio::test]
async fn headers_that_contradict_the_message_keep_it_from_running() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let good = || Request::derived(&bump());
    for (header, values) in [
        (
            "Mcp-Name",
            // Another name, other letters, nothing; broken padding, another alphabet, other markers.
            &[
                "mirror",
                "TALLY_BUMP",
                "",
                "=?base64?dGFsbHlfYnVtcA=?=",
                "=?base64?dGFsbHlf*nVtcA==?=",
                "=?BASE64?dGFsbHlfYnVtcA==?=",
            ][..],
        ),
        (
            "Mcp-Method",
            &["tools/list", "TOOLS/CALL", "=?base64?dG9vbHMvY2FsbA==?="],
        ),
        ("MCP-Protocol-Version", &["2025-11-25"]),
    ] {
        for value in values {
            let response = connection.send(&good().with(header, value)).await;
            assert_refused(&response, 400, -32020, value);
        }
        let response = connection.send(&good().without(header)).await;
        assert_refused(&response, 400, -32020, header);
    }
    for (header, value) in derived_headers(&bump()) {
        let response = connection.send(&good().header(header, &value)).await;
        assert_refused(&response, 400, -32020, "twice the same");
    }
    assert_eq!(probe.tally.get(), 0);
    let passes = [
        good(),
        good().without("Mcp-Name").header("mCp-NaMe", "tally_bump"),
        good().with("Mcp-Name", " \t tally_bump  "),
        good().with("Mcp-Name", "=?base64?dGFsbHlfYnVtcA==?="),
        good().header("Mcp-Param-Whatever", "x"),
    ];
    for (served, request) in passes.iter().enumerate() {
        assert_eq!(
            connection.send(request).await.outcome(),
            (200, 0),
            "{request:?}"
        );
        assert_eq!(probe.tally.get(), served + 1);
    }
    let unneeded = Request::derived(&modern("7", "tools/list", "")).header("Mcp-Name", "x");
    assert_eq!(connection.send(&unneeded).await.outcome(), (200, 0));
}

/// Contract: P-71, P-72, P-75.
#[tokio::test]
async fn names_of_prompts_and_uris_of_resources_are_compared_as_well() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    for (method, params) in [
        ("resources/read", r#"{"uri":"note://pad/1"}"#),
        ("resources/read", r#"{"uri":"note://shelf/z\u00fcrich"}"#),
        (
            "prompts/get",
            r#"{"name":"review","arguments":{"code":"x"}}"#,
        ),
    ] {
        let good = Request::derived(&modern("7", method, params));
        assert_eq!(connection.send(&good).await.outcome(), (200, 0), "{params}");
        for request in [
            good.clone().with("Mcp-Name", "other"),
            good.without("Mcp-Name"),
        ] {
            assert_refused(&connection.send(&request).await, 400, -32020, params);
        }
    }
}

/// A call with this `_meta`, or none, and the headers of a proper one.
fn call_with(meta: Option<&str>) -> Request {
    let meta = meta.map_or_else(String::new, |meta| format!("\"_meta\":{{{meta}}},"));
    let params = format!(r#"{{{meta}"name":"tally_bump"}}"#);
    let text = message::request("7", "tools/call", &params);
    Request::post(text)
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "tally_bump")
}

/// Contract: P-18, P-19, P-20, P-42, P-43, P-68, case H10.
#[tokio::test]
async fn what_a_modern_request_must_say_of_itself_has_a_code_each() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities""#;
    let incomplete = [
        None,
        Some(String::new()),
        Some(format!("{capabilities}:{{}}")),
        Some(version.to_owned()),
        Some(format!("{version},{capabilities}:null")),
    ];
    for meta in incomplete {
        let response = connection.send(&call_with(meta.as_deref())).await;
        assert_refused(&response, 400, -32602, &format!("{meta:?}"));
    }
    let unknown = META.replace("2026-07-28", "1900-01-01");
    let unsupported = call_with(Some(&unknown)).with("MCP-Protocol-Version", "1900-01-01");
    let response = connection.send(&unsupported).await;
    assert_refused(&response, 400, -32022, "an unknown version");
    let data = &response.json()["error"]["data"];
    assert_eq!(data["requested"], "1900-01-01");
    assert_eq!(data["supported"][0], "2026-07-28");

    let hidden = call_with(Some(META)).without("MCP-Protocol-Version");
    assert_refused(&connection.send(&hidden).await, 400, -32020, "no header");
    assert_eq!(probe.tally.get(), 0);
    // It need not say who it is.
    let response = connection.send(&call_with(Some(META))).await;
    assert_eq!((response.outcome(), probe.tally.get()), ((200, 0), 1));
}

/// Contract: P-69, P-254, case H10.
#[tokio::test]
async fn methods_a_modern_client_does_not_have_are_not_found() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    for method in [
        "garden/prune",
        "ping",
        "initialize",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/result",
        "tasks/list",
    ] {
        let request = Request::derived(&modern("7", method, ""));
        assert_refused(&connection.send(&request).await, 404, -32601, method);
    }
}

/// Contract: P-68.
#[tokio::test]
async fn legacy_requests_go_by_their_header_or_by_what_was_before_it() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let ask = Request::post(message::request("7", "tools/call", &tool("version", "{}")));
    let text = |response: &Response| {
        response.json()["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let request = ask.clone().header("MCP-Protocol-Version", version);
        assert_eq!(text(&connection.send(&request).await), version);
    }
    assert_eq!(text(&connection.send(&ask).await), "2025-03-26");
    for version in ["1900-01-01", "", "2025-11-25, 2025-06-18"] {
        let request = ask.clone().header("MCP-Protocol-Version", version);
        assert_refused(&connection.send(&request).await, 400, -32022, version);
    }
    let twice = ask
        .header("MCP-Protocol-Version", "2025-11-25")
        .header("MCP-Protocol-Version", "2025-11-25");
    assert_refused(&connection.send(&twice).await, 400, -32020, "two versions");
}

/// Contract: P-21, P-22, P-23.
#[tokio::test]
async fn what_a_client_can_do_is_what_it_says_in_this_request() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let ask = |capabilities: &str| {
        let meta = META.replace(
            r#"Capabilities":{}"#,
            &format!(r#"Capabilities":{capabilities}"#),
        );
        let params = format!(r#"{{"_meta":{{{meta}}},"name":"asks_model"}}"#);
        Request::derived(&message::request("7", "tools/call", &params))
    };
    for able in [true, false, true] {
        let request = ask(if able {
            r#"{"sampling":{}}"#
        } else {
            r#"{"roots":{}}"#
        });
        let response = connection.send(&request).await;
        if able {
            assert_eq!(response.outcome(), (200, 0));
            continue;
        }
        assert_refused(&response, 400, -32021, "nothing declared");
        let required = &response.json()["error"]["data"]["requiredCapabilities"];
        assert_eq!(required.to_string(), r#"{"sampling":{}}"#);
    }
}

/// A client that finds no version in common learns what there is to choose from.
///
/// Contract: P-46.
#[tokio::test]
async fn a_server_without_a_handshake_says_so_to_who_opens_with_one() {
    let gate = Stack::new(fixture().0)
        .mode(Mode::Plain)
        .versions(Versions::new([ProtocolVersion::July2026]))
        .build()
        .unwrap();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let mut pipe = Pipe::open(&gate);
    let hello = message::request("7", "initialize", &message::handshake(LEGACY));
    for named in [None, Some(LEGACY)] {
        let mut request = Request::post(hello.as_str());
        if let Some(version) = named {
            request = request.header("MCP-Protocol-Version", version);
        }
        let response = connection.send(&request).await;
        assert_refused(&response, 400, -32022, "initialize");
        let data = &response.json()["error"]["data"];
        assert_eq!(data["supported"], serde_json::json!(["2026-07-28"]));
        assert_eq!(data["requested"], LEGACY);
    }
    assert!(
        pipe.ask(&hello)
            .await
            .contains(r#""supported":["2026-07-28"]"#)
    );
    let ping = message::request("7", "ping", "");
    let response = connection.send(&Request::legacy(&ping, LEGACY)).await;
    assert_refused(&response, 400, -32022, "ping");
    assert!(pipe.ask(&ping).await.contains("-32602"));

    let discover = modern("7", "server/discover", "");
    let response = connection.send(&Request::derived(&discover)).await;
    let offered = &response.json()["result"]["supportedVersions"];
    assert_eq!(*offered, serde_json::json!(["2026-07-28"]));
    assert!(pipe.ask(&bump()).await.contains(r#""id":7,"result""#));
}

/// Contract: P-16, P-45, P-69.
#[tokio::test]
async fn what_is_not_offered_is_not_announced_and_not_served() {
    let gate = Stack::new(portcullis::Registry::builder().build().unwrap())
        .mode(Mode::Plain)
        .build()
        .unwrap();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let discover = Request::derived(&modern("7", "server/discover", ""));
    let offered = connection.send(&discover).await.json();
    assert_eq!(offered["result"]["capabilities"].to_string(), "{}");
    for method in [
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    ] {
        let response = connection
            .send(&Request::derived(&modern("7", method, "")))
            .await;
        assert_refused(&response, 404, -32601, method);
    }
}

/// Contract: S-008.
#[tokio::test]
async fn who_calls_is_known_to_every_handler_and_for_that_request_only() {
    let (registry, _probe) = fixture();
    let identify =
        tower::util::MapRequestLayer::new(|mut request: http::Request<hyper::body::Incoming>| {
            let name = request
                .headers()
                .get("x-user")
                .and_then(|name| name.to_str().ok());
            if let Some(name) = name.map(str::to_owned) {
                request.extensions_mut().insert(Principal::new(name));
            }
            request
        });
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .layer_http(identify)
        .build()
        .unwrap();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    for (method, params) in [
        ("tools/call", tool("whoami", "{}")),
        (
            "resources/read",
            r#"{"uri":"note://pad/whoami"}"#.to_owned(),
        ),
        ("prompts/get", r#"{"name":"whoami"}"#.to_owned()),
    ] {
        for text in [
            modern("7", method, &with_meta(&params)),
            message::request("7", method, &params),
        ] {
            for user in [Some("ada"), None, Some("bob")] {
                let mut request = Request::derived(&text);
                if let Some(user) = user {
                    request = request.header("X-User", user);
                }
                let response = connection.send(&request).await;
                let told = format!("\"text\":\"{}\"", user.unwrap_or("nobody"));
                assert!(response.text().contains(&told), "{}", response.text());
            }
        }
    }
}
