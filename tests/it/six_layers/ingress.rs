//! Bounded ingress: the only layer that cannot simply be left out, since what stands below takes
//! messages that were read. In its place stands one that reads whatever comes.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use portcullis::layers::{Body, Posted};
use portcullis::wire::Frame;
use tower::{BoxError, Layer, Service, ServiceExt as _};

use super::{Wire, call, standard};
use crate::support::http1;

const MOST: usize = 2 * 1024 * 1024;

/// Reads the whole body, whatever it is called and however long it is.
#[derive(Clone)]
pub(super) struct ReadAll<S = ()> {
    inner: S,
}

impl ReadAll {
    pub(super) fn layer() -> Self {
        Self { inner: () }
    }
}

impl<S> Layer<S> for ReadAll {
    type Service = ReadAll<S>;

    fn layer(&self, inner: S) -> ReadAll<S> {
        ReadAll { inner }
    }
}

impl<S> Service<Request<Incoming>> for ReadAll<S>
where
    S: Service<Request<Posted>, Response = Response<Body>, Error: Into<BoxError>, Future: Send>
        + Clone
        + Send
        + 'static,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let inner = self.inner.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let posted = Posted::Frame(Frame::parse(body.to_vec(), 1024)?);
            let request = Request::from_parts(parts, posted);
            inner.oneshot(request).await.map_err(Into::into)
        })
    }
}

/// A healthy call in so many bytes.
fn long(length: usize) -> String {
    let call = call("open_gate", "{}");
    format!("{call}{}", " ".repeat(length - call.len()))
}

/// Contract: S-091, S-097.
#[tokio::test]
async fn without_it_a_message_of_any_length_and_type_is_carried_out() {
    let (parts, guarded) = standard();
    let mut within = Wire::open(parts.http()).await;
    let (parts, open) = standard();
    let mut without = Wire::open(parts.ingress(ReadAll::layer()).http()).await;
    let refused = [
        (http1::Request::derived(&long(MOST + 1)), 413),
        (
            http1::Request::derived(&long(500)).with("Content-Type", "text/plain"),
            415,
        ),
        (
            http1::Request::derived(&long(500)).header("Mcp-Param-X", &"x".repeat(9000)),
            431,
        ),
    ];
    for (request, status) in refused {
        let mut connection = http1::Connection::open(within.address()).await;
        connection.write_until_refused(&request.encode()).await;
        assert_eq!(connection.response().await.outcome(), (status, -32600));
        assert_eq!(guarded.tally.get(), 0, "nothing was carried out");
        let carried_out = open.tally.get();
        assert_eq!(without.connection.send(&request).await.outcome(), (200, 0));
        assert_eq!(open.tally.get(), carried_out + 1);
    }
    assert_eq!(within.send(&long(MOST)).await.outcome(), (200, 0));
}

#[tokio::test]
async fn another_can_stand_in_its_place() {
    /// Takes messages of at most a thousand bytes, and says so in its own way.
    #[derive(Clone)]
    struct Brief;

    impl<S> Layer<S> for Brief {
        type Service = Briefly<S>;

        fn layer(&self, inner: S) -> Briefly<S> {
            Briefly(ReadAll { inner })
        }
    }

    #[derive(Clone)]
    struct Briefly<S>(ReadAll<S>);

    impl<S> Service<Request<Incoming>> for Briefly<S>
    where
        ReadAll<S>: Service<
                Request<Incoming>,
                Response = Response<Body>,
                Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>,
            >,
    {
        type Response = Response<Body>;
        type Error = BoxError;
        type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<Incoming>) -> Self::Future {
            let length = http_body::Body::size_hint(request.body()).exact();
            if length.is_some_and(|length| length <= 1000) {
                return self.0.call(request);
            }
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::IM_A_TEAPOT;
            Box::pin(async { Ok(response) })
        }
    }

    let (parts, probe) = standard();
    let mut wire = Wire::open(parts.ingress(Brief).http()).await;
    assert_eq!(wire.send(&long(1001)).await.status(), 418);
    assert_eq!(probe.tally.get(), 0);
    assert_eq!(wire.send(&long(1000)).await.outcome(), (200, 0));
    assert_eq!(probe.tally.get(), 1);
}
