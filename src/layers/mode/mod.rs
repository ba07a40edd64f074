//! How operations are shown as tools: the mode.
//!
//! The core knows operations; what clients see are tools. This layer turns `tools/list` and
//! `tools/call` into the internal methods of the core, and the core's typed outcomes into results:
//!
//! - [`Mode::Compact`], the default: there are always the same three tools, to search for operations,
//!   to look at one and to call it. The list costs a model the same few tokens whatever the server
//!   can do.
//! - [`Mode::Direct`]: every operation is a tool; results stand in `{"value":…}` or `{"failure":…}`.
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

mod compact;
mod direct;
mod pages;
mod plain;
mod wrapper;

use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::layers::macros::opaque_debug;
use crate::service::{ConfigError, Envelope, Reply, Shape, Target};
use crate::wire::json::RawJson;
use crate::wire::{Error, Features, Method};

pub use self::compact::Compact;
use self::compact::CompactTools;
use self::direct::DirectTools;
use self::plain::PlainTools;

/// How operations are shown.
///
/// ```
/// use portcullis::layers::Mode;
///
/// assert_eq!("direct".parse::<Mode>()?.name(), "direct");
/// assert_eq!("".parse::<Mode>()?.name(), "compact");
/// assert!("loud".parse::<Mode>().is_err());
/// # Ok::<(), portcullis::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Mode {
    /// Three tools, to search for operations, to look at one and to call it.
    Compact(Compact),
    /// Every operation is a tool, and its results are wrapped.
    Direct,
    /// Every operation is a tool, as it was declared.
    Plain,
}

impl Mode {
    /// How outcomes of operations are shown.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Compact(_) | Self::Direct => Shape::Wrapped,
            Self::Plain => Shape::Plain,
        }
    }

    /// What the mode is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Compact(_) => "compact",
            Self::Direct => "direct",
            Self::Plain => "plain",
        }
    }
}

impl Default for Mode {
    fn default() -> Self {
        Self::Compact(Compact::new())
    }
}

/// By name; the empty name is the default mode.
impl FromStr for Mode {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Self, ConfigError> {
        match name {
            "" | "compact" => Ok(Self::default()),
            "direct" => Ok(Self::Direct),
            "plain" => Ok(Self::Plain),
            _ => Err(ConfigError::new(
                "mode",
                format!(
                    "`{}` is none of compact, direct and plain",
                    name.escape_debug()
                ),
            )),
        }
    }
}

/// Layer that applies [`WithMode`]. See the [module docs](self).
#[derive(Clone, Debug)]
#[must_use]
pub struct ModeLayer {
    tools: Tools,
}

impl ModeLayer {
    /// Shows operations in this mode.
    pub fn new(mode: Mode) -> Self {
        let tools = match mode {
            Mode::Compact(compact) => Tools::Compact(Arc::new(CompactTools::new(compact))),
            Mode::Direct => Tools::Direct(Arc::default()),
            Mode::Plain => Tools::Plain(Arc::default()),
        };
        Self { tools }
    }
}

impl<S> Layer<S> for ModeLayer {
    type Service = WithMode<S>;

    fn layer(&self, inner: S) -> WithMode<S> {
        WithMode {
            inner,
            tools: self.tools.clone(),
        }
    }
}

/// Middleware that shows operations as tools. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct WithMode<S> {
    inner: S,
    tools: Tools,
}

/// What a mode keeps between requests.
#[derive(Clone, Debug)]
enum Tools {
    Compact(Arc<CompactTools>),
    Direct(Arc<DirectTools>),
    Plain(Arc<PlainTools>),
}

/// What becomes of a request.
enum Turned {
    /// It is passed on, maybe as an internal one, and its answer is shown.
    Asked(Envelope, Asked),
    /// It is answered here.
    Answered(Reply),
}

/// What was asked of the core.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// For a page of operations.
    Page,
    /// For one operation, or for some that match.
    Operation,
}

impl Tools {
    fn turn(&self, envelope: Envelope) -> Turned {
        let listing = *envelope.method() == Method::TOOLS_LIST;
        match self {
            Self::Compact(tools) if listing => Turned::Answered(tools.list(&envelope)),
            Self::Compact(_) => compact::turn(envelope),
            Self::Direct(_) if listing => browse(envelope, direct::PAGE),
            Self::Plain(_) if listing => browse(envelope, plain::PAGE),
            Self::Direct(_) | Self::Plain(_) => invoke(envelope),
        }
    }

    fn show(&self, reply: Reply, asked: Asked, features: Features) -> Reply {
        match (self, asked) {
            (Self::Direct(tools), Asked::Page) => tools.show_page(reply, features),
            (Self::Plain(tools), Asked::Page) => tools.show_page(reply, features),
            (Self::Direct(_), _) => direct::show_call(reply, features),
            (Self::Plain(_), _) => plain::show_call(reply, features),
            (Self::Compact(_), _) => compact::show(reply, features),
        }
    }
}

/// Asks for a page of operations.
fn browse(envelope: Envelope, most: usize) -> Turned {
    let cursor = envelope.param("cursor");
    let target = Target::Page { cursor, most };
    Turned::Asked(envelope.retarget(Method::BROWSE, target), Asked::Page)
}

/// Asks for the operation a tool stands for. That a call names no tool is found by the core, after
/// it has found that there are tools.
fn invoke(envelope: Envelope) -> Turned {
    let target = Target::Operation {
        name: envelope.param("name").unwrap_or_else(RawJson::null),
        arguments: envelope.param("arguments"),
        native: true,
    };
    Turned::Asked(envelope.retarget(Method::INVOKE, target), Asked::Operation)
}

/// Absent and hidden tools look the same.
fn unknown_tool() -> Reply {
    Error::invalid_params("unknown tool").into()
}

impl<S: Service<Envelope, Response = Reply>> Service<Envelope> for WithMode<S> {
    type Response = Reply;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, envelope: Envelope) -> ResponseFuture<S::Future> {
        let features = envelope.features();
        let shown = matches!(*envelope.method(), Method::TOOLS_LIST | Method::TOOLS_CALL);
        let kind = if shown && envelope.request_id().is_some() {
            match self.tools.turn(envelope) {
                Turned::Asked(envelope, asked) => Kind::Shown {
                    inner: self.inner.call(envelope),
                    tools: self.tools.clone(),
                    asked,
                    features,
                },
                Turned::Answered(reply) => Kind::Answered { reply: Some(reply) },
            }
        } else {
            Kind::Untouched {
                inner: self.inner.call(envelope),
            }
        };
        ResponseFuture { kind }
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
        Shown {
            #[pin]
            inner: F,
            tools: Tools,
            asked: Asked,
            features: Features,
        },
        Answered { reply: Option<Reply> },
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
            KindProjected::Shown {
                inner,
                tools,
                asked,
                features,
            } => {
                let reply = ready!(inner.poll(cx))?;
                Poll::Ready(Ok(tools.show(reply, *asked, *features)))
            }
            KindProjected::Answered { reply } => {
                Poll::Ready(Ok(reply.take().unwrap_or_else(Reply::accepted)))
            }
        }
    }
}

opaque_debug!(ResponseFuture<F>);

#[cfg(test)]
mod tests;
