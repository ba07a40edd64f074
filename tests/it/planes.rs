//! Layers of tower and tower-http on the planes of frames and of HTTP.

use std::time::Duration;

use http::Method;
use portcullis::{Mode, Stack};
use tower::ServiceBuilder;
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::timeout::TimeoutLayer;
use tower_http::cors::CorsLayer;
use tower_http::trace::TraceLayer;

use crate::support::http1::{Connection, Request};
use crate::support::message::{modern, tool};
use crate::support::{Server, each_transport, fixture};

fn call(name: &str) -> Request {
    Request::derived(&modern("7", "tools/call", &tool(name, "{}")))
}

#[tokio::test]
async fn on_the_frame_plane_every_refusal_is_an_error_with_the_id() {
    each_transport(async |way| {
        let (registry, probe) = fixture();
        let gate = Stack::new(registry)
            .mode(Mode::Plain)
            .layer_frame(LoadShedLayer::new())
            .layer_frame(ConcurrencyLimitLayer::new(1))
            .layer_frame(TimeoutLayer::new(Duration::from_millis(100)))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        let slow = client.start("hang", "{}");
        probe.begun.reach(1).await;
        let shed = client.tool("tally_bump", "{}").await;
        shed.assert_status(503);
        assert_eq!(shed.json()["error"]["data"]["code"], "overloaded");
        let slow = slow.answer().await;
        slow.assert_status(200);
        assert_eq!(slow.json()["error"]["data"]["code"], "timeout");
        probe.ended.reach(1).await;
        assert_eq!(client.tool("tally_bump", "{}").await.text(), "bumped");
        assert_eq!(probe.tally.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn on_the_http_plane_every_refusal_is_a_status() {
    let (registry, probe) = fixture();
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .layer_http(LoadShedLayer::new())
        .layer_http(ConcurrencyLimitLayer::new(1))
        .layer_http(TimeoutLayer::new(Duration::from_millis(200)))
        .build()
        .unwrap();
    let server = Server::start(gate.http()).await;
    let mut slow = Connection::open(server.address).await;
    slow.write(&call("hang").encode()).await;
    probe.begun.reach(1).await;
    let mut other = Connection::open(server.address).await;
    let shed = other.send(&call("tally_bump")).await;
    assert_eq!(shed.outcome(), (503, -32603));
    assert_eq!(shed.header("retry-after"), Some("1"));
    assert_eq!(shed.json()["error"]["data"]["code"], "overloaded");
    let slow = slow.response().await;
    assert_eq!(slow.outcome(), (504, -32603));
    assert!(
        slow.json().get("id").is_none(),
        "nothing of the message is known here"
    );
    probe.ended.reach(1).await;
    assert_eq!(other.send(&call("tally_bump")).await.outcome(), (200, 0));
    assert_eq!(probe.tally.get(), 1);
}

/// A layer on the HTTP plane governs the exchange up to the head of the response.
#[tokio::test]
async fn a_timeout_on_the_http_plane_lets_a_stream_go_on() {
    let (registry, probe) = fixture();
    let layer = TimeoutLayer::new(Duration::from_millis(50));
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .layer_http(layer)
        .build()
        .unwrap();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let params = format!(
        r#"{{"_meta":{{{},"progressToken":1}},"name":"murmur","arguments":{{"steps":2}}}}"#,
        crate::support::message::META
    );
    let response = connection
        .send(&Request::derived(&modern("7", "tools/call", &params)))
        .await;
    assert_eq!(response.messages().len(), 3);
    assert!(response.text().contains("2 steps"));
    assert_eq!(probe.begun.get(), 0);
}

#[tokio::test]
async fn layers_of_tower_http_stand_around_and_inside() {
    let (registry, _probe) = fixture();
    let origin = "https://app.example";
    let cors = CorsLayer::new()
        .allow_origin([origin.parse().unwrap()])
        .allow_methods([Method::POST]);
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .allow_hosts(["localhost"])
        .allow_origins([origin])
        .layer_http(cors)
        .build()
        .unwrap();
    let traced = ServiceBuilder::new()
        .layer(TraceLayer::new_for_http())
        .service(gate.http());
    let server = Server::start(traced).await;
    let mut connection = Connection::open(server.address).await;
    let preflight = Request::new("OPTIONS")
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST");
    let preflight = connection.send(&preflight).await;
    assert_eq!(preflight.status(), 200);
    assert_eq!(
        preflight.header("access-control-allow-methods"),
        Some("POST")
    );
    let response = connection
        .send(&call("tally_read").header("Origin", origin))
        .await;
    assert_eq!(response.outcome(), (200, 0));
    assert_eq!(response.header("access-control-allow-origin"), Some(origin));
    let elsewhere = call("tally_read").header("Origin", "https://evil.example");
    let elsewhere = connection.send(&elsewhere).await;
    assert_eq!(elsewhere.status(), 403);
    assert_eq!(elsewhere.header("access-control-allow-origin"), None);
}
