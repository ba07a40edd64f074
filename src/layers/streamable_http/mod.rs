//! The bridge between HTTP and frames: one endpoint that takes messages by `POST`.
//!
//! A request passes if it is a `POST` (405), and if its `Accept` lets the answer be JSON or a stream
//! of events (406); a missing `Accept` takes anything. What the message itself must be is for the
//! frame plane to say.
//!
//! The answer is `application/json` if the reply comes first, and `text/event-stream` from the first
//! message the call sends before its reply. A client that accepts only one of the two gets that one:
//! with JSON alone the call's messages are left out. A notification is answered with nothing, whatever
//! is accepted.
//!
//! A reply that comes first costs no spawned task, and dropping the future cancels the call. A call
//! that turns to a stream moves into a task of its own, which the response body owns and aborts when
//! it is dropped: so a client that stops reading cannot freeze the call, and the limits and timeouts
//! of the message plane end it in time. What the call still sends to a client that takes nothing for
//! longer than a write may stall does not arrive, and the call is told so.
//!
//! It stands below [`ingress`](super::ingress) and directly above [`Erased`](super::Erased). The
//! inner future has to be `Unpin`, since it may move; that of `Erased` is.
//!
//! # Examples
//!
//! ```
//! use http::{Request, StatusCode};
//! use portcullis::layers::{EraseLayer, Posted, StreamableHttpLayer};
//! use portcullis::service::{Inbound, Limits, Outbound};
//! use portcullis::wire::Frame;
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let service = ServiceBuilder::new()
//!     .layer(StreamableHttpLayer::new(&Limits::default()))
//!     .layer(EraseLayer::new())
//!     .service(service_fn(|_: Inbound| async { Ok::<_, BoxError>(Outbound::accepted()) }));
//!
//! let frame = Frame::parse(br#"{"jsonrpc":"2.0","method":"notifications/x"}"#.to_vec(), 128)?;
//! let passes = Request::post("/mcp").body(Posted::Frame(frame)).unwrap();
//! assert_eq!(service.clone().oneshot(passes).await.unwrap().status(), StatusCode::ACCEPTED);
//! let refused = Request::get("/mcp").body(Posted::Nothing).unwrap();
//! let refused = service.oneshot(refused).await.unwrap();
//! assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
//! # Ok::<(), portcullis::wire::json::SyntaxError>(())
//! # }).unwrap();
//! ```
//!
//! # Cancellation
//!
//! Dropping the future, or the body of a stream, cancels the call.

mod body;
mod future;
mod headers;
mod sse;

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use tower::{Layer, Service};

use crate::service::{CallLink, Declared, Field, Inbound, Limits, Outbound, Principal, millis};
use crate::wire::{Error, Frame};

use super::body::Body;
use super::http_reply::{method_not_allowed, refuse};
use super::ingress::Posted;

pub use self::future::ResponseFuture;
use self::headers::Accepted;
#[cfg(any(test, fuzzing))]
pub(crate) use self::sse::{comment, event};

/// Layer that applies [`StreamableHttp`]. See the [module docs](self).
#[derive(Clone, Debug)]
#[must_use]
pub struct StreamableHttpLayer {
    patience: Patience,
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// Silence before a comment is sent.
    keep_alive: Duration,
    /// A client that takes nothing of its stream.
    stall: Duration,
}

impl StreamableHttpLayer {
    /// Keeps silent streams alive, and gives up clients that do not read, as the limits say.
    pub fn new(limits: &Limits) -> Self {
        Self {
            patience: Patience {
                keep_alive: millis(limits.keep_alive_ms),
                stall: millis(limits.write_stall_ms),
            },
        }
    }
}

impl<S> Layer<S> for StreamableHttpLayer {
    type Service = StreamableHttp<S>;

    fn layer(&self, inner: S) -> StreamableHttp<S> {
        StreamableHttp {
            inner,
            patience: self.patience,
        }
    }
}

/// Middleware that carries frames over HTTP. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct StreamableHttp<S> {
    inner: S,
    patience: Patience,
}

impl<S> Service<Request<Posted>> for StreamableHttp<S>
where
    S: Service<Inbound, Response = Outbound>,
    S::Future: Future<Output = Result<Outbound, S::Error>> + Unpin + Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Posted>) -> Self::Future {
        let (parts, posted) = request.into_parts();
        match (posted, verify(&parts)) {
            (Posted::Frame(frame), Ok(accepted)) => {
                let Patience { keep_alive, stall } = self.patience;
                let inbound = inbound(frame, parts, accepted, stall);
                let link = inbound.link.clone();
                ResponseFuture::call(self.inner.call(inbound), link, accepted, keep_alive)
            }
            (_, Err(response)) => ResponseFuture::refuse(response),
            (Posted::Nothing, Ok(_)) => ResponseFuture::refuse(method_not_allowed("POST")),
        }
    }
}

/// The rules for the head, in the order of the module docs.
#[expect(
    clippy::result_large_err,
    reason = "the refusal is the response, made once and sent as it is"
)]
fn verify(parts: &Parts) -> Result<Accepted, Response<Body>> {
    if parts.method != Method::POST {
        return Err(method_not_allowed("POST"));
    }
    headers::accepted(&parts.headers).ok_or_else(|| {
        let problem = "Accept must list application/json or text/event-stream, best both";
        refuse(StatusCode::NOT_ACCEPTABLE, &Error::invalid_request(problem))
    })
}

/// What the frame plane gets to know of the request.
fn inbound(frame: Frame, parts: Parts, accepted: Accepted, stall: Duration) -> Inbound {
    let link = if accepted.events {
        CallLink::streaming(stall)
    } else {
        CallLink::detached()
    };
    let mut inbound = Inbound::linked(frame, link);
    inbound.principal = parts.extensions.get::<Principal>().cloned();
    let parts = Arc::new(parts);
    inbound.extensions.insert_shared(Arc::clone(&parts));
    inbound.declared = Some(parts);
    inbound
}

impl Declared for Parts {
    fn field(&self, name: &str) -> Field<'_> {
        // There are few headers: to walk over them is quicker than to hash the name.
        let mut field = Field::Absent;
        for (other, value) in &self.headers {
            if other.as_str() == name {
                field = match field {
                    Field::Absent => Field::One(value.as_bytes()),
                    _ => return Field::Several,
                };
            }
        }
        field
    }
}

#[cfg(test)]
mod tests;
