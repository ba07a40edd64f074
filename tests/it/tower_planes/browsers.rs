//! Layers of tower-http, for pages in browsers: one inside that leaves the body alone, one outside.

use http::Method;
use tower::ServiceBuilder;
use tower_http::cors::CorsLayer;
use tower_http::trace::TraceLayer;

use super::stack;
use crate::support::Server;
use crate::support::http1::{Connection, Request};
use crate::support::message::{modern, tool};

fn call(name: &str) -> Request {
    Request::derived(&modern("7", "tools/call", &tool(name, "{}")))
}

#[tokio::test]
async fn layers_of_tower_http_stand_around_and_inside() {
    let origin = "https://app.example";
    let cors = CorsLayer::new()
        .allow_origin([origin.parse().unwrap()])
        .allow_methods([Method::POST]);
    let (stack, _probe) = stack();
    let gate = stack
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
