//! Makes sure that a reply fits before anything of it is sent.
//!
//! A reply passes if its encoded result, together with a reserve of 8 KiB for what is written around
//! it (id, identity, framing), is no longer than a response may be. Errors are bounded anyway and
//! always pass.
//!
//! What does not fit is replaced: on `tools/call` by the failure `result_too_large`, else by the
//! error `response_too_large`. The size is measured on the encoded form, so text full of characters
//! that need escapes counts as what it becomes. HTTP framing and compression do not count.
//!
//! It stands below the limits on calls, and above everything that makes results, so that whatever
//! made a result that is too large, it is caught in one place.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::PreflightLayer;
//! use portcullis::service::{Envelope, Limits, McpService, Prompt, Registry};
//! use portcullis::wire::json::RawJson;
//! use portcullis::wire::{Method, ProtocolVersion, Refusal};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let registry = Registry::builder()
//!     .prompt(Prompt::new("short").handler(|| async { "x" }))
//!     .prompt(Prompt::new("long").handler(|| async { "x".repeat(20_000) }))
//!     .build()?;
//! let stack = ServiceBuilder::new()
//!     .layer(PreflightLayer::new(&Limits::default().response_bytes(20_000)))
//!     .service(McpService::builder(registry).build()?);
//! let get = |params: &str| {
//!     let params = RawJson::parse(params).unwrap();
//!     Envelope::new(Method::PROMPTS_GET, ProtocolVersion::July2026).id(1).params(params)
//! };
//!
//! let passes = stack.clone().oneshot(get(r#"{"name":"short"}"#)).await.unwrap();
//! assert!(passes.error().is_none());
//! let refused = stack.oneshot(get(r#"{"name":"long"}"#)).await.unwrap();
//! assert_eq!(refused.error().unwrap().refusal(), Some(Refusal::ResponseTooLarge));
//! # Ok::<(), portcullis::ConfigError>(())
//! # }).unwrap();
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the inner one; nothing else is held.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::service::{
    CallLink, Envelope, Failure, Invoked, Limits, Outcome, RESERVE, Reply, Shape, count,
};
use crate::wire::json::RawJson;
use crate::wire::{Features, Method, Refusal};

use super::macros::opaque_debug;

/// Layer that applies [`Preflight`]. See the [module docs](self).
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PreflightLayer {
    room: usize,
}

impl PreflightLayer {
    /// Replies fit the responses these limits allow.
    pub fn new(limits: &Limits) -> Self {
        Self {
            room: count(limits.response_bytes).saturating_sub(RESERVE),
        }
    }
}

impl<S> Layer<S> for PreflightLayer {
    type Service = Preflight<S>;

    fn layer(&self, inner: S) -> Preflight<S> {
        Preflight {
            inner,
            room: self.room,
        }
    }
}

/// Middleware that measures replies. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Preflight<S> {
    inner: S,
    room: usize,
}

impl<S: Service<Envelope, Response = Reply>> Service<Envelope> for Preflight<S> {
    type Response = Reply;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut envelope: Envelope) -> Self::Future {
        // What is known to be too large by its parts is not even written.
        envelope.details.ceiling = self.room;
        let measure = Measure {
            room: self.room,
            tool: (*envelope.method() == Method::TOOLS_CALL).then(|| envelope.details.link.clone()),
            shape: envelope.details.shape,
            features: envelope.features(),
        };
        ResponseFuture {
            inner: self.inner.call(envelope),
            measure,
        }
    }
}

/// What the verdict on a reply depends on.
struct Measure {
    room: usize,
    /// Of a call of a tool.
    tool: Option<CallLink>,
    shape: Shape,
    features: Features,
}

impl Measure {
    fn verify(&self, reply: Reply) -> Reply {
        let length = match &reply.outcome {
            Outcome::Result(body) => {
                body.members.len()
                    + body
                        .meta
                        .as_ref()
                        .map_or(0, |meta| RawJson::text(meta).len())
            }
            _ => 0,
        };
        if length <= self.room {
            return reply;
        }
        tracing::warn!(target: "portcullis::preflight", length, "a reply is too large");
        let Some(link) = &self.tool else {
            return Reply::refused(Refusal::ResponseTooLarge);
        };
        let invoked = Invoked {
            outcome: Err(Failure::too_large()),
            declares_output: link.declares_output(),
        };
        Reply::tool(invoked, self.shape, self.features)
    }
}

pin_project! {
    /// The future of [`Preflight`].
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        measure: Measure,
    }
}

impl<F, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Reply, E>>,
{
    type Output = Result<Reply, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let reply = ready!(this.inner.poll(cx))?;
        Poll::Ready(Ok(this.measure.verify(reply)))
    }
}

opaque_debug!(ResponseFuture<F>);

#[cfg(test)]
mod tests {
    use tower::{ServiceExt as _, service_fn};

    use super::*;
    use crate::layers::contract;
    use crate::wire::ProtocolVersion;

    async fn send(method: Method, length: usize, shape: Shape) -> Reply {
        let inner = service_fn(move |_: Envelope| {
            std::future::ready(Ok::<_, tower::BoxError>(Reply::result(vec![b'x'; length])))
        });
        let limits = Limits::default().response_bytes(10_000 + RESERVE as u64);
        let mut envelope = Envelope::new(method, ProtocolVersion::July2026).id(1);
        envelope.details.shape = shape;
        PreflightLayer::new(&limits)
            .layer(inner)
            .oneshot(envelope)
            .await
            .unwrap()
    }

    /// Contract: S-098, S-099, S-100.
    #[tokio::test]
    async fn the_ceiling_holds_on_both_sides() {
        for method in [Method::TOOLS_CALL, Method::TOOLS_LIST] {
            let fits = send(method, 10_000, Shape::Plain).await;
            assert_eq!(fits.members().map(<[u8]>::len), Some(10_000));
        }
        let list = send(Method::TOOLS_LIST, 10_001, Shape::Plain).await;
        assert_eq!(
            list.error().unwrap().refusal(),
            Some(Refusal::ResponseTooLarge)
        );
        let call = send(Method::TOOLS_CALL, 10_001, Shape::Wrapped).await;
        let members = String::from_utf8(call.members().unwrap().to_vec()).unwrap();
        assert!(
            members.contains(r#"{"failure":{"code":"result_too_large""#),
            "{members}"
        );
        assert!(members.len() < 1000);
    }

    #[test]
    fn readiness_is_that_of_the_inner_service() {
        let call = || Envelope::new(Method::PING, ProtocolVersion::July2026).id(1);
        contract::holds::<_, _, Reply>(&PreflightLayer::new(&Limits::default()), call);
    }
}
