//! The whole HTTP plane as one nameable service.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use tower::{BoxError, Layer as _, Service};

use crate::layers::ingress::Ingress;
use crate::layers::origin::OriginCheck;
use crate::layers::rescue::Rescue;
use crate::layers::streamable_http::StreamableHttp;
use crate::layers::{Body, Erased, RescueLayer};

/// The standard layers of the HTTP plane.
pub type HttpCore = OriginCheck<Ingress<StreamableHttp<Erased>>>;

/// A stack as a service of HTTP requests, for hyper, axum or any `tower` stack.
///
/// It is cheap to clone, never fails, and takes any body.
///
/// ```
/// use portcullis::{Http, Registry, Stack};
///
/// struct App { mcp: Http }
///
/// let gate = Stack::new(Registry::builder().build()?).build()?;
/// let app = App { mcp: gate.http() };
/// # Ok::<(), portcullis::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Http<S = HttpCore> {
    inner: Rescue<S>,
    path: Option<&'static str>,
    loopback_only: bool,
}

impl<S> Http<S> {
    pub(crate) fn new(inner: S, loopback_only: bool) -> Self {
        Self {
            inner: RescueLayer::new().layer(inner),
            path: None,
            loopback_only,
        }
    }

    /// Serves this path alone; others are not found. Without it every path is served, which is what
    /// a router in front wants.
    #[must_use]
    pub fn at(mut self, path: &'static str) -> Self {
        self.path = Some(path);
        self
    }

    /// Whether clients can reach this by loopback names only.
    pub(crate) fn is_loopback_only(&self) -> bool {
        self.loopback_only
    }
}

impl<S, B> Service<Request<B>> for Http<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error: Into<BoxError>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        <Rescue<S> as Service<Request<B>>>::poll_ready(&mut self.inner, cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let kind = match self.path {
            Some(path) if path != request.uri().path() => Kind::NotFound,
            _ => Kind::Served {
                inner: self.inner.call(request),
            },
        };
        ResponseFuture { kind }
    }
}

pin_project! {
    /// The future of [`Http`].
    pub struct ResponseFuture<F> {
        #[pin]
        kind: Kind<F>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<F> {
        Served { #[pin] inner: crate::layers::rescue::ResponseFuture<F, ()> },
        NotFound,
    }
}

impl<F, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProjected::Served { inner } => inner.poll(cx),
            KindProjected::NotFound => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NOT_FOUND;
                Poll::Ready(Ok(response))
            }
        }
    }
}

impl<S> fmt::Debug for Http<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}
