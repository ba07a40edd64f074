//! Decodes messages on the way in and encodes replies on the way out.
//!
//! This is the one place where the eras differ. On the way in a frame becomes an [`Envelope`]: which
//! era it belongs to, which version it speaks and what that permits, what the client can do. A
//! message passes if
//!
//! 1. it is a JSON-RPC request or notification, whose id is a string or an integer;
//! 2. in the modern era, its `_meta` names a version and the client's capabilities (-32602), the
//!    headers beside it, where the transport has any, say what it says (-32020), and the version is
//!    spoken here (-32022);
//! 3. in the legacy era, a version was negotiated, or the message is the handshake itself, or the
//!    transport says what to assume.
//!
//! What does not pass is answered with the error named, and HTTP 400. Notifications are never
//! answered; over HTTP a refused one gets the status and an error without id. `notifications/cancelled`
//! and `notifications/initialized` go no further: whom they concern has seen them above.
//!
//! On the way out a reply becomes bytes: in the modern era a result says what kind it is, how long it
//! may be kept and who the server is.
//!
//! It is the bottom of the frame plane and the top of the message plane.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::EnvelopeLayer;
//! use portcullis::service::{Envelope, Inbound, Reply};
//! use portcullis::wire::{Frame, Implementation, Method};
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let service = ServiceBuilder::new()
//!     .layer(EnvelopeLayer::new(&Implementation::new("demo", "1"))?)
//!     .service(service_fn(|call: Envelope| async move {
//!         assert_eq!(call.method(), &Method::TOOLS_LIST);
//!         Ok::<_, BoxError>(Reply::accepted())
//!     }));
//! let message = |text: &str| Inbound::new(Frame::parse(text.into(), 128).unwrap());
//!
//! let passes = message(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{
//!     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!     "io.modelcontextprotocol/clientCapabilities":{}}}}"#);
//! assert_eq!(service.clone().oneshot(passes).await.unwrap().hints.status, 202);
//! let refused = message(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
//! assert_eq!(service.oneshot(refused).await.unwrap().hints.status, 400);
//! # Ok::<(), portcullis::service::ConfigError>(())
//! # }).unwrap();
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the call.

mod decode;
mod encode;
mod headers;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::layers::macros::opaque_debug;
use crate::service::{ConfigError, Envelope, Inbound, Outbound, Reply, Shape};
use crate::wire::{Features, Implementation, Method, RequestId, Versions};

use self::encode::Encoder;

/// Layer that applies [`Envelopes`]. See the [module docs](self).
#[derive(Clone, Debug)]
#[must_use]
pub struct EnvelopeLayer {
    encoder: Arc<Encoder>,
    shape: Shape,
    versions: Versions,
}

impl EnvelopeLayer {
    /// Results of the modern era say that this is the server.
    ///
    /// # Errors
    ///
    /// If the encoded identity is longer than 4 KiB.
    pub fn new(identity: &Implementation) -> Result<Self, ConfigError> {
        Ok(Self {
            encoder: Arc::new(Encoder::new(identity)?),
            shape: Shape::Plain,
            versions: Versions::default(),
        })
    }

    /// Which versions are spoken. All of them by default.
    pub fn versions(mut self, versions: Versions) -> Self {
        self.versions = versions;
        self
    }

    /// How a failure is shown that happens before a mode layer could show it. Plain by default.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }
}

impl<S> Layer<S> for EnvelopeLayer {
    type Service = Envelopes<S>;

    fn layer(&self, inner: S) -> Envelopes<S> {
        Envelopes {
            inner,
            layer: self.clone(),
        }
    }
}

/// Middleware between frames and messages. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Envelopes<S> {
    inner: S,
    layer: EnvelopeLayer,
}

impl<S: Service<Envelope, Response = Reply>> Service<Inbound> for Envelopes<S> {
    type Response = Outbound;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, inbound: Inbound) -> Self::Future {
        let kind = match decode::decode(inbound, self.layer.versions) {
            Ok(envelope) if waits_for_nothing(&envelope) => Kind::Answered {
                outbound: Some(Outbound::accepted()),
            },
            Ok(mut envelope) => {
                envelope.shape = self.layer.shape;
                Kind::Called {
                    id: envelope.request_id().cloned(),
                    features: envelope.features(),
                    encoder: Arc::clone(&self.layer.encoder),
                    inner: self.inner.call(envelope),
                }
            }
            Err(refused) => {
                tracing::debug!(
                    target: "portcullis::envelope",
                    code = refused.error.code(),
                    "message refused"
                );
                Kind::Answered {
                    outbound: Some(refused.into_outbound()),
                }
            }
        };
        ResponseFuture { kind }
    }
}

/// Notifications the layers below have no part in: a limit among them must not hold them back.
fn waits_for_nothing(envelope: &Envelope) -> bool {
    envelope.request_id().is_none()
        && matches!(*envelope.method(), Method::CANCELLED | Method::INITIALIZED)
}

pin_project! {
    /// The future of [`Envelopes`].
    pub struct ResponseFuture<F> {
        #[pin]
        kind: Kind<F>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<F> {
        Called {
            #[pin]
            inner: F,
            id: Option<RequestId>,
            features: Features,
            encoder: Arc<Encoder>,
        },
        Answered { outbound: Option<Outbound> },
    }
}

impl<F, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Reply, E>>,
{
    type Output = Result<Outbound, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProjected::Called {
                inner,
                id,
                features,
                encoder,
            } => {
                let reply = ready!(inner.poll(cx))?;
                Poll::Ready(Ok(encoder.encode(reply, id.as_ref(), *features)))
            }
            KindProjected::Answered { outbound } => {
                Poll::Ready(Ok(outbound.take().unwrap_or_else(Outbound::accepted)))
            }
        }
    }
}

opaque_debug!(ResponseFuture<F>);

#[cfg(test)]
mod tests;
