//! Which hosts and origins reach the server, over both versions of HTTP.

use bytes::Bytes;
use http_body_util::Full;
use portcullis::Stack;
use portcullis::layers::Mode;

use crate::support::http1::{Connection, Request};
use crate::support::message::{self, tool};
use crate::support::{Server, fixture, gate, http2};

fn bump() -> String {
    message::request("1", "tools/call", &tool("tally_bump", "{}"))
}

/// Contract: P-54, P-55, S-005, M-065, case H03.
#[tokio::test]
async fn origins_of_other_places_are_refused_whatever_is_asked() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let port = server.address.port();
    let mut connection = Connection::open(server.address).await;
    let good = [
        "http://localhost:PORT",
        "http://127.0.0.1:PORT",
        "http://[::1]:PORT",
        "HTTP://LOCALHOST:PORT",
    ];
    for (served, origin) in good.iter().enumerate() {
        let origin = origin.replace("PORT", &port.to_string());
        let response = connection
            .send(&Request::post(bump()).header("Origin", &origin))
            .await;
        assert_eq!(
            (response.status(), probe.tally.get()),
            (200, served + 1),
            "{origin}"
        );
        assert_eq!(response.header("access-control-allow-origin"), None);
    }
    let bad = [
        "null",
        "",
        "https://evil.example",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example:80",
        "http://localhost:80@evil.example",
        "http://evil.example#http://localhost:80",
        "http://localhost.:80",
        "http://[::ffff:127.0.0.1]:80",
        "file://",
        "chrome-extension://abc",
        "http://localhost:80 http://evil.example",
    ];
    for origin in bad {
        let response = connection
            .send(&Request::post(bump()).header("Origin", origin))
            .await;
        assert_eq!(response.status(), 403, "{origin}");
        assert!(response.json().get("id").is_none(), "{origin}");
        assert_eq!(response.header("access-control-allow-origin"), None);
    }
    let twice = Request::post(bump())
        .header("Origin", "http://localhost")
        .header("Origin", "https://evil.example");
    assert_eq!(connection.send(&twice).await.status(), 403);
    let evil = |request: Request| request.header("Origin", "https://evil.example");
    for request in [
        Request::post("{broken"),
        Request::new("GET").header("Accept", "text/event-stream"),
        Request::new("DELETE"),
        Request::new("OPTIONS").header("Access-Control-Request-Method", "POST"),
    ] {
        let response = connection.send(&evil(request.clone())).await;
        assert_eq!(response.status(), 403, "{request:?}");
    }
    assert_eq!(probe.tally.get(), good.len());
}

/// Contract: S-006, case H04.
#[tokio::test]
async fn hosts_of_other_places_are_refused_and_one_has_to_be_named() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let mut served = 0;
    for (host, status) in [
        ("localhost:PORT", 200),
        ("127.0.0.1:PORT", 200),
        ("[::1]:PORT", 200),
        ("LOCALHOST:PORT", 200),
        ("localhost", 200),
        ("evil.example", 403),
        ("localhost.evil.example:PORT", 403),
        ("localhost@evil.example", 403),
        ("127.0.0.2", 403),
        ("", 403),
    ] {
        let host = host.replace("PORT", &server.address.port().to_string());
        let response = connection
            .send(&Request::post(bump()).with("Host", &host))
            .await;
        assert_eq!(response.status(), status, "{host}");
        served += usize::from(status == 200);
        assert_eq!(probe.tally.get(), served, "{host}");
    }
    for (request, status) in [
        (Request::post(bump()).without("Host"), 400),
        (Request::post(bump()).header("Host", "localhost"), 400),
        (Request::post(bump()).header("Host", "evil.example"), 400),
        (Request::post(bump()).target("http://evil.example/mcp"), 403),
        (
            Request::post(bump())
                .target("http://localhost/mcp")
                .with("Host", "evil.example"),
            403,
        ),
    ] {
        let mut connection = Connection::open(server.address).await;
        assert_eq!(
            connection.send(&request).await.status(),
            status,
            "{request:?}"
        );
    }
    let absolute = Request::post(bump()).target("http://localhost/mcp");
    assert_eq!(connection.send(&absolute).await.status(), 200);
    assert_eq!(probe.tally.get(), served + 1);
}

/// Contract: S-006, case H04.
#[tokio::test]
async fn over_http_2_the_authority_is_the_host() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = http2::Connection::open(server.address).await;
    let bump = || Full::<Bytes>::from(bump());
    let port = server.address.port();
    let mut served = 0;
    for (authority, host, status) in [
        (format!("localhost:{port}"), None, 200),
        (format!("127.0.0.1:{port}"), None, 200),
        (format!("[::1]:{port}"), None, 200),
        ("LOCALHOST".to_owned(), None, 200),
        ("evil.example".to_owned(), None, 403),
        (format!("localhost.evil.example:{port}"), None, 403),
        ("localhost".to_owned(), Some("localhost"), 200),
        ("localhost".to_owned(), Some("evil.example"), 403),
        ("evil.example".to_owned(), Some("localhost"), 403),
    ] {
        let mut request = http2::post(&authority, "");
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let (found, _) = connection.send(request.body(bump()).unwrap()).await;
        assert_eq!(found, status, "{authority} {host:?}");
        served += usize::from(status == 200);
        assert_eq!(probe.tally.get(), served, "{authority} {host:?}");
    }
}

/// Contract: P-54, S-006, M-065.
#[tokio::test]
async fn an_address_that_is_told_takes_the_place_of_the_loopback_names() {
    let (registry, probe) = fixture();
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .public_url("https://mcp.example")
        .build()
        .unwrap();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    for (host, origin, status) in [
        ("mcp.example", None, 200),
        ("MCP.example", Some("https://mcp.example"), 200),
        ("mcp.example", Some("http://mcp.example"), 403),
        ("mcp.example", Some("https://mcp.example:444"), 403),
        ("mcp.example", Some("http://localhost"), 403),
        ("localhost", None, 403),
    ] {
        let mut request = Request::post(bump()).with("Host", host);
        if let Some(origin) = origin {
            request = request.header("Origin", origin);
        }
        assert_eq!(
            connection.send(&request).await.status(),
            status,
            "{host} {origin:?}"
        );
    }
    assert_eq!(probe.tally.get(), 2);
}
