//! Middleware on the message plane from an async function.
//!
//! For what needs no readiness or state of its own a function is enough: it gets the envelope and
//! what comes [`Next`], and answers by calling that, or without. It stands wherever a layer of an
//! application's own may stand.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::{Next, from_fn};
//! use portcullis::service::{Envelope, McpService, Registry, Reply};
//! use portcullis::wire::{Error, Method, ProtocolVersion};
//! use tower::{BoxError, ServiceBuilder, ServiceExt};
//!
//! async fn pings_only(call: Envelope, next: Next) -> Result<Reply, BoxError> {
//!     if call.method() != &Method::PING {
//!         return Ok(Error::method_not_found().into());
//!     }
//!     next.run(call).await
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let stack = ServiceBuilder::new()
//!     .layer(from_fn(pings_only))
//!     .service(McpService::builder(Registry::builder().build()?).build()?);
//! let call = |method| Envelope::new(method, ProtocolVersion::LATEST_LEGACY).id(1);
//! assert!(stack.clone().oneshot(call(Method::PING)).await.unwrap().error().is_none());
//! assert!(stack.oneshot(call(Method::INITIALIZE)).await.unwrap().error().is_some());
//! # Ok::<(), portcullis::ConfigError>(())
//! # }).unwrap();
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the function's, and with it whatever it called.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tower::{BoxError, Layer, Service};

use crate::service::{Envelope, MessageService, Reply};

/// A layer that runs `function` around each call.
pub fn from_fn<F>(function: F) -> FromFnLayer<F> {
    FromFnLayer { function }
}

/// Layer that applies [`FromFn`]. See the [module docs](self).
#[derive(Clone, Copy)]
#[must_use]
pub struct FromFnLayer<F> {
    function: F,
}

impl<F: Clone, S> Layer<S> for FromFnLayer<F> {
    type Service = FromFn<F, S>;

    fn layer(&self, inner: S) -> FromFn<F, S> {
        FromFn {
            inner,
            function: self.function.clone(),
        }
    }
}

/// Middleware made of a function. See the [module docs](self).
#[derive(Clone)]
pub struct FromFn<F, S> {
    inner: S,
    function: F,
}

/// What a function stands around.
pub struct Next {
    call: Box<dyn FnOnce(Envelope) -> Answer + Send>,
}

type Answer = Pin<Box<dyn Future<Output = Result<Reply, BoxError>> + Send>>;

impl Next {
    /// Goes on with the call.
    ///
    /// # Errors
    ///
    /// What the layers inside report; [`rescue`](super::rescue) answers it if the function passes
    /// it on.
    pub async fn run(self, envelope: Envelope) -> Result<Reply, BoxError> {
        (self.call)(envelope).await
    }
}

impl<F, S, Fut> Service<Envelope> for FromFn<F, S>
where
    F: Fn(Envelope, Next) -> Fut,
    Fut: Future<Output = Result<Reply, BoxError>>,
    S: MessageService,
{
    type Response = Reply;
    type Error = BoxError;
    type Future = Fut;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, envelope: Envelope) -> Fut {
        // The ready service moves into the call, and a clone takes its place.
        let clone = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, clone);
        let next = Next {
            call: Box::new(move |envelope| {
                let call = ready.call(envelope);
                Box::pin(async move { call.await.map_err(Into::into) })
            }),
        };
        (self.function)(envelope, next)
    }
}

impl<F> fmt::Debug for FromFnLayer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFnLayer")
            .field("function", &std::any::type_name::<F>())
            .finish()
    }
}

impl<F, S> fmt::Debug for FromFn<F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn")
            .field("function", &std::any::type_name::<F>())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Next")
    }
}
