//! Layers of tower on the message plane, over every transport: they do there what they do anywhere.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use portcullis::layers::Mode;
use portcullis::service::{Inbound, Refused};
use portcullis::wire::{Frame, Refusal};
use portcullis::{Gate, Stack};
use tower::buffer::BufferLayer;
use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::load_shed::LoadShedLayer;
use tower::timeout::TimeoutLayer;
use tower::{BoxError, Service as _, ServiceExt};

use crate::support::layers::{Insist, Log, Raise, Record};
use crate::support::{
    Answer, LEGACY, Probe, Way, each_transport, fixture, http1, message, over, soon, stdio,
};

/// A stack that nothing was added to.
fn stack() -> (Stack, Probe) {
    let (registry, probe) = fixture();
    (
        Stack::new(registry).mode(Mode::Plain).identity("it", "0"),
        probe,
    )
}

#[tokio::test]
async fn two_layers_both_see_every_call_the_first_added_outermost() {
    each_transport(async |way| {
        let log = Log::default();
        let (stack, _probe) = stack();
        let stack = stack
            .layer(Record::new("first", &log))
            .layer(Record::new("second", &log));
        let client = way.open(&stack.build().unwrap()).await;
        log.take();
        for _ in 0..3 {
            client.tool("echo", r#"{"text":"hi"}"#).await;
            let order = ["> first", "> second", "< second", "< first"];
            assert_eq!(log.take(), order.map(|step| format!("{step} tools/call")));
        }
    })
    .await;
}

#[tokio::test]
async fn a_limit_of_one_lets_one_of_eight_calls_in_at_a_time() {
    each_transport(async |way| {
        for limited in [true, false] {
            let (stack, probe) = stack();
            let most = if limited { 1 } else { 100 };
            let gate = stack
                .layer(ConcurrencyLimitLayer::new(most))
                .build()
                .unwrap();
            let client = way.open(&gate).await;
            let calls: Vec<_> = (0..8)
                .map(|_| client.start("nap", r#"{"ms":20}"#))
                .collect();
            for call in calls {
                assert_eq!(call.answer().await.text(), "slept 20 ms");
            }
            assert_eq!(probe.begun.get(), 8);
            // That they overlap without the limit shows that overlaps are seen.
            assert_eq!(probe.peak.get() == 1, limited, "{}", probe.peak.get());
        }
    })
    .await;
}

#[tokio::test]
async fn one_limit_holds_over_all_transports_together() {
    let (stack, probe) = stack();
    let gate = stack.layer(ConcurrencyLimitLayer::new(1)).build().unwrap();
    let mut calls = Vec::new();
    for way in Way::ALL {
        let client = way.open(&gate).await;
        calls.extend((0..3).map(|_| client.start("nap", r#"{"ms":5}"#)));
    }
    for call in calls {
        assert_eq!(call.answer().await.text(), "slept 5 ms");
    }
    assert_eq!((probe.begun.get(), probe.peak.get()), (18, 1));
}

/// Contract: P-93, S-004.
#[tokio::test]
async fn a_limit_of_one_does_not_delay_a_cancellation() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let gate = stack.layer(ConcurrencyLimitLayer::new(1)).build().unwrap();
        let client = way.open(&gate).await;
        let running = client.start("hang", "{}");
        probe.begun.reach(1).await;
        let waiting: Vec<_> = (0..7).map(|_| client.start("nap", r#"{"ms":0}"#)).collect();
        tokio::task::yield_now().await;
        running.cancel().await;
        probe.ended.reach(1).await;
        for call in waiting {
            assert_eq!(call.answer().await.text(), "slept 0 ms");
        }
        assert_eq!(probe.peak.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_can_be_cancelled() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let gate = stack.layer(ConcurrencyLimitLayer::new(1)).build().unwrap();
        let client = way.open(&gate).await;
        let running = client.start("hang", "{}");
        probe.begun.reach(1).await;
        let waiting = client.start("hang", "{}");
        let last = client.start("nap", r#"{"ms":0}"#);
        tokio::task::yield_now().await;
        waiting.cancel().await;
        running.cancel().await;
        assert_eq!(last.answer().await.text(), "slept 0 ms");
        assert!(probe.begun.get() <= 3, "{probe:?}");
        probe.ended.reach(probe.begun.get()).await;
    })
    .await;
}

#[tokio::test]
async fn notifications_wait_for_no_limit() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let gate = stack
            .layer(ConcurrencyLimitLayer::new(1))
            .operation_layer(ConcurrencyLimitLayer::new(1))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        let running = client.start("hang", "{}");
        probe.begun.reach(1).await;
        for (method, params) in [
            ("notifications/initialized", ""),
            ("notifications/cancelled", r#"{"requestId":404}"#),
        ] {
            client.notify(method, params).await.assert_status(202);
        }
        running.cancel().await;
        probe.ended.reach(1).await;
    })
    .await;
}

#[tokio::test]
async fn load_that_is_shed_is_answered_as_overload() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let stack = stack
            .layer(LoadShedLayer::new())
            .layer(ConcurrencyLimitLayer::new(1));
        let client = way.open(&stack.build().unwrap()).await;
        let running = client.start("hang", "{}");
        probe.begun.reach(1).await;
        let answer = client.tool("tally_bump", "{}").await;
        assert_refusal(&answer, 503, "overloaded");
        assert_eq!(probe.tally.get(), 0, "it did not run");
        running.cancel().await;
        probe.ended.reach(1).await;
        // Of a call that is over nothing keeps the place; the cancellation may be a moment behind.
        while client.tool("tally_bump", "{}").await.code() != 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(probe.tally.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_fails_and_other_requests_are_refused() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let layer = TimeoutLayer::new(Duration::from_millis(30));
        let client = way.open(&stack.layer(layer).build().unwrap()).await;
        let answer = client.tool("hang", "{}").await;
        assert_failure(&answer, SLOW);
        probe.ended.reach(1).await;
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");

        let slow = client
            .request("resources/read", r#"{"uri":"note://pad/slow"}"#)
            .await;
        assert_refusal(&slow, 200, "timeout");
        probe.ended.reach(2).await;
    })
    .await;
}

#[tokio::test]
async fn a_rate_behind_a_buffer_makes_calls_wait() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let gate = stack
            .layer(TimeoutLayer::new(Duration::from_millis(300)))
            .layer(BufferLayer::new(8))
            .layer(RateLimitLayer::new(
                // In the legacy era the handshake is a request as well.
                if way.is_modern() { 2 } else { 3 },
                HOUR,
            ))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        for _ in 0..2 {
            assert_eq!(client.tool("tally_bump", "{}").await.text(), "bumped");
        }
        let answer = client.tool("tally_bump", "{}").await;
        assert_failure(&answer, SLOW);
        assert_eq!(probe.tally.get(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_buffer_survives_calls_that_panic_and_calls_that_are_given_up() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let gate = stack
            .layer(BufferLayer::new(2))
            .layer(RateLimitLayer::new(1000, HOUR))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        for round in 1..=3 {
            assert_failure(&client.tool("explode", r#"{"secret":"s"}"#).await, INTERNAL);
            let hanging = client.start("hang", "{}");
            probe.begun.reach(round).await;
            hanging.cancel().await;
            probe.ended.reach(round).await;
            assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
        }
    })
    .await;
}

/// What an application's own layer raises becomes the documented reply as well.
#[tokio::test]
async fn errors_of_other_layers_are_classified_and_never_told() {
    type Raised = fn() -> BoxError;
    let cases: [(Raised, u16, &str); 4] = [
        (|| Refused(Refusal::RateLimited).into(), 429, "rate_limited"),
        (|| Refused(Refusal::Unavailable).into(), 503, "unavailable"),
        (
            || Refused(Refusal::ShuttingDown).into(),
            503,
            "shutting_down",
        ),
        (|| "the password is tok-42".into(), 200, "internal"),
    ];
    each_transport(async |way| {
        for (raised, status, code) in cases {
            let (stack, probe) = stack();
            let gate = stack
                .layer(Raise::on("tally_bump", raised))
                .build()
                .unwrap();
            let client = way.open(&gate).await;
            let answer = client.tool("tally_bump", "{}").await;
            if code == "internal" {
                assert_failure(&answer, INTERNAL);
            } else {
                assert_refusal(&answer, status, code);
            }
            assert!(!answer.raw().contains("tok-42"), "{}", answer.raw());
            assert_eq!(probe.tally.get(), 0);
            assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
        }
    })
    .await;
}

/// On each plane a service that insists on being asked whether it is ready, and whose clones are not.
#[tokio::test]
async fn no_service_is_called_that_was_not_ready() {
    each_transport(async |way| {
        let insist = Insist::default();
        let (registry, _probe) = fixture();
        let gate = Stack::new(registry)
            .mode(Mode::Plain)
            .layer_http(insist.clone())
            .layer_frame(insist.clone())
            .layer(insist.clone())
            .operation_layer(insist.clone())
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        // What belongs to the handshake has arrived when this has.
        client.tool("echo", r#"{"text":"hi"}"#).await;
        let before = insist.calls();
        let calls: Vec<_> = (0..8).map(|_| client.start("nap", r#"{"ms":1}"#)).collect();
        for call in calls {
            assert_eq!(call.answer().await.text(), "slept 1 ms");
        }
        let planes = if way.is_http() { 4 } else { 3 };
        assert_eq!((insist.calls() - before, insist.broken()), (8 * planes, 0));
    })
    .await;
}

#[tokio::test]
async fn one_handle_over_a_limit_of_one_can_be_called_again_and_again() {
    let (stack, probe) = stack();
    let gate = stack
        .layer_http(ConcurrencyLimitLayer::new(1))
        .layer_frame(ConcurrencyLimitLayer::new(1))
        .layer(ConcurrencyLimitLayer::new(1))
        .operation_layer(ConcurrencyLimitLayer::new(1))
        .build()
        .unwrap();
    let mut frames = gate.frames();
    let mut http = gate.http();
    let params = message::tool("tally_bump", "{}");
    for round in 1..=3 {
        let body = Full::<Bytes>::from(message::request("1", "tools/call", &params));
        let request = http::Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .body(body)
            .unwrap();
        let call = async {
            let ready = ServiceExt::<http::Request<Full<Bytes>>>::ready(&mut http).await?;
            ready.call(request).await
        };
        let response = soon("a response", call).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(probe.tally.get(), 2 * round - 1);

        let text = message::modern("1", "tools/call", &params);
        let frame = Frame::parse(text.into_bytes(), 128).unwrap();
        let call = async { frames.ready().await?.call(Inbound::new(frame)).await };
        let outbound = soon("an answer", call).await.unwrap();
        assert_eq!(outbound.hints.status, 200);
        assert_eq!(probe.tally.get(), 2 * round);
    }
}

/// A client that stops reading: its call ends when its time is up, and gives its place to others.
#[tokio::test]
async fn a_client_that_stops_reading_cannot_keep_a_place() {
    over(&[Way::HttpModern, Way::HttpLegacy], async |way| {
        let (gate, probe) = impatient();
        let client = way.open(&gate).await;
        let text = client.text(
            "\"flood\"",
            "tools/call",
            r#"{"name":"flood","arguments":{}}"#,
        );
        let request = match way {
            Way::HttpModern => http1::Request::derived(&text),
            _ => http1::Request::legacy(&text, LEGACY),
        };
        let mut silent = http1::Connection::open(client.address()).await;
        silent.write(&request.encode()).await;
        assert!(silent.head().await.is_stream());
        probe.begun.reach(1).await;
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
        probe.ended.reach(1).await;
    })
    .await;
    over(&Way::STDIO, async |way| {
        let (gate, probe) = impatient();
        let mut silent = stdio::Pipe::open(&gate);
        let flood = r#"{"name":"flood","arguments":{}}"#;
        silent
            .write(&message::modern("1", "tools/call", flood))
            .await;
        probe.begun.reach(1).await;
        let client = way.open(&gate).await;
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
        probe.ended.reach(1).await;
    })
    .await;
}

/// One call at a time, which may take a moment.
fn impatient() -> (Gate, Probe) {
    let (stack, probe) = stack();
    let gate = stack
        .layer(TimeoutLayer::new(Duration::from_millis(200)))
        .layer(ConcurrencyLimitLayer::new(1))
        .build()
        .unwrap();
    (gate, probe)
}

/// A request that was refused before it ran.
fn assert_refusal(answer: &Answer, status: u16, code: &str) {
    answer.assert_status(status);
    let error = &answer.json()["error"];
    assert_eq!(
        (&error["code"], &error["data"]["code"]),
        (&(-32603).into(), &code.into())
    );
    if matches!(answer.status, Some(429 | 503)) && !answer.headers.is_empty() {
        let retry = answer
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
        assert_eq!(
            retry.map(|(_, value)| value.as_str()),
            Some("1"),
            "{answer:?}"
        );
    }
}

/// A call that failed while it ran. What stands above the mode cannot tell whether the tool declares
/// an output schema, so the failure is text.
fn assert_failure(answer: &Answer, message: &str) {
    answer.assert_status(200);
    assert!(answer.is_error(), "{answer:?}");
    assert_eq!(answer.text(), message);
}

const SLOW: &str = "the request took too long";
const INTERNAL: &str = "internal error";
const HOUR: Duration = Duration::from_secs(3600);
