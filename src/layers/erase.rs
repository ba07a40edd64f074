//! Forgets the type of everything on the frame plane, once.
//!
//! What a stack is made of shows in its type. Above the frame plane that would make every transport
//! generic over all of it, so the type is forgotten here: a [`Erased`] is one pointer, cloning it is
//! free, and HTTP, stdio and in-process callers share the one stack behind it, limits included.
//!
//! Each call drives a clone of the stack of its own, so a handle that waits for a permit is never
//! shared, and readiness never outlives its call. A clone that has been called is ready for nothing
//! again, and serves the next call.
//!
//! Errors that no rescue below has answered are answered here, as an internal fault; so are panics of
//! layers on the frame plane.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::{Erased, EraseLayer};
//! use portcullis::service::{Inbound, Outbound};
//! use portcullis::wire::Frame;
//! use tower::{BoxError, Layer, ServiceExt, service_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let stack = service_fn(|inbound: Inbound| async move {
//!     match inbound.frame.id() {
//!         Some(_) => Err(BoxError::from("nothing below rescues")),
//!         None => Ok(Outbound::accepted()),
//!     }
//! });
//! let erased: Erased = EraseLayer::new().layer(stack);
//! let message = |text: &str| Inbound::new(Frame::parse(text.into(), 128).unwrap());
//! let Ok(passes) = erased.clone().oneshot(message("{}")).await;
//! assert_eq!(passes.hints.status, 202);
//! let Ok(rescued) = erased.oneshot(message(r#"{"id":1}"#)).await;
//! assert!(rescued.payload.is_some());
//! # });
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the call.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::service::{FrameService, Inbound, Outbound};

use super::catch_panic::CatchPanicLayer;
use super::rescue::RescueLayer;

/// Layer that makes a [`Erased`] of a service on the frame plane. See the [module docs](self).
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct EraseLayer {
    _private: (),
}

impl EraseLayer {
    /// There is nothing to configure.
    pub const fn new() -> Self {
        Self { _private: () }
    }
}

impl<S: FrameService> Layer<S> for EraseLayer {
    type Service = Erased;

    fn layer(&self, inner: S) -> Erased {
        let service = RescueLayer::new().layer(CatchPanicLayer::new().layer(inner));
        let clones = Arc::new(Clones::of(service));
        Erased(Arc::new(move |inbound| {
            Box::pin(Driven::Waiting {
                service: None,
                clones: Arc::clone(&clones),
                inbound: Some(inbound),
            })
        }))
    }
}

/// Clones of a stack, one for each call.
struct Clones<S> {
    original: S,
    /// One that no call needs any more. A stack has many shared parts, and to count all their owners
    /// twice for each call would cost more than the locks do.
    spare: Mutex<Option<Box<S>>>,
}

impl<S: Clone> Clones<S> {
    fn of(original: S) -> Self {
        let spare = Mutex::new(None);
        Self { original, spare }
    }

    /// Nobody waits for the spare one: whoever finds it locked makes another.
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "it is moved with the call and kept for the next: a pointer is quicker to move"
    )]
    fn take(&self) -> Box<S> {
        let spare = self
            .spare
            .try_lock()
            .ok()
            .and_then(|mut spare| spare.take());
        spare.unwrap_or_else(|| Box::new(self.original.clone()))
    }

    /// Takes one back that has been called.
    fn give(&self, called: Box<S>) {
        let surplus = match self.spare.try_lock() {
            Ok(mut spare) => spare.replace(called),
            Err(_) => Some(called),
        };
        drop(surplus);
    }
}

pin_project! {
    /// A call and its clone.
    #[project = DrivenProjected]
    enum Driven<S: Service<Inbound>> {
        // For its readiness.
        Waiting {
            service: Option<Box<S>>,
            clones: Arc<Clones<S>>,
            inbound: Option<Inbound>,
        },
        Called { #[pin] call: S::Future },
    }
}

impl<S: Service<Inbound> + Clone> Future for Driven<S> {
    type Output = Result<S::Response, S::Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let call = match self.as_mut().project() {
                DrivenProjected::Called { call } => return call.poll(cx),
                DrivenProjected::Waiting {
                    service,
                    clones,
                    inbound,
                } => {
                    let mut ready = service.take().unwrap_or_else(|| clones.take());
                    match ready.poll_ready(cx) {
                        Poll::Pending => {
                            *service = Some(ready);
                            return Poll::Pending;
                        }
                        Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                        Poll::Ready(Ok(())) => {}
                    }
                    let Some(inbound) = inbound.take() else {
                        unreachable!("polled after it was done");
                    };
                    let call = ready.call(inbound);
                    clones.give(ready);
                    call
                }
            };
            self.set(Self::Called { call });
        }
    }
}

/// A stack on the frame plane whose type is forgotten. See the [module docs](self).
#[derive(Clone)]
pub struct Erased(Arc<dyn Fn(Inbound) -> ErasedCall + Send + Sync>);

type ErasedCall = Pin<Box<dyn Future<Output = Result<Outbound, Infallible>> + Send>>;

impl Service<Inbound> for Erased {
    type Response = Outbound;
    type Error = Infallible;
    type Future = ResponseFuture;

    /// Always ready: each call waits for the readiness of its own clone.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, inbound: Inbound) -> ResponseFuture {
        ResponseFuture((self.0)(inbound))
    }
}

/// The future of a [`Erased`].
pub struct ResponseFuture(ErasedCall);

impl Future for ResponseFuture {
    type Output = Result<Outbound, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Erased")
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}

#[cfg(test)]
mod tests {
    use tower::{BoxError, ServiceExt as _, service_fn};

    use super::*;
    use crate::wire::Frame;

    /// Contract: case T12.
    #[tokio::test]
    async fn a_layer_that_panics_fails_one_message() {
        let stack = service_fn(|inbound: Inbound| {
            assert_ne!(inbound.frame.text(), r#"{"id":7}"#, "tok-42");
            std::future::ready(Ok::<_, BoxError>(Outbound::accepted()))
        });
        let erased = EraseLayer::new().layer(stack);
        let message = |text: &str| Inbound::new(Frame::parse(text.into(), 128).unwrap());
        let Ok(failed) = erased.clone().oneshot(message(r#"{"id":7}"#)).await;
        let failed = failed.payload.unwrap().into_bytes();
        assert!(failed.starts_with(br#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"#));
        let Ok(served) = erased.oneshot(message("{}")).await;
        assert_eq!(served.hints.status, 202);
    }
}
