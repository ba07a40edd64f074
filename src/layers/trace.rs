//! A span for every call.
//!
//! | span | level | field | is |
//! |---|---|---|---|
//! | `mcp.request` | info | `mcp.method.name` | the method, `tools/call` for example |
//! | | | `jsonrpc.request.id` | the id as it was written; absent for a notification |
//! | | | `mcp.protocol.version` | the version the caller speaks |
//! | | | `enduser.id` | the subject of the caller, if anything in front found out who calls |
//! | | | `rpc.response.status_code` | the code of an error reply |
//! | | | `error.type` | the code of a refusal, where there is one |
//!
//! Names are those of OpenTelemetry's semantic conventions. Parameters, results and tokens are never
//! recorded. Everything handlers and layers log while the call runs stands in the span.
//!
//! It stands under the rescue that is outermost on the message plane, so it sees what layers report
//! as errors, and above the limits, so that time spent waiting counts.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::TraceLayer;
//! use portcullis::service::{Envelope, McpService, Registry};
//! use portcullis::wire::{Method, ProtocolVersion};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let stack = ServiceBuilder::new()
//!     .layer(TraceLayer::new())
//!     .service(McpService::builder(Registry::builder().build()?).build()?);
//! let call = |method| Envelope::new(method, ProtocolVersion::LATEST_LEGACY).id(1);
//! assert!(stack.clone().oneshot(call(Method::PING)).await.unwrap().error().is_none());
//! assert!(stack.oneshot(call(Method::TOOLS_LIST)).await.unwrap().error().is_some());
//! # Ok::<(), portcullis::ConfigError>(())
//! # }).unwrap();
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the inner one and closes the span.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::{Layer, Service};
use tracing::Span;
use tracing::field::{self, Empty};

use crate::service::{Envelope, Principal, Reply};

use super::macros::opaque_debug;

/// Layer that applies [`Trace`]. See the [module docs](self).
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct TraceLayer {
    _private: (),
}

impl TraceLayer {
    /// There is nothing to configure.
    pub const fn new() -> Self {
        Self { _private: () }
    }
}

impl<S> Layer<S> for TraceLayer {
    type Service = Trace<S>;

    fn layer(&self, inner: S) -> Trace<S> {
        Trace { inner }
    }
}

/// Middleware that gives calls a span. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Trace<S> {
    inner: S,
}

impl<S: Service<Envelope, Response = Reply>> Service<Envelope> for Trace<S> {
    type Response = Reply;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, envelope: Envelope) -> Self::Future {
        let span = span_of(&envelope);
        let inner = span.in_scope(|| self.inner.call(envelope));
        ResponseFuture { inner, span }
    }
}

fn span_of(envelope: &Envelope) -> Span {
    tracing::info_span!(
        target: "portcullis::trace",
        "mcp.request",
        mcp.method.name = envelope.method().name(),
        jsonrpc.request.id = envelope.request_id().map(field::display),
        mcp.protocol.version = envelope.features().version().as_str(),
        enduser.id = envelope.caller().map(Principal::subject),
        rpc.response.status_code = Empty,
        error.r#type = Empty,
    )
}

pin_project! {
    /// The future of [`Trace`].
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        span: Span,
    }
}

impl<F, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Reply, E>>,
{
    type Output = Result<Reply, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let entered = this.span.enter();
        let outcome = ready!(this.inner.poll(cx));
        drop(entered);
        if let Some(error) = outcome.as_ref().ok().and_then(Reply::error) {
            this.span.record("rpc.response.status_code", error.code());
            if let Some(refusal) = error.refusal() {
                this.span.record("error.type", refusal.code());
            }
        }
        Poll::Ready(outcome)
    }
}

opaque_debug!(ResponseFuture<F>);

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tower::{ServiceExt as _, service_fn};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;
    use crate::wire::{Method, ProtocolVersion, Refusal};

    /// Writes down the fields of all spans.
    #[derive(Clone, Default)]
    struct Recorder(Arc<Mutex<Vec<String>>>);

    impl field::Visit for Recorder {
        fn record_debug(&mut self, field: &field::Field, value: &dyn std::fmt::Debug) {
            self.0.lock().unwrap().push(format!("{field}={value:?}"));
        }
    }

    impl Subscriber for Recorder {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "portcullis::trace"
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            self.0
                .lock()
                .unwrap()
                .push(span.metadata().name().to_owned());
            span.record(&mut self.clone());
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, values: &Record<'_>) {
            values.record(&mut self.clone());
        }

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {}

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[tokio::test]
    async fn spans_have_the_documented_fields_and_no_secrets() {
        let recorder = Recorder::default();
        let _guard = tracing::subscriber::set_default(recorder.clone());
        let inner = service_fn(|_: Envelope| async {
            Ok::<_, tower::BoxError>(Reply::refused(Refusal::Timeout))
        });
        let params = crate::wire::json::RawJson::parse(r#"{"name":"secret"}"#).unwrap();
        let call = Envelope::new(Method::TOOLS_CALL, ProtocolVersion::July2026)
            .id(7)
            .params(params);
        let call = call.principal(Principal::new("ada"));
        TraceLayer::new().layer(inner).oneshot(call).await.unwrap();
        let recorded = recorder.0.lock().unwrap().clone();
        assert_eq!(
            recorded,
            [
                "mcp.request",
                "mcp.method.name=\"tools/call\"",
                "jsonrpc.request.id=7",
                "mcp.protocol.version=\"2026-07-28\"",
                "enduser.id=\"ada\"",
                "rpc.response.status_code=-32603",
                "error.type=\"timeout\"",
            ]
        );
    }
}
