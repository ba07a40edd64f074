//! Every layer alone over something trivial, user layers in the standard stack, and whole stacks.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use pin_project_lite::pin_project;
use portcullis::layers::{
    AppsLayer, Body, CatchPanicLayer, DuplicateKeysLayer, EnvelopeLayer, EraseLayer, Erased,
    IngressLayer, Mode, ModeLayer, Next, OriginLayer, Posted, PreflightLayer, RescueLayer,
    StreamableHttpLayer, TraceLayer, erase, from_fn,
};
use portcullis::service::{
    Apps, Envelope, FrameService, Inbound, Limits, MessageService, Outbound, Reply, Session,
};
use portcullis::wire::{Frame, Implementation, Method};
use portcullis::{FrameCore, Gate, MessageCore, OperationCore, Stack};
use serde_json::{Value, json};
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::{BoxError, Layer, Service, ServiceBuilder, ServiceExt as _, service_fn};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;

use super::calls::{self, Era, envelope, inbound, native, posted, registry, request, shown};
use super::meter::{Meter, check};

/// Measures all of it.
pub(crate) fn measure(meter: &mut impl Meter) {
    whole_stacks(meter);
    user_layers(meter);
    message_layers(meter);
    frame_layers(meter);
    http_layers(meter);
    subscribed(meter);
}

/// One call of a small echo through everything, and the least that could answer it.
fn whole_stacks(meter: &mut impl Meter) {
    let gate = plain(Stack::new(registry(3)));
    let operation = calls::name(1);
    for (era, group) in [(Era::Modern, "call/modern"), (Era::Legacy, "call/legacy")] {
        let message = calls::message(era, "tools/call", &native(&operation));
        let bytes = Bytes::copy_from_slice(message.as_bytes());
        let naive = service_fn(|bytes: Bytes| ready(naive(&bytes)));
        let frames = Frames::new(&gate, era);
        let scanned = frames.clone();
        let scanned = service_fn(move |frame| scanned.call(frame));
        let frame = calls::frame(&message);
        let frames = service_fn(move |bytes: Bytes| frames.call(calls::scan(bytes.to_vec())));
        let post = posted(era, &message, &operation);
        meter.group(group);
        meter.calls("naive_value", naive, bytes.clone());
        meter.calls("frames_scanned", scanned, frame);
        meter.calls("frames", frames, bytes);
        meter.calls("http", collected(&gate), post);
    }
}

/// The frame plane as a transport uses it.
#[derive(Clone)]
struct Frames {
    stack: Erased,
    session: Option<Session>,
}

impl Frames {
    /// Opens with a handshake, where the era has one.
    fn new(gate: &Gate, era: Era) -> Self {
        let session = (era == Era::Legacy).then(Session::new);
        let stack = gate.frames();
        let frames = Self { stack, session };
        if era == Era::Legacy {
            let hello = calls::message(era, "initialize", calls::HANDSHAKE);
            let mut service = service_fn(|frame| frames.call(frame));
            check("the handshake", &mut service, calls::frame(&hello));
        }
        frames
    }

    fn call(&self, frame: Frame) -> erase::ResponseFuture {
        let mut inbound = Inbound::new(frame);
        inbound.session.clone_from(&self.session);
        self.stack.clone().call(inbound)
    }
}

/// The HTTP service, whose answers are read to the end.
fn collected(
    gate: &Gate,
) -> impl Service<Request<Full<Bytes>>, Response = Bytes, Error = BoxError> {
    let http = gate.http();
    service_fn(move |request| {
        let response = http.clone().oneshot(request);
        async move {
            let Ok(response) = response.await;
            let body = response.into_body().collect().await?;
            Ok::<_, BoxError>(body.to_bytes())
        }
    })
}

/// What a handler without a library does: a tree, two look-ups, another tree.
fn naive(bytes: &[u8]) -> Result<Bytes, serde_json::Error> {
    let message: Value = serde_json::from_slice(bytes)?;
    let params = &message["params"];
    let known = message["method"] == "tools/call" && params["name"] == "echo_00001";
    assert!(known, "the one operation there is");
    let text = &params["arguments"]["text"];
    let reply = serde_json::to_vec(&json!({
        "jsonrpc": "2.0",
        "id": message["id"],
        "result": { "content": [{ "type": "text", "text": text }] },
    }));
    reply.map(Bytes::from)
}

/// The same call through the message and frame planes, with layers of the user's in between.
fn user_layers(meter: &mut impl Meter) {
    let stack = || Stack::new(registry(3));
    let pass = from_fn(|call: Envelope, next: Next| next.run(call));
    let none = plain(stack());
    let one = plain(stack().layer(PassLayer));
    let four = stack().layer(PassLayer).layer(PassLayer);
    let four = four.layer(PassLayer).layer(PassLayer);
    let eight = stack().layer(PassLayer).layer(PassLayer);
    let eight = eight.layer(PassLayer).layer(PassLayer);
    let eight = eight.layer(PassLayer).layer(PassLayer);
    let eight = plain(eight.layer(PassLayer).layer(PassLayer));
    let gates = [
        ("0", none),
        ("1", one),
        ("4", plain(four)),
        ("8", eight),
        ("from_fn_1", plain(stack().layer(pass))),
        (
            "from_fn_4",
            plain(stack().layer(pass).layer(pass).layer(pass).layer(pass)),
        ),
    ];
    let message = calls::message(Era::Modern, "tools/call", &native(&calls::name(1)));
    meter.group("layer/user");
    for (name, gate) in gates {
        let frames = Frames::new(&gate, Era::Modern);
        let service = service_fn(move |frame| frames.call(frame));
        meter.calls(name, service, calls::frame(&message));
    }
}

fn plain<M, O>(stack: Stack<M, O>) -> Gate
where
    O: Layer<OperationCore, Service: MessageService>,
    M: Layer<MessageCore<O::Service>, Service: MessageService>,
    FrameCore<M::Service>: FrameService,
{
    stack
        .mode(Mode::Plain)
        .build()
        .expect("the stack is in order")
}

/// Each layer of the message plane over a service that answers nothing.
fn message_layers(meter: &mut impl Meter) {
    let none = service_fn(take_message);
    let limits = Limits::default();
    let call = |params: &str| envelope(Era::Modern, Method::TOOLS_CALL, params);
    let native = call(&native(&calls::name(1)));
    let wrapped = call(&shown(&Mode::default(), &calls::name(1)));
    let apps = Apps::new("ui://bench/shell", "<!doctype html>").expect("the shell is in order");
    let apps = AppsLayer::new(apps, &limits).expect("the shell fits");
    let shed = ServiceBuilder::new()
        .layer(LoadShedLayer::new())
        .layer(ConcurrencyLimitLayer::new(1024));
    let pass = from_fn(|call, next: Next| next.run(call));
    meter.group("layer/message");
    meter.calls("none", none, native.clone());
    meter.calls("rescue", RescueLayer::new().layer(none), native.clone());
    meter.calls(
        "catch_panic",
        CatchPanicLayer::new().layer(none),
        native.clone(),
    );
    meter.calls("trace", TraceLayer::new().layer(none), native.clone());
    meter.calls("shed_and_limit", shed.service(none), native.clone());
    meter.calls("from_fn", pass.layer(none), native.clone());
    meter.calls(
        "preflight",
        PreflightLayer::new(&limits).layer(none),
        native.clone(),
    );
    meter.calls("apps", apps.layer(none), native.clone());
    meter.calls(
        "mode_plain",
        ModeLayer::new(Mode::Plain).layer(none),
        native.clone(),
    );
    meter.calls(
        "mode_direct",
        ModeLayer::new(Mode::Direct).layer(none),
        native,
    );
    meter.calls(
        "mode_compact",
        ModeLayer::new(Mode::default()).layer(none),
        wrapped,
    );
}

/// The same on the frame plane. The envelope layer decodes a message and encodes that there is no
/// answer to it.
fn frame_layers(meter: &mut impl Meter) {
    let none = service_fn(take_frame);
    let identity = Implementation::new("bench", "1.0.0");
    let envelopes = EnvelopeLayer::new(&identity).expect("the identity is short");
    let params = native(&calls::name(1));
    let modern = inbound(&calls::message(Era::Modern, "tools/call", &params));
    let mut legacy = inbound(&calls::message(Era::Legacy, "tools/call", &params));
    legacy.session = Frames::new(&plain(Stack::new(registry(1))), Era::Legacy).session;
    meter.group("layer/frame");
    meter.calls("none", none, modern.clone());
    meter.calls("rescue", RescueLayer::new().layer(none), modern.clone());
    meter.calls(
        "duplicate_keys",
        DuplicateKeysLayer::new().layer(none),
        modern.clone(),
    );
    meter.calls("erase", EraseLayer::new().layer(none), modern.clone());
    let envelopes = envelopes.layer(service_fn(take_message));
    meter.calls("envelope_modern", envelopes.clone(), modern);
    meter.calls("envelope_legacy", envelopes, legacy);
}

/// The same on the HTTP plane, and at its bottom.
fn http_layers(meter: &mut impl Meter) {
    let none = service_fn(take_request);
    let limits = Limits::default();
    let operation = calls::name(1);
    let message = calls::message(Era::Modern, "tools/call", &native(&operation));
    let post = posted(Era::Modern, &message, &operation);
    let ingress = IngressLayer::new(&limits);
    meter.group("layer/http");
    meter.calls("none", none, post.clone());
    meter.calls("rescue", RescueLayer::new().layer(none), post.clone());
    meter.calls("origin", OriginLayer::new().layer(none), post.clone());
    meter.calls("ingress", ingress.layer(service_fn(take_posted)), post);

    let posted = Posted::Frame(calls::frame(&message));
    let post = request(Era::Modern, "tools/call", &operation, posted);
    let bridge = StreamableHttpLayer::new(&limits);
    meter.group("layer/bridge");
    meter.calls("none", service_fn(take_posted), post.clone());
    meter.calls(
        "streamable_http",
        bridge.layer(service_fn(take_frame)),
        post,
    );
}

/// What tracing costs when somebody listens. It stands last: who listened once is remembered by the
/// call sites.
fn subscribed(meter: &mut impl Meter) {
    let gate = plain(Stack::new(registry(3)));
    let operation = calls::name(1);
    let params = native(&operation);
    let call = envelope(Era::Modern, Method::TOOLS_CALL, &params);
    let message = calls::message(Era::Modern, "tools/call", &params);
    let post = posted(Era::Modern, &message, &operation);
    let trace = TraceLayer::new().layer(service_fn(take_message));
    let subscriber = || tracing_subscriber::registry().with(LevelFilter::INFO);
    meter.group("traced/layer");
    meter.calls("nobody_listens", trace.clone(), call.clone());
    tracing::subscriber::with_default(subscriber(), || {
        meter.calls("info", trace, call);
    });
    meter.group("traced/http");
    meter.calls("nobody_listens", collected(&gate), post.clone());
    tracing::subscriber::with_default(subscriber(), || {
        meter.calls("info", collected(&gate), post);
    });
}

fn take_message(_: Envelope) -> Ready<Result<Reply, Infallible>> {
    ready(Ok(Reply::accepted()))
}

fn take_frame(_: Inbound) -> Ready<Result<Outbound, Infallible>> {
    ready(Ok(Outbound::accepted()))
}

fn take_request(_: Request<Full<Bytes>>) -> Ready<Result<Response<Body>, Infallible>> {
    ready(Ok(Response::new(Body::empty())))
}

fn take_posted(_: Request<Posted>) -> Ready<Result<Response<Body>, Infallible>> {
    ready(Ok(Response::new(Body::empty())))
}

/// A layer as users write them: it changes nothing, and has a future of its own.
#[derive(Clone, Copy, Debug)]
struct PassLayer;

#[derive(Clone, Debug)]
struct Pass<S> {
    inner: S,
}

impl<S> Layer<S> for PassLayer {
    type Service = Pass<S>;

    fn layer(&self, inner: S) -> Pass<S> {
        Pass { inner }
    }
}

impl<S: Service<Envelope, Response = Reply>> Service<Envelope> for Pass<S> {
    type Response = Reply;
    type Error = S::Error;
    type Future = PassFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, call: Envelope) -> Self::Future {
        PassFuture {
            inner: self.inner.call(call),
        }
    }
}

pin_project! {
    #[derive(Debug)]
    struct PassFuture<F> {
        #[pin]
        inner: F,
    }
}

impl<F: Future> Future for PassFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().inner.poll(cx)
    }
}
