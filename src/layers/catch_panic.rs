//! Turns a panic in a call into an error of that call.
//!
//! Whatever panics, in the synchronous part of a service or while its future is polled, the caller
//! gets an error ([`Panicked`], which [`rescue`](super::rescue) answers as an internal fault), and
//! every other call goes on. The panic's message is logged and never sent.
//!
//! The standard stack has it three times: directly over the core, so that a panicking handler cannot
//! reach machinery that would not survive it, such as the worker of a `tower` buffer; under the rescue
//! of the message plane, for the layers in between; and around the frame plane.
//!
//! With `panic = "abort"` there is nothing to catch.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::CatchPanicLayer;
//! use portcullis::service::{Envelope, Reply};
//! use portcullis::wire::{Method, ProtocolVersion};
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let service = ServiceBuilder::new()
//!     .layer(CatchPanicLayer::new())
//!     .service(service_fn(|call: Envelope| async move {
//!         assert_eq!(call.method(), &Method::PING, "only pings here");
//!         Ok::<_, BoxError>(Reply::accepted())
//!     }));
//! let call = |method| Envelope::new(method, ProtocolVersion::July2026);
//! assert!(service.clone().oneshot(call(Method::PING)).await.is_ok());
//! assert!(service.oneshot(call(Method::TOOLS_LIST)).await.is_err());
//! # });
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the inner one. A panic in that drop is not caught.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tower::{BoxError, Layer, Service};

use super::macros::opaque_debug;

/// Something panicked while it served a call.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the call panicked")]
#[non_exhaustive]
pub struct Panicked;

/// Layer that applies [`CatchPanic`]. See the [module docs](self).
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct CatchPanicLayer {
    _private: (),
}

impl CatchPanicLayer {
    /// There is nothing to configure.
    pub const fn new() -> Self {
        Self { _private: () }
    }
}

impl<S> Layer<S> for CatchPanicLayer {
    type Service = CatchPanic<S>;

    fn layer(&self, inner: S) -> CatchPanic<S> {
        CatchPanic { inner }
    }
}

/// Middleware that catches panics. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct CatchPanic<S> {
    inner: S,
}

impl<S, R> Service<R> for CatchPanic<S>
where
    S: Service<R, Error: Into<BoxError>>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: R) -> ResponseFuture<S::Future> {
        let kind = match catch_unwind(AssertUnwindSafe(|| self.inner.call(request))) {
            Ok(inner) => Kind::Running { inner },
            Err(payload) => Kind::Failed {
                error: log(&*payload),
            },
        };
        ResponseFuture { kind }
    }
}

pin_project! {
    /// The future of [`CatchPanic`].
    pub struct ResponseFuture<F> {
        #[pin]
        kind: Kind<F>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<F> {
        Running { #[pin] inner: F },
        Failed { error: Panicked },
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            // A future that panicked is not polled again, so no broken state is ever looked at.
            KindProjected::Running { inner } => {
                match catch_unwind(AssertUnwindSafe(|| inner.poll(cx))) {
                    Ok(poll) => poll.map_err(Into::into),
                    Err(payload) => Poll::Ready(Err(log(&*payload).into())),
                }
            }
            KindProjected::Failed { error } => Poll::Ready(Err((*error).into())),
        }
    }
}

fn log(payload: &(dyn Any + Send)) -> Panicked {
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    tracing::error!(target: "portcullis::catch_panic", message, "a call panicked");
    Panicked
}

opaque_debug!(ResponseFuture<F>);

#[cfg(test)]
mod tests {
    use tower::{ServiceExt as _, service_fn};

    use super::*;

    #[tokio::test]
    async fn catches_panics_before_and_while_polling() {
        let layer = CatchPanicLayer::new();
        let early = service_fn(|panics: bool| {
            assert!(!panics, "in call");
            std::future::ready(Ok::<_, BoxError>(1))
        });
        let late = service_fn(|panics: bool| async move {
            tokio::task::yield_now().await;
            assert!(!panics, "in poll");
            Ok::<_, BoxError>(2)
        });
        assert!(
            layer
                .layer(early)
                .oneshot(true)
                .await
                .unwrap_err()
                .is::<Panicked>()
        );
        assert!(
            layer
                .layer(late)
                .oneshot(true)
                .await
                .unwrap_err()
                .is::<Panicked>()
        );
        assert_eq!(layer.layer(early).oneshot(false).await.unwrap(), 1);
        assert_eq!(layer.layer(late).oneshot(false).await.unwrap(), 2);
    }
}
