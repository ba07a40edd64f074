//! Origin checks: without them any page in a browser on the same machine can call a local server.

use http::{Request, Response, StatusCode};
use portcullis::layers::Body;
use tower::layer::layer_fn;
use tower::layer::util::Identity;
use tower::{Service, ServiceExt as _, service_fn};

use super::{Wire, call, standard};
use crate::support::http1;

/// Contract: S-005, S-006, P-54, P-55.
#[tokio::test]
async fn without_them_every_page_and_every_name_reaches_the_server() {
    let foreign = [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Host", "evil.example"),
        ("Host", "localhost.evil.example:80"),
    ]
    .map(|(name, value)| http1::Request::derived(&call("open_gate", "{}")).with(name, value));

    let (parts, probe) = standard();
    let mut within = Wire::open(parts.http()).await;
    for request in &foreign {
        assert_eq!(
            within.connection.send(request).await.outcome(),
            (403, -32600)
        );
    }
    assert_eq!(probe.tally.get(), 0);

    let (parts, probe) = standard();
    let mut without = Wire::open(parts.origin(Identity::new()).http()).await;
    for (called, request) in (1..).zip(&foreign) {
        assert_eq!(without.connection.send(request).await.outcome(), (200, 0));
        assert_eq!(probe.tally.get(), called);
    }
}

/// A layer can be a closure: this one lets one page in, by whatever name it found the server.
#[tokio::test]
async fn another_can_stand_in_its_place() {
    let (parts, probe) = standard();
    let one_page = layer_fn(one_page_only);
    let mut wire = Wire::open(parts.origin(one_page).http()).await;
    let open = http1::Request::derived(&call("open_gate", "{}")).with("Host", "any.example");
    for (origin, status) in [
        (None, 401),
        (Some("http://localhost"), 401),
        (Some("https://app.example"), 200),
    ] {
        let request = match origin {
            Some(origin) => open.clone().header("Origin", origin),
            None => open.clone(),
        };
        assert_eq!(
            wire.connection.send(&request).await.status(),
            status,
            "{origin:?}"
        );
    }
    assert_eq!(probe.tally.get(), 1);
}

fn one_page_only<S, B>(
    inner: S,
) -> impl Service<Request<B>, Response = Response<Body>, Error = S::Error, Future: Send>
+ Clone
+ Send
+ Sync
+ 'static
where
    S: Service<Request<B>, Response = Response<Body>, Future: Send, Error: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    B: Send + 'static,
{
    service_fn(move |request: Request<B>| {
        let inner = inner.clone();
        async move {
            let origin = request.headers().get("origin");
            if origin.is_some_and(|origin| origin == "https://app.example") {
                return inner.oneshot(request).await;
            }
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::UNAUTHORIZED;
            Ok(response)
        }
    })
}
