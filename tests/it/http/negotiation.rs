//! Methods, paths and media types: what a client may send, and what it gets back.

use crate::support::http1::{Connection, Request};
use crate::support::message::{self, tool};
use crate::support::{LEGACY, Server, gate};

fn list() -> [Request; 2] {
    [
        Request::derived(&message::modern("1", "tools/list", "")),
        Request::legacy(&message::request("1", "tools/list", ""), LEGACY),
    ]
}

/// Contract: P-60, M-087, case H01.
#[tokio::test]
async fn accept_is_understood_in_every_spelling() {
    const JSON: &str = "application/json";
    const EVENTS: &str = "text/event-stream";
    let cases: [(&[&str], u16, &str); 14] = [
        (&["application/json, text/event-stream"], 200, JSON),
        (&["text/event-stream, application/json"], 200, JSON),
        (&["*/*"], 200, JSON),
        (&["application/*;q=0.8, text/*"], 200, JSON),
        (
            &["APPLICATION/JSON, Text/Event-Stream;charset=utf-8"],
            200,
            JSON,
        ),
        (&["application/json", "text/event-stream"], 200, JSON),
        (&["application/json"], 200, JSON),
        (&["text/event-stream"], 200, EVENTS),
        (&["application/json;q=0, */*"], 200, EVENTS),
        (&[], 200, JSON),
        (&["application/json;q=0, text/event-stream;q=0"], 406, JSON),
        (&["application/jsonp, text/event-streaming"], 406, JSON),
        (&["text/html"], 406, JSON),
        (&["application/json,text/event-stream"], 200, JSON),
    ];
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    for request in list() {
        for (accept, status, media_type) in cases {
            let add = |request: Request, line: &&str| request.header("Accept", line);
            let request = accept.iter().fold(request.clone().without("Accept"), add);
            let response = connection.send(&request).await;
            let code = if status == 406 { -32600 } else { 0 };
            assert_eq!(response.outcome(), (status, code), "{accept:?}");
            assert_eq!(
                response.header("content-type"),
                Some(media_type),
                "{accept:?}"
            );
            if status == 406 {
                let message = response.json()["error"]["message"]
                    .as_str()
                    .unwrap()
                    .to_owned();
                assert!(
                    message.contains(JSON) && message.contains(EVENTS),
                    "{message}"
                );
            }
        }
    }
}

/// Contract: M-086.
#[tokio::test]
async fn the_body_is_json_in_utf_8_and_nothing_else() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let bump = message::request("1", "tools/call", &tool("tally_bump", "{}"));
    let mut served = 0;
    for (media_type, status) in [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ("application/json;charset=\"utf-8\"", 200),
        ("application/json; charset=latin1", 415),
        ("application/jsonp", 415),
        ("application/json, text/plain", 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("", 415),
    ] {
        let request = Request::post(&*bump).with("Content-Type", media_type);
        let response = connection.send(&request).await;
        assert_eq!(response.status(), status, "{media_type}");
        served += usize::from(status == 200);
        assert_eq!(probe.tally.get(), served, "{media_type}");
    }
    for request in [
        Request::post(&*bump).without("Content-Type"),
        Request::post(&*bump).header("Content-Type", "text/plain"),
        Request::post(&*bump).header("Content-Encoding", "gzip"),
    ] {
        assert_eq!(connection.send(&request).await.outcome(), (415, -32600));
    }
    assert_eq!(probe.tally.get(), served);
}

/// Contract: P-53, P-84, M-086.
#[tokio::test]
async fn one_path_takes_posts_alone() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http().at("/mcp")).await;
    let mut connection = Connection::open(server.address).await;
    for method in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"] {
        let request = Request::new(method)
            .header("Accept", "text/event-stream")
            .header("Mcp-Session-Id", "1")
            .header("Content-Length", "0");
        let response = connection.send(&request).await;
        assert_eq!(response.status(), 405, "{method}");
        assert_eq!(response.header("allow"), Some("POST"), "{method}");
        assert_eq!(response.json()["error"]["code"], -32600, "{method}");
    }
    let bump = message::request("1", "tools/call", &tool("tally_bump", "{}"));
    for path in ["/", "/mcp/", "/mcp/more", "/MCP", "/other"] {
        let response = connection.send(&Request::post(&*bump).target(path)).await;
        assert_eq!(response.status(), 404, "{path}");
        assert_eq!(probe.tally.get(), 0, "{path}");
    }
    let response = connection
        .send(&Request::post(&*bump).target("/mcp?x=1"))
        .await;
    assert_eq!((response.status(), probe.tally.get()), (200, 1));
}

/// Contract: P-85, P-86, P-256, S-003, M-095.
#[tokio::test]
async fn no_session_is_made_or_missed() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let initialize = message::request("1", "initialize", &message::handshake(LEGACY));
    let requests = list().into_iter().chain([Request::post(initialize)]);
    for request in requests {
        let plain = connection.send(&request).await;
        let with = request
            .header("Mcp-Session-Id", "gone")
            .header("Last-Event-ID", "7");
        let with = connection.send(&with).await;
        assert_eq!((with.status(), with.text()), (200, plain.text()));
        for response in [plain, with] {
            assert_eq!(response.header("mcp-session-id"), None);
        }
    }
}
