//! Bounded ingress: reads a message from a request, and no more than that.
//!
//! A `POST` passes if
//!
//! 1. the protocol's own headers together fit their budget (431);
//! 2. its body is `application/json`, and not encoded (415);
//! 3. the body is no longer than one message may be, which is checked against `Content-Length` before
//!    anything is read and against the body while it is read (413);
//! 4. the body arrives in time (408) and as a whole (400);
//! 5. all messages that are read or held at once, with the index of their values, fit their budget (503):
//!    what a message takes up is reserved before it is read, and given back when it is let go;
//! 6. it is JSON, no deeper than allowed (400 and -32700).
//!
//! What does not pass is answered with the status named and a JSON-RPC error without id, since no
//! request was read. Requests of other methods pass without a body: what they mean is for the layer
//! below to say.
//!
//! The layer below receives [`Posted`] as the body, so a stack in the wrong order does not compile.
//! It stands below whatever must not see bodies (origin checks, authentication) and directly above
//! the HTTP bridge.
//!
//! It reads the body before it asks the layer below for readiness: a client that never finishes its
//! body holds no permit of a limit.
//!
//! # Examples
//!
//! ```
//! use http::{Request, StatusCode};
//! use http_body_util::Full;
//! use portcullis::layers::{Body, IngressLayer, Posted};
//! use portcullis::service::Limits;
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let service = ServiceBuilder::new()
//!     .layer(IngressLayer::new(&Limits::default().message_bytes(100)))
//!     .service(service_fn(|request: Request<Posted>| async move {
//!         assert!(matches!(request.body(), Posted::Frame(_)));
//!         Ok::<_, BoxError>(http::Response::new(Body::empty()))
//!     }));
//! let post = |body: String| {
//!     Request::post("/mcp")
//!         .header("content-type", "application/json")
//!         .body(Full::<bytes::Bytes>::from(body))
//!         .unwrap()
//! };
//!
//! let passes = service.clone().oneshot(post("{}".into())).await.unwrap();
//! assert_eq!(passes.status(), StatusCode::OK);
//! let refused = service.oneshot(post(" ".repeat(101))).await.unwrap();
//! assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
//! # });
//! ```
//!
//! # Cancellation
//!
//! Dropping the future stops reading and drops what was read, or drops the inner future.

mod future;
mod posted;
mod read;
mod verify;

use std::task::{Context, Poll};
use std::time::Duration;

use http::{Method, Request, Response};
use tower::{Layer, Service};

use crate::service::{Limits, millis};
use crate::wire::Budget;

use super::body::Body;

pub use self::future::ResponseFuture;
pub use self::posted::Posted;
use self::read::ReadBody;

/// Layer that applies [`Ingress`]. See the [module docs](self).
#[derive(Clone, Debug)]
#[must_use]
pub struct IngressLayer {
    bounds: Bounds,
    budget: Budget,
}

/// What a request may be.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    message: usize,
    depth: u32,
    protocol_headers: usize,
    body_read: Duration,
}

impl IngressLayer {
    /// Reads within these limits. What is read through clones of the layer shares one budget.
    pub fn new(limits: &Limits) -> Self {
        Self {
            budget: limits.budget(),
            bounds: Bounds {
                message: limits.message(),
                depth: limits.depth(),
                protocol_headers: crate::service::count(limits.protocol_header_bytes),
                body_read: millis(limits.body_read_ms),
            },
        }
    }

    /// Shares a budget with others.
    pub(crate) fn within(mut self, budget: &Budget) -> Self {
        self.budget = budget.clone();
        self
    }
}

impl<S> Layer<S> for IngressLayer {
    type Service = Ingress<S>;

    fn layer(&self, inner: S) -> Ingress<S> {
        Ingress {
            inner,
            bounds: self.bounds,
            budget: self.budget.clone(),
        }
    }
}

/// Middleware that reads messages. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Ingress<S> {
    inner: S,
    bounds: Bounds,
    budget: Budget,
}

impl<S, B> Service<Request<B>> for Ingress<S>
where
    S: Service<Request<Posted>, Response = Response<Body>> + Clone,
    B: http_body::Body,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = ResponseFuture<S, B>;

    /// Always ready: readiness of the inner service is asked for when the body has been read.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (parts, body) = request.into_parts();
        if parts.method != Method::POST {
            let request = Request::from_parts(parts, Posted::Nothing);
            return ResponseFuture::forward(self.inner.clone(), request);
        }
        match self.bounds.verify(&parts.headers) {
            Ok(length) => {
                let Bounds {
                    message, body_read, ..
                } = self.bounds;
                let read = ReadBody::new(body, length, message, body_read, &self.budget);
                ResponseFuture::read(self.inner.clone(), parts, read, self.bounds.depth)
            }
            Err(rejection) => ResponseFuture::refuse(&rejection),
        }
    }
}

#[cfg(test)]
mod tests;
