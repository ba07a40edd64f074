//! Lets a call wait for the service below without anything above seeing that it waits.
//!
//! A `tower` service that is not ready makes everything above it not ready. Above a limit that is
//! what one wants: whoever calls waits. Below a [`LoadShed`](tower::load_shed::LoadShed) it is not:
//! load would be shed for limits that are somebody else's and are meant to be waited for. This
//! middleware is always ready; a call that finds the service below not ready waits for it.
//!
//! In the standard stack it stands between the server's own limit, which sheds, and the layers of
//! the application, which may be limits as well. A call that waits there counts as one under way.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::WaitLayer;
//! use tower::limit::ConcurrencyLimitLayer;
//! use tower::load_shed::LoadShedLayer;
//! use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let slow = || service_fn(|_: ()| async {
//!     tokio::task::yield_now().await;
//!     Ok::<_, BoxError>("done")
//! });
//! let one = ConcurrencyLimitLayer::new(1);
//! let waits = ServiceBuilder::new().layer(LoadShedLayer::new()).layer(WaitLayer::new()).layer(one);
//! let waits = waits.service(slow());
//! let (first, second) = tokio::join!(waits.clone().oneshot(()), waits.oneshot(()));
//! assert_eq!((first.unwrap(), second.unwrap()), ("done", "done"));
//!
//! let one = ConcurrencyLimitLayer::new(1);
//! let sheds = ServiceBuilder::new().layer(LoadShedLayer::new()).layer(one).service(slow());
//! let (first, second) = tokio::join!(sheds.clone().oneshot(()), sheds.oneshot(()));
//! assert!(first.is_ok() && second.is_err());
//! # });
//! ```
//!
//! # Cancellation
//!
//! Dropping the future gives up its place in whatever queue it waits in.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tower::util::Oneshot;
use tower::{Layer, Service, ServiceExt as _};

/// Layer that applies [`Wait`]. See the [module docs](self).
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct WaitLayer {
    _private: (),
}

impl WaitLayer {
    /// There is nothing to configure.
    pub const fn new() -> Self {
        Self { _private: () }
    }
}

impl<S> Layer<S> for WaitLayer {
    type Service = Wait<S>;

    fn layer(&self, inner: S) -> Wait<S> {
        Wait::new(inner)
    }
}

/// Middleware whose calls wait one by one. See the [module docs](self).
#[derive(Debug)]
pub struct Wait<S> {
    inner: S,
    /// Whether the service below said so since it was called last.
    is_ready: bool,
}

/// Readiness is not cloned.
impl<S: Clone> Clone for Wait<S> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone())
    }
}

impl<S> Wait<S> {
    fn new(inner: S) -> Self {
        Self {
            inner,
            is_ready: false,
        }
    }
}

impl<S: Service<R> + Clone, R> Service<R> for Wait<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = ResponseFuture<S, R>;

    /// Ready unless the service below fails: a call that finds it not ready waits for it.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.is_ready = match self.inner.poll_ready(cx) {
            Poll::Ready(ready) => {
                ready?;
                true
            }
            Poll::Pending => false,
        };
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> ResponseFuture<S, R> {
        let kind = if std::mem::take(&mut self.is_ready) {
            Kind::Called {
                call: self.inner.call(request),
            }
        } else {
            // The clone stays here; the call has the service that was asked, and its place in line.
            let clone = self.inner.clone();
            let waiting = std::mem::replace(&mut self.inner, clone);
            Kind::Waiting {
                call: waiting.oneshot(request),
            }
        };
        ResponseFuture { kind }
    }
}

pin_project! {
    /// The future of [`Wait`].
    pub struct ResponseFuture<S: Service<R>, R> {
        #[pin]
        kind: Kind<S, R>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<S: Service<R>, R> {
        // It was ready.
        Called { #[pin] call: S::Future },
        // It was not.
        Waiting { #[pin] call: Oneshot<S, R> },
    }
}

impl<S: Service<R>, R> Future for ResponseFuture<S, R> {
    type Output = Result<S::Response, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProjected::Called { call } => call.poll(cx),
            KindProjected::Waiting { call } => call.poll(cx),
        }
    }
}

impl<S: Service<R>, R> std::fmt::Debug for ResponseFuture<S, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ResponseFuture")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn calls_wait_and_those_given_up_leave_the_queue() {
        let (inner, mut handle) = tower_test::mock::pair::<u8, u8>();
        handle.allow(0);
        let mut service = WaitLayer::new().layer(inner);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(Service::<u8>::poll_ready(&mut service, &mut cx).is_ready());
        let given_up = Box::pin(service.call(1));
        let mut waits = Box::pin(service.call(2));
        assert!(waits.as_mut().poll(&mut cx).is_pending());
        drop(given_up);
        handle.allow(1);
        let answer = async {
            let (request, respond) = handle.next_request().await.unwrap();
            respond.send_response(request + 40);
        };
        let (reply, ()) = tokio::join!(waits, answer);
        assert_eq!(reply.unwrap(), 42);
    }
}
