//! How operations are shown as tools.
//!
//! The core knows operations; what clients see are tools. This layer turns `tools/list` and
//! `tools/call` into the internal methods of the core, and the core's typed outcomes into results:
//!
//! - [`Mode::Plain`]: every operation is a tool, shown and answered as it was declared.
//!
//! Everything else passes untouched. A `tools/call` that names no tool, or whose arguments are not
//! an object, is refused with -32602.
//!
//! It stands directly above the layers that see operations and below everything that deals with
//! whole calls. What it makes of a failure needs the outcome typed, so nothing below encodes one.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::{Mode, ModeLayer};
//! use portcullis::service::{Envelope, McpService, Operation, Registry};
//! use portcullis::wire::json::RawJson;
//! use portcullis::wire::{Method, ProtocolVersion};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let registry = Registry::builder()
//!     .operation(Operation::new("hi").handler(|| async { "hello" }))
//!     .build()?;
//! let stack = ServiceBuilder::new()
//!     .layer(ModeLayer::new(Mode::Plain))
//!     .service(McpService::builder(registry).build()?);
//! let call = |params: &str| {
//!     let params = RawJson::parse(params).unwrap();
//!     Envelope::new(Method::TOOLS_CALL, ProtocolVersion::July2026).id(1).params(params)
//! };
//!
//! let reply = stack.clone().oneshot(call(r#"{"name":"hi"}"#)).await.unwrap();
//! assert_eq!(reply.members().unwrap(), br#""content":[{"type":"text","text":"hello"}]"#);
//! let reply = stack.oneshot(call(r#"{"name":7}"#)).await.unwrap();
//! assert_eq!(reply.error().unwrap().code(), -32602);
//! # Ok::<(), portcullis::service::ConfigError>(())
//! # }).unwrap();
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the inner one; nothing else is held.

mod plain;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::layers::macros::opaque_debug;
use crate::service::{Envelope, Reply, Shape};
use crate::wire::Method;

use self::plain::Plain;

/// How operations are shown.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Mode {
    /// As they were declared.
    #[default]
    Plain,
}

impl Mode {
    /// How outcomes of operations are shown.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Plain => Shape::Plain,
        }
    }

    /// What the mode is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plain => "plain",
        }
    }
}

/// Layer that applies [`WithMode`]. See the [module docs](self).
#[derive(Clone, Debug)]
#[must_use]
pub struct ModeLayer {
    plain: Arc<Plain>,
}

impl ModeLayer {
    /// Shows operations in this mode.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a mode carries settings that the layer takes over"
    )]
    pub fn new(mode: Mode) -> Self {
        let Mode::Plain = mode;
        Self {
            plain: Arc::new(Plain::new()),
        }
    }
}

impl<S> Layer<S> for ModeLayer {
    type Service = WithMode<S>;

    fn layer(&self, inner: S) -> WithMode<S> {
        WithMode {
            inner,
            plain: Arc::clone(&self.plain),
        }
    }
}

/// Middleware that shows operations as tools. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct WithMode<S> {
    inner: S,
    plain: Arc<Plain>,
}

impl<S: Service<Envelope, Response = Reply>> Service<Envelope> for WithMode<S> {
    type Response = Reply;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut envelope: Envelope) -> ResponseFuture<S::Future> {
        envelope.shape = Shape::Plain;
        let shown = match *envelope.method() {
            Method::TOOLS_LIST => Shown::List,
            Method::TOOLS_CALL => Shown::Call,
            _ => {
                let inner = self.inner.call(envelope);
                return ResponseFuture {
                    kind: Kind::Untouched { inner },
                };
            }
        };
        let ask = Ask {
            shown,
            plain: Arc::clone(&self.plain),
            features: envelope.features(),
        };
        match plain::turn(shown, envelope) {
            Ok(envelope) => {
                let inner = self.inner.call(envelope);
                ResponseFuture {
                    kind: Kind::Shown { inner, ask },
                }
            }
            Err(reply) => ResponseFuture {
                kind: Kind::Refused { reply: Some(reply) },
            },
        }
    }
}

/// Which of the two methods is shown.
#[derive(Clone, Copy, Debug)]
enum Shown {
    List,
    Call,
}

/// What is needed to show the core's answer.
struct Ask {
    shown: Shown,
    plain: Arc<Plain>,
    features: crate::wire::Features,
}

impl Ask {
    fn show(&self, reply: Reply) -> Reply {
        match self.shown {
            Shown::List => self.plain.show_list(reply, self.features),
            Shown::Call => plain::show_call(reply, self.features),
        }
    }
}

pin_project! {
    /// The future of [`WithMode`].
    pub struct ResponseFuture<F> {
        #[pin]
        kind: Kind<F>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<F> {
        Untouched { #[pin] inner: F },
        Shown { #[pin] inner: F, ask: Ask },
        Refused { reply: Option<Reply> },
    }
}

impl<F, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Reply, E>>,
{
    type Output = Result<Reply, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProjected::Untouched { inner } => inner.poll(cx),
            KindProjected::Shown { inner, ask } => {
                let reply = ready!(inner.poll(cx))?;
                Poll::Ready(Ok(ask.show(reply)))
            }
            KindProjected::Refused { reply } => {
                Poll::Ready(Ok(reply.take().unwrap_or_else(Reply::accepted)))
            }
        }
    }
}

opaque_debug!(ResponseFuture<F>);
