//! On the HTTP plane a layer governs the exchange up to the head of the response.

use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use portcullis::service::Refused;
use portcullis::wire::Refusal;
use tower::buffer::BufferLayer;
use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::load_shed::LoadShedLayer;
use tower::timeout::TimeoutLayer;

use super::{Fail, HOUR, Note, Raised, Steps, announcing, assert_retry, begin, stack};
use crate::support::http1::{self, Connection};
use crate::support::{Answer, Server, Way, message, over};

/// Contract: M-048.
#[tokio::test]
async fn two_layers_both_see_every_request_the_first_added_outermost() {
    over(&Way::HTTP, async |way| {
        let steps = Steps::default();
        let (stack, _probe) = stack();
        let stack = stack
            .layer_http(Note::new(["> first", "< first"], &steps))
            .layer_http(Note::new(["> second", "< second"], &steps));
        let client = way.open(&stack.build().unwrap()).await;
        steps.take();
        for _ in 0..3 {
            client.tool("echo", r#"{"text":"hi"}"#).await;
            assert_eq!(steps.take(), ["> first", "> second", "< second", "< first"]);
        }
        // What no layer of another plane would see.
        let mut connection = Connection::open(client.address()).await;
        let foreign = http1::Request::post("{").with("Host", "evil.example");
        assert_eq!(connection.send(&foreign).await.status(), 403);
        assert_eq!(steps.take().len(), 4);
    })
    .await;
}

/// The same layers when the gate is mounted in a router.
#[tokio::test]
async fn layers_hold_inside_a_router_as_well() {
    let steps = Steps::default();
    let (stack, probe) = stack();
    let gate = stack
        .layer_http(Note::new([">", "<"], &steps))
        .layer_http(ConcurrencyLimitLayer::new(1))
        .build()
        .unwrap();
    let app = axum::Router::new().route_service("/mcp", gate.http());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    let calls = (0..4).map(|_| async {
        let text = message::request("1", "tools/call", &message::tool("nap", r#"{"ms":2}"#));
        let mut connection = Connection::open(address).await;
        connection.send(&http1::Request::post(text)).await.outcome()
    });
    assert_eq!(futures_util::future::join_all(calls).await, [(200, 0); 4]);
    assert_eq!((steps.take().len(), probe.peak.get()), (8, 1));
    serving.abort();
}

#[tokio::test]
async fn a_limit_of_one_lets_one_of_eight_calls_in_and_delays_no_cancellation() {
    over(&Way::HTTP, async |way| {
        let (stack, probe) = stack();
        let gate = stack
            .layer_http(ConcurrencyLimitLayer::new(1))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        let running = client.start("hang", "{}");
        probe.begun.reach(1).await;
        let calls: Vec<_> = (0..8).map(|_| client.start("nap", r#"{"ms":2}"#)).collect();
        tokio::task::yield_now().await;
        running.cancel().await;
        for call in calls {
            assert_eq!(call.answer().await.text(), "slept 2 ms");
        }
        assert_eq!((probe.begun.get(), probe.peak.get()), (9, 1));
    })
    .await;
}

/// A call that turns to a stream has given its head away, and its place with it.
#[tokio::test]
async fn a_limit_holds_up_to_the_head_of_a_stream() {
    over(&Way::HTTP, async |way| {
        let (stack, probe) = announcing();
        let gate = stack
            .layer_http(ConcurrencyLimitLayer::new(1))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        let (mut first, head) = begin(&client, "announce").await;
        assert!(head.is_stream());
        let (mut second, head) = begin(&client, "announce").await;
        assert!(head.is_stream());
        assert_eq!(
            (probe.begun.get(), probe.peak.get(), probe.ended.get()),
            (2, 2, 0)
        );
        assert_eq!(client.tool("quick", "{}").await.text(), "quick");
        probe.tally.add();
        for stream in [&mut first, &mut second] {
            assert!(stream.event().await.contains("notifications/announced"));
            assert!(stream.event().await.contains(r#""text":"announced""#));
        }
    })
    .await;
}

/// So a client that does not read its stream holds nothing up.
#[tokio::test]
async fn a_client_that_stops_reading_keeps_no_place() {
    over(&Way::HTTP, async |way| {
        let (stack, probe) = stack();
        let gate = stack
            .layer_http(ConcurrencyLimitLayer::new(1))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        let (silent, head) = begin(&client, "flood").await;
        assert!(head.is_stream());
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
        assert_eq!(probe.ended.get(), 0, "it still sends");
        drop(silent);
        probe.ended.reach(1).await;
    })
    .await;
}

#[tokio::test]
async fn load_that_is_shed_is_answered_as_overload() {
    over(&Way::HTTP, async |way| {
        let (stack, probe) = stack();
        let stack = stack
            .layer_http(LoadShedLayer::new())
            .layer_http(ConcurrencyLimitLayer::new(1));
        let client = way.open(&stack.build().unwrap()).await;
        let running = client.start("hang", "{}");
        probe.begun.reach(1).await;
        let answer = client.tool("tally_bump", "{}").await;
        assert_refusal(way, &answer, 503, "overloaded");
        assert_eq!(probe.tally.get(), 0, "it did not run");
        running.cancel().await;
        probe.ended.reach(1).await;
        while client.tool("tally_bump", "{}").await.code() != 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(probe.tally.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_head_that_takes_too_long_is_a_gateway_that_timed_out_and_a_stream_is_left_alone() {
    over(&Way::HTTP, async |way| {
        let (stack, probe) = announcing();
        let layer = TimeoutLayer::new(Duration::from_millis(50));
        let client = way
            .open(&stack.layer_http(layer.clone()).build().unwrap())
            .await;
        let (mut stream, head) = begin(&client, "announce").await;
        assert!(head.is_stream());
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(probe.ended.get(), 0, "its head came in time");
        probe.tally.add();
        assert!(stream.event().await.contains("notifications/announced"));
        assert!(stream.event().await.contains(r#""text":"announced""#));

        let (stack, probe) = self::stack();
        let client = way.open(&stack.layer_http(layer).build().unwrap()).await;
        assert_refusal(way, &client.tool("hang", "{}").await, 504, "timeout");
        probe.ended.reach(1).await;
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
    })
    .await;
}

#[tokio::test]
async fn a_rate_behind_a_buffer_makes_requests_wait() {
    over(&Way::HTTP, async |way| {
        let (stack, probe) = stack();
        // In the legacy era the handshake is two requests.
        let handshake = if way.is_modern() { 0 } else { 2 };
        let gate = stack
            .layer_http(TimeoutLayer::new(Duration::from_millis(100)))
            .layer_http(BufferLayer::<Request<Incoming>>::new(8))
            .layer_http(RateLimitLayer::new(handshake + 2, HOUR))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        for _ in 0..2 {
            assert_eq!(client.tool("tally_bump", "{}").await.text(), "bumped");
        }
        assert_refusal(way, &client.tool("tally_bump", "{}").await, 504, "timeout");
        assert_eq!(probe.tally.get(), 2);
    })
    .await;
}

#[tokio::test]
async fn errors_of_other_layers_are_classified_and_never_told() {
    let cases: [(Raised, u16, &str); 4] = [
        (|| Refused(Refusal::RateLimited).into(), 429, "rate_limited"),
        (|| Refused(Refusal::Unavailable).into(), 503, "unavailable"),
        (
            || Refused(Refusal::ShuttingDown).into(),
            503,
            "shutting_down",
        ),
        (|| "the password is tok-42".into(), 500, "internal"),
    ];
    over(&Way::HTTP, async |way| {
        let fail = Fail::not_yet();
        let (stack, probe) = stack();
        let client = way
            .open(&stack.layer_http(fail.clone()).build().unwrap())
            .await;
        assert_eq!(client.tool("tally_bump", "{}").await.text(), "bumped");
        for (error, status, code) in cases {
            fail.with(error);
            let answer = client.tool("tally_bump", "{}").await;
            assert_refusal(way, &answer, status, code);
            assert!(!answer.raw().contains("tok-42"), "{}", answer.raw());
        }
        assert_eq!(probe.tally.get(), 1);
    })
    .await;
}

/// Each `http()` applies the layers anew; what shares a limit are the clones of one.
#[tokio::test]
async fn clones_of_a_service_share_its_limits() {
    let (stack, probe) = stack();
    let gate = stack
        .layer_http(ConcurrencyLimitLayer::new(1))
        .build()
        .unwrap();
    let http = gate.http();
    let servers = [Server::start(http.clone()).await, Server::start(http).await];
    let calls = servers.iter().cycle().take(6).map(|server| async {
        let text = message::request("1", "tools/call", &message::tool("nap", r#"{"ms":2}"#));
        let mut connection = Connection::open(server.address).await;
        connection.send(&http1::Request::post(text)).await.outcome()
    });
    assert_eq!(futures_util::future::join_all(calls).await, [(200, 0); 6]);
    assert_eq!(probe.peak.get(), 1);
}

/// On this plane nothing of the message has been read, so the error has no id.
fn assert_refusal(way: Way, answer: &Answer, status: u16, code: &str) {
    answer.assert_status(status);
    let reply = answer.json();
    assert!(reply.get("id").is_none(), "{answer:?}");
    assert_eq!(reply["error"]["code"], -32603);
    assert_eq!(reply["error"]["data"]["code"], code);
    assert_retry(way, answer, matches!(status, 429 | 503));
}
