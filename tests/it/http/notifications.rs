//! Messages that are not answered: what comes back is a status.

use crate::support::http1::{Connection, Request};
use crate::support::message::{self, META, notification, tool};
use crate::support::{LEGACY, Server, gate};

/// Contract: P-10, P-58, M-089, case H23.
#[tokio::test]
async fn a_notification_is_accepted_with_nothing_else() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let cancelled = notification("notifications/cancelled", r#"{"requestId":404}"#);
    let with_meta = format!(r#"{{"_meta":{{{META}}},"requestId":404}}"#);
    let initialized = notification("notifications/initialized", "");
    let call = notification("tools/call", &tool("tally_bump", "{}"));
    let modern = |request: Request| request.header("MCP-Protocol-Version", "2026-07-28");
    for request in [
        Request::legacy(&initialized, LEGACY),
        Request::legacy(&cancelled, LEGACY),
        Request::legacy(&call, LEGACY),
        Request::post(&*initialized),
        Request::post(&*cancelled).without("Accept"),
        Request::post(&*cancelled).with("Accept", "application/json"),
        Request::post(&*cancelled).with("Accept", "text/event-stream"),
        modern(Request::post(&*cancelled)),
        modern(Request::post(notification(
            "notifications/cancelled",
            &with_meta,
        ))),
        Request::derived(&notification("notifications/cancelled", &with_meta)),
        modern(Request::post(notification(
            "notifications/greenhouse/door",
            "",
        ))),
    ] {
        let response = connection.send(&request).await;
        assert_eq!(
            (response.status(), response.text()),
            (202, ""),
            "{request:?}"
        );
        assert_eq!(response.header("content-type"), None, "{request:?}");
        assert_eq!(response.header("content-length"), Some("0"), "{request:?}");
    }
    assert_eq!(probe.tally.get(), 0);
}

/// Contract: P-59, P-92, M-089, case H10, case H23.
#[tokio::test]
async fn a_notification_or_response_that_is_refused_has_no_id() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let unknown = META.replace("2026-07-28", "1900-01-01");
    let unknown = format!(r#"{{"_meta":{{{unknown}}}}}"#);
    let cases = [
        (notification("notifications/cancelled", &unknown), -32022),
        (notification("notifications/cancelled", "[]"), -32600),
        (
            notification("notifications/cancelled", "").replace("2.0", "1.0"),
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"srv-404","result":{}}"#.to_owned(),
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#.to_owned(),
            -32600,
        ),
    ];
    for (text, code) in &cases {
        for request in [
            Request::legacy(text, LEGACY),
            Request::post(&**text).header("MCP-Protocol-Version", "2026-07-28"),
        ] {
            let response = connection.send(&request).await;
            assert_eq!(response.outcome(), (400, *code), "{text}");
            assert!(response.json().get("id").is_none(), "{text}");
        }
    }
    let both = r#"{"jsonrpc":"2.0","id":"srv-1","result":{},"error":{"code":1,"message":"x"}}"#;
    let response = connection.send(&Request::legacy(both, LEGACY)).await;
    assert_eq!(response.outcome(), (400, -32600));
    let version = notification("notifications/initialized", "");
    let response = connection
        .send(&Request::legacy(&version, "1900-01-01"))
        .await;
    assert_eq!(response.outcome(), (400, -32022));
    assert!(response.json().get("id").is_none());
    let served = message::request("1", "tools/list", "");
    assert_eq!(
        connection
            .send(&Request::legacy(&served, LEGACY))
            .await
            .status(),
        200
    );
}
