use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt as _, Full, StreamBody};
use tokio::sync::mpsc;
use tower::{ServiceExt as _, service_fn};

use super::*;

fn limits() -> Limits {
    Limits::default()
}

/// Sends a request through the layer: the status, and how often the inner service was called.
async fn send<B>(limits: &Limits, request: Request<B>) -> (StatusCode, usize)
where
    B: http_body::Body,
{
    let calls = Arc::new(AtomicUsize::new(0));
    let inner = {
        let calls = Arc::clone(&calls);
        service_fn(move |_: Request<Posted>| {
            calls.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Ok::<_, tower::BoxError>(Response::new(Body::empty())))
        })
    };
    let response = IngressLayer::new(limits)
        .layer(inner)
        .oneshot(request)
        .await
        .unwrap();
    (response.status(), calls.load(Ordering::Relaxed))
}

fn post(body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let request = Request::post("/").header("content-type", "application/json");
    request.body(Full::new(body.into())).unwrap()
}

fn with(name: &'static str, value: &str) -> Request<Full<Bytes>> {
    let mut request = post("{}");
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

/// Contract: S-091.
#[tokio::test]
async fn one_message_is_bounded_on_both_sides_whatever_length_is_told() {
    let most = 2 * 1024 * 1024;
    let body = |length: usize| format!("{}{}", " ".repeat(length - 2), "{}");
    assert_eq!(send(&limits(), post(body(most))).await, (StatusCode::OK, 1));
    assert_eq!(
        send(&limits(), post(body(most + 1))).await,
        (StatusCode::PAYLOAD_TOO_LARGE, 0)
    );
    for (length, status) in [
        (most, StatusCode::OK),
        (most + 1, StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let text = Bytes::from(body(length));
        let chunks = (0..length)
            .step_by(100_000)
            .map(|at| text.slice(at..length.min(at + 100_000)));
        let frames = chunks.map(|chunk| Ok::<_, tower::BoxError>(http_body::Frame::data(chunk)));
        let streamed = StreamBody::new(tokio_stream(frames.collect()));
        let (parts, _) = post("").into_parts();
        assert_eq!(
            send(&limits(), Request::from_parts(parts, streamed))
                .await
                .0,
            status
        );
    }
    let promised = with("content-length", &(most + 1).to_string());
    assert_eq!(
        send(&limits(), promised).await,
        (StatusCode::PAYLOAD_TOO_LARGE, 0)
    );
}

/// Contract: S-097, P-88.
#[tokio::test]
async fn protocol_headers_share_a_budget() {
    let own = "content-type".len() + "application/json".len();
    let room = 8 * 1024 - own - "mcp-name".len();
    let named = |length: usize| with("mcp-name", &"x".repeat(length));
    assert_eq!(send(&limits(), named(room)).await.0, StatusCode::OK);
    let (status, calls) = send(&limits(), named(room + 1)).await;
    assert_eq!(
        (status, calls),
        (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, 0)
    );
    assert_eq!(
        send(&limits(), with("cookie", &"x".repeat(10_000))).await.0,
        StatusCode::OK
    );
}

#[tokio::test]
async fn media_types_are_compared_not_searched() {
    for good in [
        "application/json",
        "Application/JSON; charset=UTF-8",
        "application/json;charset=\"utf-8\"",
        "application/json; x=y",
    ] {
        assert_eq!(
            send(&limits(), with("content-type", good)).await.0,
            StatusCode::OK,
            "{good}"
        );
    }
    for bad in [
        "text/plain",
        "application/jsonp",
        "text/application/json",
        "application/json; charset=latin1",
        "",
    ] {
        let (status, calls) = send(&limits(), with("content-type", bad)).await;
        assert_eq!(
            (status, calls),
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, 0),
            "{bad}"
        );
    }
    let mut twice = post("{}");
    twice
        .headers_mut()
        .append("content-type", "text/plain".parse().unwrap());
    assert_eq!(
        send(&limits(), twice).await.0,
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    assert_eq!(
        send(&limits(), with("content-encoding", "gzip")).await.0,
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    assert_eq!(
        send(&limits(), with("content-encoding", "identity"))
            .await
            .0,
        StatusCode::OK
    );
}

#[tokio::test]
async fn what_is_not_json_is_refused_without_an_id() {
    for bad in ["", "{", "{} {}", "[1,]"] {
        let inner = service_fn(|_: Request<Posted>| async {
            Err::<Response<Body>, _>(tower::BoxError::from("reached the inner service"))
        });
        let response = IngressLayer::new(&limits())
            .layer(inner)
            .oneshot(post(bad))
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(
            text.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32700,"#),
            "{text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_holds_nothing_and_times_out() {
    let (sender, receiver) = mpsc::channel::<Result<http_body::Frame<Bytes>, tower::BoxError>>(1);
    let hanging = StreamBody::new(receiver_stream(receiver));
    let (parts, _) = post("").into_parts();
    // The inner service has a single permit.
    let inner = service_fn(|_: Request<Posted>| async {
        Ok::<_, tower::BoxError>(Response::new(Body::empty()))
    });
    let limited = tower::limit::ConcurrencyLimit::new(inner, 1);
    let service = IngressLayer::new(&limits()).layer(limited);
    let mut slow = pin!(service.clone().oneshot(Request::from_parts(parts, hanging)));
    let quick = tokio::select! {
        biased;
        _ = &mut slow => panic!("the body never ends"),
        quick = service.oneshot(post("{}")) => quick.unwrap(),
    };
    assert_eq!(quick.status(), StatusCode::OK);
    let slow = slow.await.unwrap();
    assert_eq!(slow.status(), StatusCode::REQUEST_TIMEOUT);
    drop(sender);
}

#[tokio::test]
async fn a_broken_body_is_refused() {
    let frames = vec![
        Ok(http_body::Frame::data(Bytes::from_static(b"{"))),
        Err(tower::BoxError::from("reset")),
    ];
    let (parts, _) = post("").into_parts();
    let request = Request::from_parts(parts, StreamBody::new(tokio_stream(frames)));
    assert_eq!(send(&limits(), request).await, (StatusCode::BAD_REQUEST, 0));
}

#[tokio::test]
async fn other_methods_pass_without_a_body() {
    let request = Request::get("/")
        .body(Full::new(Bytes::from_static(b"ignored")))
        .unwrap();
    assert_eq!(send(&limits(), request).await, (StatusCode::OK, 1));
}

/// A layer that waits for a body is ready before it has one, and asks what is inside only then, on
/// account of that request alone.
#[tokio::test]
async fn readiness_is_asked_for_when_the_body_is_there() {
    let (inner, mut handle) = tower_test::mock::pair::<Request<Posted>, Response<Body>>();
    handle.allow(0);
    let mut service = tower_test::mock::Spawn::new(IngressLayer::new(&limits()).layer(inner));
    assert!(Service::<Request<Full<Bytes>>>::poll_ready(service.get_mut(), &mut noop()).is_ready());
    let mut clone = service.clone();
    assert!(Service::<Request<Full<Bytes>>>::poll_ready(clone.get_mut(), &mut noop()).is_ready());
    let (mut first, mut second) = (pin!(service.call(post("{}"))), pin!(clone.call(post("{}"))));
    assert!(first.as_mut().poll(&mut noop()).is_pending());
    assert!(handle.poll_request().is_pending(), "it is not ready");

    handle.allow(1);
    assert!(first.as_mut().poll(&mut noop()).is_pending());
    assert!(second.as_mut().poll(&mut noop()).is_pending());
    let (request, respond) = handle.next_request().await.unwrap();
    assert!(matches!(request.body(), Posted::Frame(_)));
    assert!(handle.poll_request().is_pending(), "there was one place");
    respond.send_response(Response::new(Body::empty()));
    assert_eq!(first.await.unwrap().status(), StatusCode::OK);

    // A request that is refused asks for nothing.
    let refused = service.call(with("content-type", "text/plain"));
    assert_eq!(
        refused.await.unwrap().status(),
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
}

fn noop() -> Context<'static> {
    Context::from_waker(std::task::Waker::noop())
}

type Chunk = Result<http_body::Frame<Bytes>, tower::BoxError>;

fn tokio_stream(frames: Vec<Chunk>) -> impl futures_core::Stream<Item = Chunk> + Unpin {
    let (sender, receiver) = mpsc::channel(frames.len().max(1));
    for frame in frames {
        sender.try_send(frame).unwrap();
    }
    receiver_stream(receiver)
}

fn receiver_stream(
    mut receiver: mpsc::Receiver<Chunk>,
) -> impl futures_core::Stream<Item = Chunk> + Unpin {
    futures_util::stream::poll_fn(move |cx| receiver.poll_recv(cx))
}
