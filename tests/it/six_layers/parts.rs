//! The default stack put together by hand, with a slot for each of the six layers: what stands in one
//! can be left out or replaced, and everything else stays what `Stack` makes of it.

use http::Response;
use hyper::body::Incoming;
use portcullis::layers::catch_panic::CatchPanic;
use portcullis::layers::envelope::Envelopes;
use portcullis::layers::rescue::Rescue;
use portcullis::layers::streamable_http::StreamableHttp;
use portcullis::layers::trace::Trace;
use portcullis::layers::wait::Wait;
use portcullis::layers::{
    AppsLayer, Body, CatchPanicLayer, Compact, DuplicateKeysLayer, EnvelopeLayer, EraseLayer,
    Erased, IngressLayer, Mode, ModeLayer, OriginLayer, PreflightLayer, RescueLayer,
    StreamableHttpLayer, TraceLayer, WaitLayer,
};
use portcullis::service::{Apps, FrameService, Limits, McpService, MessageService};
use portcullis::wire::Implementation;
use portcullis::{OperationCore, Registry};
use tower::layer::util::Identity;
use tower::limit::{ConcurrencyLimit, ConcurrencyLimitLayer};
use tower::load_shed::{LoadShed, LoadShedLayer};
use tower::util::{Either, option_layer};
use tower::{BoxError, Layer, Service, ServiceBuilder};

use super::{NAME, secret};

/// A slot for each of the six. An `Identity` in a slot means that the layer is not there.
pub(super) struct Parts<
    O = OriginLayer,
    I = IngressLayer,
    D = DuplicateKeysLayer,
    P = PreflightLayer,
    A = Either<AppsLayer, Identity>,
    M = ModeLayer,
> {
    base: Base,
    origin: O,
    ingress: I,
    duplicate_keys: D,
    preflight: P,
    apps: A,
    mode: M,
}

/// What is none of the six.
struct Base {
    registry: Registry,
    limits: Limits,
    announces_apps: bool,
}

/// What the layers of the frame plane stand on.
type Messages<M> = Envelopes<Rescue<CatchPanic<Trace<LoadShed<ConcurrencyLimit<Wait<M>>>>>>>;

impl Parts {
    /// Nothing left out: what `Stack::new` makes, with this shell if there is one.
    pub(super) fn standard(registry: Registry, limits: Limits, apps: Option<Apps>) -> Self {
        let compact = match &apps {
            Some(apps) => Compact::new().apps(apps.clone()),
            None => Compact::new(),
        };
        Self {
            base: Base {
                registry,
                limits,
                announces_apps: apps.is_some(),
            },
            origin: OriginLayer::new(),
            ingress: IngressLayer::new(&limits),
            duplicate_keys: DuplicateKeysLayer::new(),
            preflight: PreflightLayer::new(&limits),
            apps: option_layer(apps.map(|apps| AppsLayer::new(apps, &limits).unwrap())),
            mode: ModeLayer::new(Mode::Compact(compact)),
        }
    }
}

/// Each puts another layer in its slot.
impl<O, I, D, P, A, M> Parts<O, I, D, P, A, M> {
    pub(super) fn origin<L>(self, origin: L) -> Parts<L, I, D, P, A, M> {
        let Self {
            base,
            ingress,
            duplicate_keys,
            preflight,
            apps,
            mode,
            ..
        } = self;
        Parts {
            base,
            origin,
            ingress,
            duplicate_keys,
            preflight,
            apps,
            mode,
        }
    }

    pub(super) fn ingress<L>(self, ingress: L) -> Parts<O, L, D, P, A, M> {
        let Self {
            base,
            origin,
            duplicate_keys,
            preflight,
            apps,
            mode,
            ..
        } = self;
        Parts {
            base,
            origin,
            ingress,
            duplicate_keys,
            preflight,
            apps,
            mode,
        }
    }

    pub(super) fn duplicate_keys<L>(self, duplicate_keys: L) -> Parts<O, I, L, P, A, M> {
        let Self {
            base,
            origin,
            ingress,
            preflight,
            apps,
            mode,
            ..
        } = self;
        Parts {
            base,
            origin,
            ingress,
            duplicate_keys,
            preflight,
            apps,
            mode,
        }
    }

    pub(super) fn preflight<L>(self, preflight: L) -> Parts<O, I, D, L, A, M> {
        let Self {
            base,
            origin,
            ingress,
            duplicate_keys,
            apps,
            mode,
            ..
        } = self;
        Parts {
            base,
            origin,
            ingress,
            duplicate_keys,
            preflight,
            apps,
            mode,
        }
    }

    pub(super) fn apps<L>(self, apps: L) -> Parts<O, I, D, P, L, M> {
        let Self {
            base,
            origin,
            ingress,
            duplicate_keys,
            preflight,
            mode,
            ..
        } = self;
        Parts {
            base,
            origin,
            ingress,
            duplicate_keys,
            preflight,
            apps,
            mode,
        }
    }

    pub(super) fn mode<L>(self, mode: L) -> Parts<O, I, D, P, A, L> {
        let Self {
            base,
            origin,
            ingress,
            duplicate_keys,
            preflight,
            apps,
            ..
        } = self;
        Parts {
            base,
            origin,
            ingress,
            duplicate_keys,
            preflight,
            apps,
            mode,
        }
    }
}

impl<O, I, D, P, A, M> Parts<O, I, D, P, A, M> {
    /// Everything below the HTTP plane, and what is needed for that.
    pub(super) fn frames(self) -> (Erased, O, I, Limits)
    where
        M: Layer<OperationCore, Service: MessageService>,
        A: Layer<M::Service, Service: MessageService>,
        P: Layer<A::Service, Service: MessageService>,
        D: Layer<Messages<P::Service>, Service: FrameService>,
    {
        let identity = Implementation::new(NAME, "0");
        let core = McpService::builder(self.base.registry)
            .identity(identity.clone())
            .secret(secret())
            .always_tools();
        let core = if self.base.announces_apps {
            core.shell()
        } else {
            core
        };
        let shape = Mode::default().shape();
        let frames = ServiceBuilder::new()
            .layer(EraseLayer::new())
            .layer(self.duplicate_keys)
            .layer(EnvelopeLayer::new(&identity).unwrap().shape(shape))
            .layer(RescueLayer::new())
            .layer(CatchPanicLayer::new())
            .layer(TraceLayer::new())
            .layer(LoadShedLayer::new())
            .layer(ConcurrencyLimitLayer::new(1024))
            .layer(WaitLayer::new())
            .layer(self.preflight)
            .layer(self.apps)
            .layer(self.mode)
            .layer(CatchPanicLayer::new())
            .service(core.build().unwrap());
        (frames, self.origin, self.ingress, self.base.limits)
    }

    /// The whole, as it is served on a socket.
    pub(super) fn http(self) -> Rescue<O::Service>
    where
        M: Layer<OperationCore, Service: MessageService>,
        A: Layer<M::Service, Service: MessageService>,
        P: Layer<A::Service, Service: MessageService>,
        D: Layer<Messages<P::Service>, Service: FrameService>,
        I: Layer<StreamableHttp<Erased>>,
        O: Layer<I::Service>,
        O::Service:
            Service<http::Request<Incoming>, Response = Response<Body>, Error: Into<BoxError>>,
    {
        let (frames, origin, ingress, limits) = self.frames();
        ServiceBuilder::new()
            .layer(RescueLayer::new())
            .layer(origin)
            .layer(ingress)
            .layer(StreamableHttpLayer::new(&limits))
            .service(frames)
    }
}
