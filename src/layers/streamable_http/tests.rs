use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Mutex;

use http_body_util::BodyExt as _;
use tower::{ServiceExt as _, service_fn};

use super::*;
use crate::service::{Cancellation, Payload, Peer};
use crate::wire::json::RawJson;

type Call = Pin<Box<dyn Future<Output = Result<Outbound, Infallible>> + Send>>;

fn reply(text: &str) -> Outbound {
    Outbound::new(Payload::from(text.as_bytes().to_vec()))
}

fn post(accept: &str) -> Request<Posted> {
    let frame = Frame::parse(br#"{"jsonrpc":"2.0","id":1,"method":"x"}"#.to_vec(), 128).unwrap();
    Request::post("/")
        .header("accept", accept)
        .body(Posted::Frame(frame))
        .unwrap()
}

async fn send(
    accept: &str,
    call: impl Fn(Peer, Cancellation) -> Call + Clone + Send + 'static,
) -> Response<Body> {
    let inner = service_fn(move |inbound: Inbound| {
        call(
            Peer::new(inbound.link.outlet()),
            inbound.link.cancellation(),
        )
    });
    let layer = StreamableHttpLayer::new(&Limits::default());
    layer.layer(inner).oneshot(post(accept)).await.unwrap()
}

async fn text(response: Response<Body>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn content_type(response: &Response<Body>) -> &str {
    response.headers()["content-type"].to_str().unwrap()
}

async fn notify(peer: &Peer, n: u32) {
    let params = RawJson::parse(n.to_string()).unwrap();
    let _ = peer.notify("n", &params).await;
}

fn event(n: u32) -> String {
    format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{n}}}\n\n")
}

const BOTH: &str = "application/json, text/event-stream";

/// Contract: P-60, M-087.
#[tokio::test]
async fn a_reply_that_comes_first_is_json() {
    let response = send(BOTH, |_, _| Box::pin(async { Ok(reply("{}")) })).await;
    assert_eq!(content_type(&response), "application/json");
    assert_eq!(text(response).await, "{}");
}

/// Contract: P-61, P-63, P-64, M-088.
#[tokio::test]
async fn messages_make_a_stream_that_ends_with_the_reply() {
    for yields in [false, true] {
        let response = send(BOTH, move |peer, _| {
            Box::pin(async move {
                for n in 0..40 {
                    // More than the queue holds, so the reader has to take turns.
                    if yields || n >= 16 {
                        tokio::task::yield_now().await;
                    }
                    notify(&peer, n).await;
                }
                Ok(reply("{}"))
            })
        })
        .await;
        assert_eq!(content_type(&response), "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        let expected: String = (0..40)
            .map(event)
            .chain(["data: {}\n\n".to_owned()])
            .collect();
        assert_eq!(text(response).await, expected);
    }
}

#[tokio::test]
async fn messages_sent_in_the_last_poll_are_not_lost() {
    let response = send(BOTH, |peer, _| {
        Box::pin(async move {
            notify(&peer, 1).await;
            Ok(reply("{}"))
        })
    })
    .await;
    assert_eq!(text(response).await, format!("{}data: {{}}\n\n", event(1)));
}

/// Contract: case H01.
#[tokio::test]
async fn clients_get_only_what_they_accept() {
    let call = |peer: Peer, _: Cancellation| -> Call {
        Box::pin(async move {
            for n in 0..40 {
                notify(&peer, n).await;
                tokio::task::yield_now().await;
            }
            Ok(reply("{}"))
        })
    };
    let json = send("application/json", call).await;
    assert_eq!(content_type(&json), "application/json");
    assert_eq!(text(json).await, "{}");
    let quiet = send("text/event-stream", |_, _| {
        Box::pin(async { Ok(reply("{}")) })
    })
    .await;
    assert_eq!(content_type(&quiet), "text/event-stream");
    assert_eq!(text(quiet).await, "data: {}\n\n");
    let neither = send("text/html", call).await;
    assert_eq!(neither.status(), StatusCode::NOT_ACCEPTABLE);
}

/// Contract: P-58, case H23.
#[tokio::test]
async fn nothing_is_no_stream() {
    for accept in [BOTH, "application/json", "text/event-stream"] {
        let response = send(accept, |_, _| Box::pin(async { Ok(Outbound::accepted()) })).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        assert!(response.headers().is_empty(), "{accept}");
        assert_eq!(text(response).await, "");
    }
}

/// Contract: S-004, P-66.
#[tokio::test]
async fn going_away_cancels_the_call_before_and_after_the_turn_to_a_stream() {
    for streams in [false, true] {
        let seen: Arc<Mutex<Option<Cancellation>>> = Arc::default();
        let (sender, dropped) = tokio::sync::oneshot::channel::<()>();
        let sender = Arc::new(Mutex::new(Some(sender)));
        let kept = Arc::clone(&seen);
        let sending = send(BOTH, move |peer, cancellation| {
            *kept.lock().unwrap() = Some(cancellation);
            let held = sender.lock().unwrap().take();
            Box::pin(async move {
                let _held = held;
                if streams {
                    notify(&peer, 1).await;
                }
                std::future::pending().await
            })
        });
        if streams {
            drop(sending.await);
        } else {
            let mut sending = Box::pin(sending);
            let mut cx = Context::from_waker(std::task::Waker::noop());
            assert!(sending.as_mut().poll(&mut cx).is_pending());
            drop(sending);
        }
        assert!(dropped.await.is_err(), "what the call held was let go");
        let seen = seen.lock().unwrap().take().unwrap();
        assert!(seen.is_cancelled());
    }
}

/// A client that does not read must not keep the call from ending.
#[tokio::test(start_paused = true)]
async fn a_call_goes_on_while_nobody_reads() {
    let (sender, ended) = tokio::sync::oneshot::channel::<()>();
    let sender = Arc::new(Mutex::new(Some(sender)));
    let response = send(BOTH, move |peer, _| {
        let sender = sender.lock().unwrap().take();
        Box::pin(async move {
            notify(&peer, 1).await;
            tokio::time::sleep(Duration::from_secs(5)).await;
            drop(sender);
            Ok(reply("{}"))
        })
    })
    .await;
    assert!(ended.await.is_err());
    assert!(text(response).await.ends_with("data: {}\n\n"));
}

/// Contract: P-65.
#[tokio::test(start_paused = true)]
async fn silence_is_kept_alive() {
    let response = send(BOTH, |peer, _| {
        Box::pin(async move {
            notify(&peer, 1).await;
            tokio::time::sleep(Duration::from_secs(50)).await;
            Ok(reply("{}"))
        })
    })
    .await;
    assert_eq!(
        text(response).await,
        format!("{}:\n\n:\n\ndata: {{}}\n\n", event(1))
    );
}

/// Contract: P-53, P-84, M-086, M-095.
#[tokio::test]
async fn other_methods_are_not_allowed() {
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::OPTIONS] {
        let layer = StreamableHttpLayer::new(&Limits::default());
        let inner = service_fn(|_: Inbound| -> Call { panic!("reached the inner service") });
        let request = Request::builder()
            .method(method)
            .uri("/")
            .body(Posted::Nothing)
            .unwrap();
        let response = layer.layer(inner).oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "POST");
    }
}
