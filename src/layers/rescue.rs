//! Turns errors of layers into replies.
//!
//! Layers report what goes wrong as errors: `tower`'s own, or those of an application. One
//! classification says what such an error means to the caller ([`Refusal`]), and each plane has its
//! own encoder for it:
//!
//! | plane | answer |
//! |---|---|
//! | HTTP | a status (503, 429, 504 or 500) and a JSON-RPC error without id |
//! | frames | a JSON-RPC error with the id of the request |
//! | messages | an error; for a `tools/call` that was under way, the failure of the same code |
//!
//! The cause is logged and never sent. It stands outermost on each plane that carries layers of
//! others, since nothing above it sees an error.
//!
//! An error of `poll_ready` is kept and answers the next call: readiness belongs to no request, and
//! a transport could do nothing with it but close the connection.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::RescueLayer;
//! use portcullis::service::{Envelope, Refused, Reply};
//! use portcullis::wire::{Method, ProtocolVersion, Refusal};
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let service = ServiceBuilder::new()
//!     .layer(RescueLayer::new())
//!     .service(service_fn(|call: Envelope| async move {
//!         match call.method() == &Method::PING {
//!             true => Ok(Reply::accepted()),
//!             false => Err(BoxError::from(Refused(Refusal::Unavailable))),
//!         }
//!     }));
//! let call = |method| Envelope::new(method, ProtocolVersion::July2026).id(1);
//! let fine = service.clone().oneshot(call(Method::PING)).await.unwrap();
//! assert!(fine.error().is_none());
//! let refused = service.oneshot(call(Method::TOOLS_LIST)).await.unwrap();
//! assert_eq!(refused.error().unwrap().refusal(), Some(Refusal::Unavailable));
//! # });
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the inner one; nothing else is held.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::{BoxError, Layer, Service};

use crate::service::{
    CallLink, Envelope, Failure, Inbound, Invoked, Outbound, Reply, Shape, classify,
};
use crate::wire::{Error, Features, Method, Refusal, RequestId};

use super::macros::opaque_debug;

/// A request of one of the planes: what its error reply needs to know of it.
pub trait Rescuable {
    /// What is kept of the request while it is served.
    type Context;

    /// Takes it.
    fn context(&self) -> Self::Context;
}

/// A response of one of the planes that can say a request was refused.
pub trait FromRefusal<C> {
    /// Says it.
    fn from_refusal(refusal: Refusal, context: C) -> Self;
}

/// Layer that applies [`Rescue`]. See the [module docs](self).
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct RescueLayer {
    _private: (),
}

impl RescueLayer {
    /// There is nothing to configure.
    pub const fn new() -> Self {
        Self { _private: () }
    }
}

impl<S> Layer<S> for RescueLayer {
    type Service = Rescue<S>;

    fn layer(&self, inner: S) -> Rescue<S> {
        Rescue {
            inner,
            failed: None,
        }
    }
}

/// Middleware that answers errors. See the [module docs](self).
#[derive(Debug)]
pub struct Rescue<S> {
    inner: S,
    /// What `poll_ready` reported: the answer to the next call.
    failed: Option<BoxError>,
}

/// Readiness is not copied, so neither is the lack of it.
impl<S: Clone> Clone for Rescue<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            failed: None,
        }
    }
}

impl<S, R> Service<R> for Rescue<S>
where
    R: Rescuable,
    S: Service<R, Response: FromRefusal<R::Context>, Error: Into<BoxError>>,
{
    type Response = S::Response;
    type Error = Infallible;
    type Future = ResponseFuture<S::Future, R::Context>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.failed.is_none() {
            self.failed = ready!(self.inner.poll_ready(cx)).err().map(Into::into);
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> Self::Future {
        let context = Some(request.context());
        let kind = match self.failed.take() {
            Some(error) => Kind::Failed { error },
            None => Kind::Running {
                inner: self.inner.call(request),
            },
        };
        ResponseFuture { kind, context }
    }
}

pin_project! {
    /// The future of [`Rescue`].
    pub struct ResponseFuture<F, C> {
        #[pin]
        kind: Kind<F>,
        context: Option<C>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<F> {
        Running { #[pin] inner: F },
        Failed { error: BoxError },
    }
}

impl<F, T, E, C> Future for ResponseFuture<F, C>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
    T: FromRefusal<C>,
{
    type Output = Result<T, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let refusal = match this.kind.project() {
            KindProjected::Running { inner } => match ready!(inner.poll(cx)) {
                Ok(response) => return Poll::Ready(Ok(response)),
                Err(error) => refusal(&*error.into()),
            },
            KindProjected::Failed { error } => refusal(&**error),
        };
        match this.context.take() {
            Some(context) => Poll::Ready(Ok(T::from_refusal(refusal, context))),
            None => unreachable!("polled after it was done"),
        }
    }
}

fn refusal(error: &(dyn std::error::Error + 'static)) -> Refusal {
    let refusal = classify(error);
    let cause = error;
    if refusal == Refusal::Internal {
        tracing::error!(target: "portcullis::rescue", cause, "a layer failed");
    } else {
        let code = refusal.code();
        tracing::debug!(target: "portcullis::rescue", cause, code, "a request was refused");
    }
    refusal
}

/// What an answer to an envelope depends on.
#[derive(Debug)]
pub struct Called {
    features: Features,
    shape: Shape,
    /// Of a call of a tool.
    tool: Option<CallLink>,
}

impl Rescuable for Envelope {
    type Context = Called;

    fn context(&self) -> Called {
        Called {
            features: self.features(),
            shape: self.details.shape,
            tool: matches!(*self.method(), Method::TOOLS_CALL | Method::INVOKE)
                .then(|| self.details.link.clone()),
        }
    }
}

impl FromRefusal<Called> for Reply {
    fn from_refusal(refusal: Refusal, called: Called) -> Self {
        // These two happen to work that was under way; the others keep it from starting.
        let under_way = matches!(refusal, Refusal::Timeout | Refusal::Internal);
        let (Some(link), true) = (called.tool, under_way) else {
            return Self::refused(refusal);
        };
        let invoked = Invoked {
            outcome: Err(Failure::refused(refusal)),
            declares_output: link.declares_output(),
        };
        Self::tool(invoked, called.shape, called.features)
    }
}

impl Rescuable for Inbound {
    type Context = Option<RequestId>;

    fn context(&self) -> Option<RequestId> {
        self.frame.id()
    }
}

impl FromRefusal<Option<RequestId>> for Outbound {
    fn from_refusal(refusal: Refusal, id: Option<RequestId>) -> Self {
        Self::error(id.as_ref(), &Error::refused(refusal), None)
    }
}

opaque_debug!(ResponseFuture<F, C>);

#[cfg(test)]
mod tests {
    use tower::{ServiceExt as _, service_fn};

    use super::*;
    use crate::service::Refused;
    use crate::wire::ProtocolVersion;

    fn call(method: Method) -> Envelope {
        Envelope::new(method, ProtocolVersion::July2026).id(1)
    }

    async fn answer(method: Method, refusal: Refusal) -> Reply {
        let failing =
            service_fn(move |_: Envelope| std::future::ready(Err::<Reply, _>(Refused(refusal))));
        RescueLayer::new()
            .layer(failing)
            .oneshot(call(method))
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn calls_under_way_fail_and_others_are_refused() {
        let reply = answer(Method::TOOLS_CALL, Refusal::Timeout).await;
        let members = String::from_utf8(reply.members().unwrap().to_vec()).unwrap();
        assert!(members.ends_with(r#""isError":true"#), "{members}");
        let reply = answer(Method::TOOLS_CALL, Refusal::Overloaded).await;
        assert_eq!(reply.error().unwrap().refusal(), Some(Refusal::Overloaded));
        let reply = answer(Method::TOOLS_LIST, Refusal::Timeout).await;
        assert_eq!(reply.error().unwrap().refusal(), Some(Refusal::Timeout));
    }

    #[tokio::test]
    async fn readiness_that_fails_answers_the_next_call_and_no_clone() {
        let (inner, mut handle) = tower_test::mock::pair::<Envelope, Reply>();
        let mut service = RescueLayer::new().layer(inner);
        handle.send_error(Refused(Refusal::Unavailable));
        service.ready().await.unwrap();
        let clone = service.clone();
        let reply = service.call(call(Method::TOOLS_LIST)).await.unwrap();
        assert_eq!(reply.error().unwrap().refusal(), Some(Refusal::Unavailable));
        assert!(clone.failed.is_none());
    }
}
