//! What a layer of the message plane sees, and the ways in which it can answer: with an error, with
//! the result of somebody else, and with an error of its own, which becomes a reply above it.

use std::sync::{Arc, Mutex};

use http::Request;
use portcullis::layers::{Next, from_fn};
use portcullis::service::{Envelope, Principal, Refused, Reply};
use portcullis::wire::{Error, Method, Refusal};
use tower::BoxError;
use tower::util::MapRequestLayer;

use super::{announcing, begin, stack};
use crate::support::{Answer, Way, each_transport, over};

/// `notifications/initialized` and `notifications/cancelled` concern the transport, and end above.
///
/// Contract: M-048.
#[tokio::test]
async fn a_layer_sees_the_handshake_requests_and_notifications_and_who_sent_them() {
    each_transport(async |way| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let watch = from_fn(move |call: Envelope, next: Next| {
            let caller = call.caller().map(|caller| caller.subject().to_owned());
            log.lock()
                .unwrap()
                .push((call.method().to_string(), caller));
            next.run(call)
        });
        let identify = MapRequestLayer::new(|mut request: Request<_>| {
            request.extensions_mut().insert(Principal::new("ada"));
            request
        });
        let (stack, _probe) = stack();
        let gate = stack.layer_http(identify).layer(watch).build().unwrap();
        let client = way.open(&gate).await;
        client.request("tools/list", "").await;
        client.notify("notifications/roots/list_changed", "").await;
        // An answer to this says that the notification has arrived, where they run side by side.
        client.request("no/such/method", "").await;
        let expected = [
            "tools/list",
            "notifications/roots/list_changed",
            "no/such/method",
        ];
        let handshake = (!way.is_modern()).then_some("initialize");
        let caller = way.is_http().then(|| "ada".to_owned());
        let expected: Vec<_> = handshake
            .into_iter()
            .chain(expected)
            .map(|method| (method.to_owned(), caller.clone()))
            .collect();
        assert_eq!(*seen.lock().unwrap(), expected);
    })
    .await;
}

/// Nothing inside is asked, and the answer is that of the layer, to its status and headers.
///
/// Contract: M-048, M-049.
#[tokio::test]
async fn a_layer_may_answer_in_the_place_of_what_is_inside() {
    async fn members_only(call: Envelope, next: Next) -> Result<Reply, BoxError> {
        if *call.method() != Method::TOOLS_CALL {
            return next.run(call).await;
        }
        let refused = Reply::from(Error::invalid_request("members only"));
        Ok(refused
            .status(403)
            .header("www-authenticate", r#"Bearer scope="gate""#))
    }

    each_transport(async |way| {
        let (stack, probe) = stack();
        let client = way
            .open(&stack.layer(from_fn(members_only)).build().unwrap())
            .await;
        let refused = client.tool("tally_bump", "{}").await;
        refused.assert_status(403);
        assert_eq!(refused.code(), -32600);
        assert_eq!(probe.tally.get(), 0);
        if way.is_http() {
            let named = |name: &str| {
                let mut found = refused
                    .headers
                    .iter()
                    .filter(|(it, _)| it.eq_ignore_ascii_case(name));
                found.next().map(|(_, value)| value.clone())
            };
            assert_eq!(
                named("www-authenticate").as_deref(),
                Some(r#"Bearer scope="gate""#)
            );
            assert_eq!(named("content-type").as_deref(), Some("application/json"));
        }
        assert_eq!(client.request("tools/list", "").await.code(), 0);
    })
    .await;
}

/// Contract: M-049.
#[tokio::test]
async fn a_failure_is_a_result_and_an_error_of_a_layer_is_classified() {
    async fn moody(call: Envelope, next: Next) -> Result<Reply, BoxError> {
        let named = call
            .raw_params()
            .and_then(|params| params.node().get("name")?.as_str());
        match named.as_deref() {
            Some("tally_bump") => Err(Refused(Refusal::Unavailable).into()),
            Some("echo") => Err("the password is tok-42".into()),
            _ => next.run(call).await,
        }
    }

    each_transport(async |way| {
        let (stack, probe) = stack();
        let client = way
            .open(&stack.layer(from_fn(moody)).build().unwrap())
            .await;
        let declined = client.tool("decline", "{}").await;
        declined.assert_status(200);
        assert!(declined.is_error() && declined.text() == "the shop is closed");

        let refused = client.tool("tally_bump", "{}").await;
        refused.assert_status(503);
        assert_eq!(refused.json()["error"]["data"]["code"], "unavailable");
        assert_eq!(probe.tally.get(), 0);

        let broken = client.tool("echo", r#"{"text":"hi"}"#).await;
        broken.assert_status(200);
        assert_internal(&broken);
    })
    .await;
}

/// The head of the stream is gone, so the error is its last event.
///
/// Contract: M-049.
#[tokio::test]
async fn an_error_after_the_turn_to_a_stream_is_its_last_event() {
    async fn spoils(call: Envelope, next: Next) -> Result<Reply, BoxError> {
        let tool = *call.method() == Method::TOOLS_CALL;
        let reply = next.run(call).await?;
        if tool {
            Err("the password is tok-42".into())
        } else {
            Ok(reply)
        }
    }

    over(&Way::HTTP, async |way| {
        let (stack, probe) = announcing();
        let client = way
            .open(&stack.layer(from_fn(spoils)).build().unwrap())
            .await;
        let (mut stream, head) = begin(&client, "announce").await;
        assert_eq!((head.status, head.is_stream()), (200, true));
        assert!(stream.event().await.contains("notifications/announced"));
        probe.tally.add();
        let last = stream.event().await;
        let reply: serde_json::Value = serde_json::from_str(&last).unwrap();
        assert_eq!(
            (&reply["id"], &reply["result"]["isError"]),
            (&"streamed".into(), &true.into())
        );
        assert!(
            last.contains("internal error") && !last.contains("tok-42"),
            "{last}"
        );
        assert_eq!(stream.chunk().await, None);
    })
    .await;
}

fn assert_internal(answer: &Answer) {
    assert!(answer.is_error(), "{answer:?}");
    assert_eq!(answer.text(), "internal error");
    assert!(!answer.raw().contains("tok-42"));
}
