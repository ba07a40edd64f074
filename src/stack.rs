//! The standard assembly: every layer in its place, on one page.
//!
//! ```
//! use portcullis::{Operation, Registry, Stack};
//!
//! let registry = Registry::builder()
//!     .operation(Operation::new("hi").handler(|| async { "hello" }))
//!     .build()?;
//! let gate = Stack::new(registry).identity("greeter", "1.0.0").build()?;
//! assert!(gate.describe().contains("duplicate_keys"));
//! # Ok::<(), portcullis::ConfigError>(())
//! ```

use std::any::type_name;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use tower::layer::util::{Identity, Stack as Layers};
use tower::limit::{ConcurrencyLimit, ConcurrencyLimitLayer};
use tower::load_shed::{LoadShed, LoadShedLayer};
use tower::util::Either;
use tower::{Layer, ServiceBuilder};

use crate::layers::apps::WithApps;
use crate::layers::catch_panic::CatchPanic;
use crate::layers::duplicate_keys::DuplicateKeys;
use crate::layers::envelope::Envelopes;
use crate::layers::mode::WithMode;
use crate::layers::preflight::Preflight;
use crate::layers::rescue::Rescue;
use crate::layers::trace::Trace;
use crate::layers::wait::Wait;
use crate::layers::{
    AppsLayer, CatchPanicLayer, DuplicateKeysLayer, EnvelopeLayer, EraseLayer, Erased, Mode,
    ModeLayer, PreflightLayer, RescueLayer, TraceLayer, WaitLayer,
};
#[cfg(feature = "http")]
use crate::layers::{IngressLayer, OriginLayer, StreamableHttpLayer};
use crate::service::{
    Apps, ConfigError, FrameService, Limits, McpService, MessageService, Registry, Secret, count,
};
#[cfg(feature = "stdio")]
use crate::transport::Stdio;
#[cfg(feature = "http")]
use crate::transport::{Http, HttpCore};
use crate::wire::{Budget, Implementation, Versions};

/// What layers that see operations stand on.
pub type OperationCore = CatchPanic<McpService>;

/// What layers that see whole calls stand on.
pub type MessageCore<O> = Preflight<Either<WithApps<WithMode<O>>, WithMode<O>>>;

/// What layers that see frames stand on.
pub type FrameCore<M> =
    DuplicateKeys<Envelopes<Rescue<CatchPanic<Trace<LoadShed<ConcurrencyLimit<Wait<M>>>>>>>>;

/// Collects what a server is made of; [`build`](Self::build) puts it together.
///
/// Settings that hold one value can be given once; layers and hosts add up. On each plane the layer
/// added first is outermost.
#[must_use = "a stack does nothing until it is built"]
pub struct Stack<M = Identity, O = Identity, F = Identity, H = Identity> {
    settings: Settings,
    message_layers: M,
    operation_layers: O,
    frame_layers: F,
    http_layers: H,
}

#[derive(Debug)]
struct Settings {
    registry: Registry,
    identity: Option<Implementation>,
    instructions: Option<String>,
    versions: Option<Versions>,
    secret: Option<Secret>,
    mode: Option<Mode>,
    apps: Option<Apps>,
    limits: Option<Limits>,
    #[cfg(feature = "http")]
    origin: OriginLayer,
    errors: Vec<ConfigError>,
}

impl Stack {
    /// A stack over a registry, with every setting at its default.
    pub fn new(registry: Registry) -> Self {
        Self {
            settings: Settings {
                registry,
                identity: None,
                instructions: None,
                versions: None,
                secret: None,
                mode: None,
                apps: None,
                limits: None,
                #[cfg(feature = "http")]
                origin: OriginLayer::new(),
                errors: Vec::new(),
            },
            message_layers: Identity::new(),
            operation_layers: Identity::new(),
            frame_layers: Identity::new(),
            http_layers: Identity::new(),
        }
    }
}

impl<M, O, F, H> Stack<M, O, F, H> {
    /// Who the server is. Without it, `mcp` `unreleased`.
    pub fn identity(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.implementation(Implementation::new(name, version))
    }

    /// Who the server is, with everything there is to say about it.
    pub fn implementation(mut self, identity: Implementation) -> Self {
        self.settings
            .once("identity", |it| &mut it.identity, identity);
        self
    }

    /// What a model should know about the server as a whole.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.settings.once(
            "instructions",
            |it| &mut it.instructions,
            instructions.into(),
        );
        self
    }

    /// Which versions of the protocol are spoken. All of them by default.
    ///
    /// ```
    /// use portcullis::wire::{ProtocolVersion, Versions};
    /// # use portcullis::{Registry, Stack};
    ///
    /// # let registry = Registry::builder().build()?;
    /// // No handshake: clients that open with one are told which versions there are.
    /// let gate = Stack::new(registry)
    ///     .versions(Versions::new([ProtocolVersion::July2026]))
    ///     .build()?;
    /// assert!(!gate.describe().contains("2025-11-25"));
    /// # Ok::<(), portcullis::ConfigError>(())
    /// ```
    pub fn versions(mut self, versions: Versions) -> Self {
        self.settings
            .once("versions", |it| &mut it.versions, versions);
        self
    }

    /// What cursors are signed with. Without it, something random that holds for this process.
    pub fn secret(mut self, secret: Secret) -> Self {
        self.settings.once("secret", |it| &mut it.secret, secret);
        self
    }

    /// How operations are shown as tools.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.once("mode", |it| &mut it.mode, mode);
        self
    }

    /// Mounts the Apps shell. It belongs to compact mode.
    pub fn apps(mut self, apps: Apps) -> Self {
        self.settings.once("apps", |it| &mut it.apps, apps);
        self
    }

    /// Bounds other than the default ones.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.once("limits", |it| &mut it.limits, limits);
        self
    }

    /// Adds a layer on the message plane: it sees whole calls, as clients make them.
    pub fn layer<L>(self, layer: L) -> Stack<Layers<L, M>, O, F, H> {
        Stack {
            settings: self.settings,
            message_layers: Layers::new(layer, self.message_layers),
            operation_layers: self.operation_layers,
            frame_layers: self.frame_layers,
            http_layers: self.http_layers,
        }
    }

    /// Adds a layer below the mode: it sees operations, whatever they are shown as.
    pub fn operation_layer<L>(self, layer: L) -> Stack<M, Layers<L, O>, F, H> {
        Stack {
            settings: self.settings,
            message_layers: self.message_layers,
            operation_layers: Layers::new(layer, self.operation_layers),
            frame_layers: self.frame_layers,
            http_layers: self.http_layers,
        }
    }

    /// Adds a layer on the frame plane: it sees scanned messages and encoded answers.
    pub fn layer_frame<L>(self, layer: L) -> Stack<M, O, Layers<L, F>, H> {
        Stack {
            settings: self.settings,
            message_layers: self.message_layers,
            operation_layers: self.operation_layers,
            frame_layers: Layers::new(layer, self.frame_layers),
            http_layers: self.http_layers,
        }
    }

    /// Adds a layer on the HTTP plane: it sees requests and responses, up to the response head.
    #[cfg(feature = "http")]
    pub fn layer_http<L>(self, layer: L) -> Stack<M, O, F, Layers<L, H>> {
        Stack {
            settings: self.settings,
            message_layers: self.message_layers,
            operation_layers: self.operation_layers,
            frame_layers: self.frame_layers,
            http_layers: Layers::new(layer, self.http_layers),
        }
    }

    /// Puts everything together.
    ///
    /// # Errors
    ///
    /// The first setting that cannot be.
    ///
    /// # Panics
    ///
    /// With a layer that spawns a task when it is applied, such as `tower`'s buffer, if this is not
    /// called inside a runtime.
    pub fn build(self) -> Result<Gate<H>, ConfigError>
    where
        O: Layer<OperationCore, Service: MessageService>,
        M: Layer<MessageCore<O::Service>, Service: MessageService>,
        F: Layer<FrameCore<M::Service>, Service: FrameService>,
    {
        let settings = self.settings.checked()?;
        let description = describe::<M, O, F, H>(&settings);
        let mut core = McpService::builder(settings.registry)
            .identity(settings.identity.clone())
            .versions(settings.versions);
        if let Some(instructions) = settings.instructions {
            core = core.instructions(instructions);
        }
        if let Some(secret) = settings.secret {
            core = core.secret(secret);
        }
        let mut shell = None;
        if let Mode::Compact(compact) = &settings.mode {
            core = core.always_tools();
            if let Some(apps) = compact.shell() {
                core = core.shell();
                shell = Some(AppsLayer::new(apps.clone(), &settings.limits)?);
            }
        }

        // Below the mode: what sees operations.
        let operations = ServiceBuilder::new()
            .layer(self.operation_layers)
            // Directly over the core, so that no layer above has to survive a handler's panic.
            .layer(CatchPanicLayer::new())
            .service(core.build()?);
        let messages = ServiceBuilder::new()
            // Outermost: whatever goes wrong below becomes a reply.
            .layer(RescueLayer::new())
            .layer(CatchPanicLayer::new())
            // Above the limits, so that time spent waiting for them counts.
            .layer(TraceLayer::new())
            // Shedding stands directly over the limit it sheds for.
            .layer(LoadShedLayer::new())
            .layer(ConcurrencyLimitLayer::new(count(settings.limits.calls)))
            // Limits among the layers below are waited for, not shed for.
            .layer(WaitLayer::new())
            // The application's own, which see calls as clients make them.
            .layer(self.message_layers)
            // Measures whatever the layers below have made.
            .layer(PreflightLayer::new(&settings.limits))
            .option_layer(shell)
            // Above what sees operations, below what sees calls.
            .layer(ModeLayer::new(settings.mode.clone()))
            .service(operations);
        let frames = ServiceBuilder::new()
            .layer(self.frame_layers)
            // Everything below may take names to be unique.
            .layer(DuplicateKeysLayer::new())
            // The bottom of the frame plane: decodes on the way in, encodes on the way out.
            .layer(
                EnvelopeLayer::new(&settings.identity)?
                    .shape(settings.mode.shape())
                    .versions(settings.versions),
            )
            .service(messages);
        Ok(Gate {
            // One stack for all transports, so that its limits hold across them.
            frames: EraseLayer::new().layer(frames),
            limits: settings.limits,
            budget: settings.limits.budget(),
            #[cfg(feature = "http")]
            origin: settings.origin,
            http_layers: Arc::new(self.http_layers),
            description: description.into(),
        })
    }
}

#[cfg(feature = "http")]
impl<M, O, F, H> Stack<M, O, F, H> {
    /// Says under which URL clients reach the server: its host and origin are allowed, and the
    /// loopback names no longer.
    pub fn public_url(mut self, url: &str) -> Self {
        self.settings.origin(|origin| origin.public_url(url));
        self
    }

    /// Allows hosts, and the loopback names no longer. Each may say a port.
    pub fn allow_hosts<'a>(mut self, hosts: impl IntoIterator<Item = &'a str>) -> Self {
        for host in hosts {
            self.settings.origin(|origin| origin.allow_host(host));
        }
        self
    }

    /// Allows origins, and those of the allowed hosts no longer.
    pub fn allow_origins<'a>(mut self, origins: impl IntoIterator<Item = &'a str>) -> Self {
        for allowed in origins {
            self.settings.origin(|origin| origin.allow_origin(allowed));
        }
        self
    }

    /// Lets every host pass. See [`OriginLayer::insecure_any_host`].
    pub fn insecure_any_host(mut self) -> Self {
        self.settings
            .origin(|origin| Ok(origin.insecure_any_host()));
        self
    }

    /// Lets every origin pass. See [`OriginLayer::insecure_any_origin`].
    pub fn insecure_any_origin(mut self) -> Self {
        self.settings
            .origin(|origin| Ok(origin.insecure_any_origin()));
        self
    }
}

/// Settings that were checked.
struct Checked {
    registry: Registry,
    identity: Implementation,
    instructions: Option<String>,
    versions: Versions,
    secret: Option<Secret>,
    mode: Mode,
    limits: Limits,
    #[cfg(feature = "http")]
    origin: OriginLayer,
}

impl Settings {
    /// Sets something that can be set once.
    fn once<T>(&mut self, name: &'static str, slot: fn(&mut Self) -> &mut Option<T>, value: T) {
        if slot(self).replace(value).is_some() {
            self.errors.push(ConfigError::new(name, "is set twice"));
        }
    }

    #[cfg(feature = "http")]
    fn origin(&mut self, change: impl FnOnce(OriginLayer) -> Result<OriginLayer, ConfigError>) {
        match change(self.origin.clone()) {
            Ok(origin) => self.origin = origin,
            Err(error) => self.errors.push(error),
        }
    }

    fn checked(self) -> Result<Checked, ConfigError> {
        if let Some(error) = self.errors.into_iter().next() {
            return Err(error);
        }
        let limits = self.limits.unwrap_or_default();
        limits.check()?;
        let versions = self.versions.unwrap_or_default();
        if versions.iter().next().is_none() {
            return Err(ConfigError::new("versions", "there must be at least one"));
        }
        let mode = match (self.mode.unwrap_or_default(), self.apps) {
            (mode, None) => mode,
            (Mode::Compact(compact), Some(apps)) => match compact.shell() {
                None => Mode::Compact(compact.apps(apps)),
                Some(_) => return Err(ConfigError::new("apps", "is set twice")),
            },
            (mode, Some(_)) => {
                let problem = format!(
                    "the shell belongs to compact mode, and the mode is {}",
                    mode.name()
                );
                return Err(ConfigError::new("apps", problem));
            }
        };
        Ok(Checked {
            registry: self.registry,
            identity: self
                .identity
                .unwrap_or_else(|| Implementation::new("mcp", "unreleased")),
            instructions: self.instructions,
            versions,
            secret: self.secret,
            mode,
            limits,
            #[cfg(feature = "http")]
            origin: self.origin,
        })
    }
}

/// A server: one stack, reachable over HTTP, stdio and in process. Cloning shares it.
#[derive(Clone)]
pub struct Gate<H = Identity> {
    frames: Erased,
    limits: Limits,
    /// What messages on their way in share, however they come.
    budget: Budget,
    #[cfg(feature = "http")]
    origin: OriginLayer,
    http_layers: Arc<H>,
    description: Arc<str>,
}

impl<H> Gate<H> {
    /// The stack as a service of HTTP requests.
    ///
    /// Layers of the HTTP plane are applied anew each time, so a limit among them is shared by the
    /// clones of one such service. Everything below is one stack, whoever asks for it.
    #[cfg(feature = "http")]
    pub fn http(&self) -> Http<H::Service>
    where
        H: Layer<HttpCore>,
    {
        self.log();
        let core = ServiceBuilder::new()
            // Outermost: nothing is done for a request that is not meant for this server.
            .layer(self.origin.clone())
            // Reads the message; what stands above never sees a body.
            .layer(IngressLayer::new(&self.limits).within(&self.budget))
            .layer(StreamableHttpLayer::new(&self.limits))
            .service(self.frames.clone());
        Http::new(self.http_layers.layer(core), self.origin.is_loopback_only())
    }

    /// The stack over the process's own input and output.
    #[cfg(feature = "stdio")]
    pub fn stdio(&self) -> Stdio {
        self.log();
        Stdio::new(self.frames.clone(), self.limits).within(&self.budget)
    }

    /// The stack as a service of frames, which every transport shares.
    pub fn frames(&self) -> Erased {
        self.frames.clone()
    }

    /// What the server is made of: layers from the outside in, bounds, mode and versions.
    pub fn describe(&self) -> &str {
        &self.description
    }

    fn log(&self) {
        tracing::info!(target: "portcullis::stack", "{}", self.description);
    }
}

fn describe<M, O, F, H>(settings: &Checked) -> String {
    let identity = &settings.identity;
    let mut out = format!("{} {}\n", identity.name(), identity.version());
    let own = |kind: &str, layers: &str| match layers {
        name if name == type_name::<Identity>() => String::new(),
        name => format!(" [{kind}: {}]", short(name)),
    };
    let _ = writeln!(
        out,
        "http:     rescue{} origin, ingress, streamable_http",
        own("layer_http", type_name::<H>())
    );
    let _ = writeln!(
        out,
        "frames:   rescue{} duplicate_keys, envelope",
        own("layer_frame", type_name::<F>())
    );
    let _ = writeln!(
        out,
        "messages: rescue, catch_panic, trace, load_shed, concurrency_limit({}), wait{} preflight, mode({}){} catch_panic, core",
        settings.limits.calls,
        own("layer", type_name::<M>()),
        settings.mode.name(),
        own("operation_layer", type_name::<O>()),
    );
    let _ = writeln!(out, "versions: {}", settings.versions);
    let _ = write!(out, "limits:   {:?}", settings.limits);
    out
}

/// Type names without the paths of their modules.
fn short(name: &str) -> String {
    let mut out = String::new();
    for word in name.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_' && c != ':') {
        out.push_str(word.rsplit("::").next().unwrap_or(word));
    }
    out
}

impl<M, O, F, H> fmt::Debug for Stack<M, O, F, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<H> fmt::Debug for Gate<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.description).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::Operation;

    fn registry() -> Registry {
        Registry::builder().build().unwrap()
    }

    /// Contract: S-001, S-002, S-007, M-116.
    #[test]
    fn building_needs_no_runtime_and_reports_settings_by_name() {
        assert!(Stack::new(registry()).build().is_ok());
        let twice = Stack::new(registry())
            .mode(Mode::Plain)
            .mode(Mode::Plain)
            .build();
        assert_eq!(twice.unwrap_err().setting(), "mode");
        let zero = Stack::new(registry())
            .limits(Limits::default().calls(0))
            .build();
        assert_eq!(zero.unwrap_err().setting(), "calls");
        let host = Stack::new(registry()).allow_hosts(["a b"]).build();
        assert_eq!(host.unwrap_err().setting(), "allow_host");
    }

    /// Contract: S-160, S-161, S-162, S-163.
    #[test]
    fn the_shell_belongs_to_compact_mode_whatever_is_said_first() {
        let apps = || Apps::new("ui://a/shell", "<!doctype html>").unwrap();
        let stack = || Stack::new(registry());
        assert!(stack().apps(apps()).build().is_ok());
        assert!(stack().mode(Mode::default()).apps(apps()).build().is_ok());
        for mode in [Mode::Direct, Mode::Plain] {
            let before = stack().mode(mode.clone()).apps(apps()).build();
            let after = stack().apps(apps()).mode(mode).build();
            assert_eq!(before.unwrap_err().setting(), "apps");
            assert_eq!(after.unwrap_err().setting(), "apps");
        }
        let twice = Mode::Compact(crate::layers::Compact::new().apps(apps()));
        assert_eq!(
            stack()
                .mode(twice)
                .apps(apps())
                .build()
                .unwrap_err()
                .setting(),
            "apps"
        );
    }

    /// The server sheds load beyond its own limit only.
    #[tokio::test]
    async fn limits_of_the_application_are_waited_for() {
        let slow = Operation::new("slow").handler(|| async {
            tokio::task::yield_now().await;
            "done"
        });
        let registry = Registry::builder().operation(slow).build().unwrap();
        let gate = Stack::new(registry)
            .mode(Mode::Plain)
            .layer(ConcurrencyLimitLayer::new(1))
            .build()
            .unwrap();
        let client = crate::testing::Client::modern(&gate);
        let call = || client.call_tool("slow", "{}");
        let (one, other) = tokio::join!(call(), call());
        assert_eq!((one.text(), other.text()), ("done".into(), "done".into()));
    }

    #[test]
    fn description_names_layers_in_their_order() {
        let layer = tower::timeout::TimeoutLayer::new(std::time::Duration::from_secs(1));
        let gate = Stack::new(registry())
            .identity("s", "1")
            .layer(layer)
            .build()
            .unwrap();
        let text = gate.describe();
        assert!(
            text.contains("[layer: Stack<TimeoutLayer, Identity>] preflight, mode(compact)"),
            "{text}"
        );
        assert!(text.starts_with("s 1\n"), "{text}");
    }
}
