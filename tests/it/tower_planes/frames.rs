//! On the frame plane a layer governs whole messages, over every transport.

use std::time::Duration;

use portcullis::service::Refused;
use portcullis::wire::Refusal;
use tower::buffer::BufferLayer;
use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::load_shed::LoadShedLayer;
use tower::timeout::TimeoutLayer;

use super::{Fail, HOUR, Note, Raised, Steps, announcing, assert_retry, begin, stack};
use crate::support::{Answer, Way, each_transport, message, over, stdio};

/// Contract: M-048.
#[tokio::test]
async fn two_layers_both_see_every_message_the_first_added_outermost() {
    each_transport(async |way| {
        let steps = Steps::default();
        let (stack, _probe) = stack();
        let stack = stack
            .layer_frame(Note::new(["> first", "< first"], &steps))
            .layer_frame(Note::new(["> second", "< second"], &steps));
        let client = way.open(&stack.build().unwrap()).await;
        // What belongs to the handshake has arrived when this has.
        client.request("tools/list", "").await;
        steps.take();
        for _ in 0..3 {
            client.tool("echo", r#"{"text":"hi"}"#).await;
            assert_eq!(steps.take(), ["> first", "> second", "< second", "< first"]);
        }
        // What no layer of the message plane would see.
        client
            .send(r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","method":"x"}"#)
            .await;
        assert_eq!(steps.take().len(), 4);
    })
    .await;
}

#[tokio::test]
async fn a_limit_of_one_lets_one_of_eight_calls_in_and_delays_no_cancellation() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let gate = stack
            .layer_frame(ConcurrencyLimitLayer::new(1))
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

/// A call that turns to a stream keeps its place until the stream has ended.
#[tokio::test]
async fn a_limit_holds_over_the_whole_stream() {
    over(&Way::HTTP, async |way| {
        let (stack, probe) = announcing();
        let gate = stack
            .layer_frame(ConcurrencyLimitLayer::new(1))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        let (mut first, head) = begin(&client, "announce").await;
        assert!(head.is_stream());
        let second = client.start("quick", "{}");
        // Announced, but not yet at its end: so nobody else is let in.
        assert!(first.event().await.contains("notifications/announced"));
        assert_eq!((probe.begun.get(), probe.ended.get()), (1, 0));
        assert!(!second.is_done());
        probe.tally.add();
        assert!(first.event().await.contains("announced"));
        assert_eq!(second.answer().await.text(), "quick");
    })
    .await;
}

#[tokio::test]
async fn load_that_is_shed_is_answered_as_overload() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let stack = stack
            .layer_frame(LoadShedLayer::new())
            .layer_frame(ConcurrencyLimitLayer::new(1));
        let client = way.open(&stack.build().unwrap()).await;
        // A notification of the handshake may have the place for a moment.
        while client.tool("echo", r#"{"text":"hi"}"#).await.code() != 0 {
            tokio::task::yield_now().await;
        }
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

/// No layer here knows what a call is, so one that takes too long is an error and not a failure.
#[tokio::test]
async fn a_message_that_takes_too_long_is_an_error() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let layer = TimeoutLayer::new(Duration::from_millis(30));
        let client = way.open(&stack.layer_frame(layer).build().unwrap()).await;
        let answer = client.tool("hang", "{}").await;
        assert_refusal(way, &answer, 200, "timeout");
        probe.ended.reach(1).await;
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
    })
    .await;
}

/// Contract: M-049.
#[tokio::test]
async fn a_stream_that_takes_too_long_ends_with_the_error() {
    over(&Way::HTTP, async |way| {
        let (stack, probe) = announcing();
        let layer = TimeoutLayer::new(Duration::from_millis(30));
        let client = way.open(&stack.layer_frame(layer).build().unwrap()).await;
        let (mut stream, head) = begin(&client, "announce").await;
        assert!(head.is_stream() && stream.event().await.contains("announced"));
        let last: serde_json::Value = serde_json::from_str(&stream.event().await).unwrap();
        assert_eq!(last["id"], "streamed");
        assert_eq!(last["error"]["data"]["code"], "timeout");
        assert_eq!(stream.chunk().await, None, "the stream has ended");
        probe.ended.reach(1).await;
    })
    .await;
}

#[tokio::test]
async fn a_rate_behind_a_buffer_makes_messages_wait() {
    each_transport(async |way| {
        let (stack, probe) = stack();
        let handshake = match way {
            _ if way.is_modern() => 0,
            // The request of the handshake, and the notification behind it.
            _ => 2,
        };
        let gate = stack
            .layer_frame(TimeoutLayer::new(Duration::from_millis(100)))
            .layer_frame(BufferLayer::new(8))
            .layer_frame(RateLimitLayer::new(handshake + 2, HOUR))
            .build()
            .unwrap();
        let client = way.open(&gate).await;
        for _ in 0..2 {
            assert_eq!(client.tool("tally_bump", "{}").await.text(), "bumped");
        }
        let answer = client.tool("tally_bump", "{}").await;
        assert_refusal(way, &answer, 200, "timeout");
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
        (|| "the password is tok-42".into(), 200, "internal"),
    ];
    each_transport(async |way| {
        let fail = Fail::not_yet();
        let (stack, probe) = stack();
        let client = way
            .open(&stack.layer_frame(fail.clone()).build().unwrap())
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

/// A client that stops reading: its call ends when its time is up, and gives its place to others.
#[tokio::test]
async fn a_client_that_stops_reading_cannot_keep_a_place() {
    let impatient = || {
        let (stack, probe) = stack();
        let gate = stack
            .layer_frame(TimeoutLayer::new(Duration::from_millis(200)))
            .layer_frame(ConcurrencyLimitLayer::new(1))
            .build()
            .unwrap();
        (gate, probe)
    };
    over(&Way::HTTP, async |way| {
        let (gate, probe) = impatient();
        let client = way.open(&gate).await;
        let (_silent, head) = begin(&client, "flood").await;
        assert!(head.is_stream());
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
        probe.ended.reach(1).await;
    })
    .await;
    over(&Way::STDIO, async |way| {
        let (gate, probe) = impatient();
        let mut silent = stdio::Pipe::open(&gate);
        let flood = message::tool("flood", "{}");
        silent
            .write(&message::modern("1", "tools/call", &flood))
            .await;
        probe.begun.reach(1).await;
        let client = way.open(&gate).await;
        assert_eq!(client.tool("echo", r#"{"text":"hi"}"#).await.text(), "hi");
        probe.ended.reach(1).await;
    })
    .await;
}

/// An error with the id of its request; the statuses are those of the message plane.
fn assert_refusal(way: Way, answer: &Answer, status: u16, code: &str) {
    answer.assert_status(status);
    let reply = answer.json();
    assert!(reply["id"].is_number(), "{answer:?}");
    assert_eq!(reply["error"]["code"], -32603);
    assert_eq!(reply["error"]["data"]["code"], code);
    assert_retry(way, answer, matches!(status, 429 | 503));
}
