//! The core: a `tower::Service` that answers envelopes from a registry.
//!
//! It knows no transport and no mode. What a client calls a tool reaches it as an internal method:
//! the mode layer above turns `tools/list` and `tools/call` into those, in every mode.
//!
//! ```
//! use portcullis::service::{Envelope, McpService, Registry};
//! use portcullis::wire::{Method, ProtocolVersion};
//! use tower::ServiceExt;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let core = McpService::builder(Registry::builder().build()?).build()?;
//! let ping = Envelope::new(Method::PING, ProtocolVersion::LATEST_LEGACY).id(1);
//! let reply = core.oneshot(ping).await.unwrap();
//! assert_eq!(reply.members(), Some(&b""[..]));
//! # Ok::<(), portcullis::service::ConfigError>(())
//! # }).unwrap();
//! ```

mod catalogue;
mod completion;
mod invoke;
mod lifecycle;
mod lists;
mod router;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower::Service;

use crate::wire::{Implementation, Versions};

use super::apps::Apps;
use super::config::ConfigError;
use super::context::{Envelope, Invoked, Outcome, Reply};
use super::handler::BoxFuture;
use super::pager::Pager;
use super::registry::Registry;
use super::secret::Secret;

use self::invoke::Running;

/// The core service. Cloning shares it.
#[derive(Clone)]
pub struct McpService {
    core: Arc<Core>,
}

/// Collects the settings of the core.
#[derive(Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct McpServiceBuilder {
    registry: Registry,
    identity: Implementation,
    instructions: Option<String>,
    versions: Versions,
    secret: Option<Secret>,
    always_tools: bool,
    always_resources: bool,
    extensions: Vec<(String, String)>,
}

struct Core {
    registry: Registry,
    identity: Implementation,
    instructions: Option<String>,
    versions: Versions,
    pager: Pager,
    always_tools: bool,
    always_resources: bool,
    extensions: Vec<(String, String)>,
}

impl McpService {
    /// The core over a registry.
    pub fn builder(registry: Registry) -> McpServiceBuilder {
        McpServiceBuilder {
            registry,
            identity: Implementation::new("mcp", "unreleased"),
            instructions: None,
            versions: Versions::default(),
            secret: None,
            always_tools: false,
            always_resources: false,
            extensions: Vec::new(),
        }
    }
}

impl McpServiceBuilder {
    /// Who the server is. Without it, `mcp` `unreleased`.
    pub fn identity(mut self, identity: Implementation) -> Self {
        self.identity = identity;
        self
    }

    /// What a model should know about the server as a whole.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Which versions discovery names. The [`EnvelopeLayer`](crate::layers::EnvelopeLayer) above
    /// decides which are spoken.
    pub fn versions(mut self, versions: Versions) -> Self {
        self.versions = versions;
        self
    }

    /// From what keys are derived. Without it, a random one that serves this process only.
    pub fn secret(mut self, secret: Secret) -> Self {
        self.secret = Some(secret);
        self
    }

    /// Says that there are tools even if there are no operations, as in compact mode.
    pub fn always_tools(mut self) -> Self {
        self.always_tools = true;
        self
    }

    /// Says that there are resources even if the registry has none: a layer above serves some.
    pub fn always_resources(mut self) -> Self {
        self.always_resources = true;
        self
    }

    /// Says that a layer above mounts the Apps shell: there are resources, and the extension is
    /// announced. [`AppsLayer`](crate::layers::AppsLayer) is that layer.
    pub fn shell(self) -> Self {
        self.always_resources().extension(Apps::EXTENSION, "{}")
    }

    /// Says that a layer above speaks an extension, with these settings: a JSON object.
    fn extension(mut self, id: &str, settings: &str) -> Self {
        self.extensions.push((id.to_owned(), settings.to_owned()));
        self
    }

    /// Builds the core.
    ///
    /// # Errors
    ///
    /// If no secret was given and the system has no randomness for one.
    pub fn build(self) -> Result<McpService, ConfigError> {
        let secret = match self.secret {
            Some(secret) => secret,
            None => Secret::random()?,
        };
        Ok(McpService {
            core: Arc::new(Core {
                registry: self.registry,
                identity: self.identity,
                instructions: self.instructions,
                versions: self.versions,
                pager: Pager::new(&secret),
                always_tools: self.always_tools,
                always_resources: self.always_resources,
                extensions: self.extensions,
            }),
        })
    }
}

impl Service<Envelope> for McpService {
    type Response = Reply;
    type Error = Infallible;
    type Future = ResponseFuture;

    /// The core is always ready: how much it may do at once is for layers to say.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, envelope: Envelope) -> ResponseFuture {
        ResponseFuture(self.core.route(envelope))
    }
}

/// The future of an [`McpService`].
pub struct ResponseFuture(Answer);

/// How a call is answered.
enum Answer {
    /// At once.
    Now(Option<Reply>),
    /// When an operation has run: the one box is that of its handler.
    Running(Running),
    /// When something else has run.
    Later(BoxFuture<Reply>),
}

impl Answer {
    fn now(reply: impl Into<Reply>) -> Self {
        Self::Now(Some(reply.into()))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Reply, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Answer::Now(reply) => Poll::Ready(Ok(reply.take().unwrap_or_else(Reply::accepted))),
            Answer::Running(running) => running
                .poll(cx)
                .map(|invoked: Invoked| Ok(Reply::new(Outcome::Invoked(invoked)))),
            Answer::Later(later) => later.as_mut().poll(cx).map(Ok),
        }
    }
}

impl fmt::Debug for McpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpService")
            .field("identity", &self.core.identity)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}
