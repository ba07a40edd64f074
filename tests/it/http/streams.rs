//! JSON when the reply comes first, a stream of events from the first message on.

use crate::support::http1::{Connection, Request};
use crate::support::message::{META, modern, request, tool};
use crate::support::{LEGACY, Server, gate};

fn murmur(token: &str, steps: u32) -> [Request; 2] {
    let arguments = format!("{{\"steps\":{steps}}}");
    let params = |meta: &str| {
        let call = tool("murmur", &arguments);
        format!(
            r#"{{"_meta":{{{meta}"progressToken":{token}}},{}"#,
            &call[1..]
        )
    };
    [
        Request::derived(&request("7", "tools/call", &params(&format!("{META},")))),
        Request::legacy(&request("7", "tools/call", &params("")), LEGACY),
    ]
}

/// Contract: P-60, M-087, M-088.
#[tokio::test]
async fn messages_of_a_call_come_before_its_reply_and_end_with_it() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    for token in ["9007199254740993", r#""t\u0031""#] {
        for request in murmur(token, 2) {
            let response = connection.send(&request).await;
            assert_eq!(response.status(), 200);
            assert_eq!(response.header("content-type"), Some("text/event-stream"));
            assert_eq!(response.header("cache-control"), Some("no-cache"));
            assert_eq!(response.header("x-accel-buffering"), Some("no"));
            let messages = response.messages();
            let (reply, sent) = messages.split_last().unwrap();
            for (step, message) in (1..).zip(sent) {
                let expected = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{step},"total":2,"message":"step {step}"}}}}"#
                );
                assert_eq!(*message, expected);
            }
            assert_eq!(sent.len(), 2);
            assert!(
                reply.starts_with(r#"{"jsonrpc":"2.0","id":7,"result":{"#),
                "{reply}"
            );
        }
    }
}

/// Contract: P-60, M-087, case H01.
#[tokio::test]
async fn a_client_that_takes_one_kind_gets_that_kind() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    for request in murmur("1", 2) {
        let json = connection
            .send(&request.clone().with("Accept", "application/json"))
            .await;
        assert_eq!(json.header("content-type"), Some("application/json"));
        assert_eq!(json.messages().len(), 1, "without the call's messages");
        let events = connection
            .send(&request.with("Accept", "text/event-stream"))
            .await;
        assert_eq!(events.messages().len(), 3);
    }
    let silent = Request::derived(&modern("7", "tools/list", ""));
    let silent = connection
        .send(&silent.with("Accept", "text/event-stream"))
        .await;
    assert_eq!(silent.header("content-type"), Some("text/event-stream"));
    assert_eq!(silent.messages().len(), 1);
}

/// Contract: S-004, P-93.
#[tokio::test]
async fn going_away_ends_the_call_before_and_after_its_first_message() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let call = |name: &str| {
        let params = tool(name, "{}");
        [
            Request::derived(&modern("7", "tools/call", &params)),
            Request::legacy(&request("7", "tools/call", &params), LEGACY),
        ]
    };
    let mut calls = 0;
    for (request, streams) in call("hang")
        .iter()
        .map(|it| (it, false))
        .chain(call("linger").iter().map(|it| (it, true)))
    {
        let mut connection = Connection::open(server.address).await;
        connection.write(&request.encode()).await;
        calls += 1;
        probe.begun.reach(calls).await;
        if streams {
            assert!(connection.head().await.is_stream());
        }
        assert_eq!(probe.ended.get(), calls - 1, "it runs");
        drop(connection);
        probe.ended.reach(calls).await;
    }
}

/// Contract: P-257, M-095.
#[tokio::test]
async fn calls_on_one_connection_know_nothing_of_each_other() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let ask = |version: &str| match version {
        "2026-07-28" => Request::derived(&modern("7", "tools/call", &tool("version", "{}"))),
        version => Request::legacy(&request("7", "tools/call", &tool("version", "{}")), version),
    };
    for version in [
        "2024-11-05",
        "2026-07-28",
        "2025-11-25",
        "2026-07-28",
        "2024-11-05",
    ] {
        let response = connection.send(&ask(version)).await;
        assert_eq!(response.json()["result"]["content"][0]["text"], version);
        let modern = version == "2026-07-28";
        assert_eq!(
            response.json()["result"].get("resultType").is_some(),
            modern
        );
    }
}
