//! Layers for tests: one that writes down what passes, one that insists on readiness, one that fails.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use portcullis::service::{Envelope, Reply};
use portcullis::wire::Method;
use tower::{BoxError, Layer, Service};

type BoxFuture<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// What was written down. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Takes what was written down so far.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

/// Writes down each message on its way in and each reply on its way out.
#[derive(Clone, Debug)]
pub(crate) struct Record<S = ()> {
    inner: S,
    name: &'static str,
    log: Log,
}

impl Record {
    pub(crate) fn new(name: &'static str, log: &Log) -> Self {
        Self {
            inner: (),
            name,
            log: log.clone(),
        }
    }
}

impl<S> Layer<S> for Record {
    type Service = Record<S>;

    fn layer(&self, inner: S) -> Record<S> {
        Record {
            inner,
            name: self.name,
            log: self.log.clone(),
        }
    }
}

impl<S> Service<Envelope> for Record<S>
where
    S: Service<Envelope, Response = Reply, Future: Send + 'static>,
{
    type Response = Reply;
    type Error = S::Error;
    type Future = BoxFuture<Reply, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, envelope: Envelope) -> Self::Future {
        let (name, log) = (self.name, self.log.clone());
        let method = envelope.method().clone();
        log.add(format!("> {name} {method}"));
        let call = self.inner.call(envelope);
        Box::pin(async move {
            let reply = call.await;
            log.add(format!("< {name} {method}"));
            reply
        })
    }
}

/// Insists on being ready before it is called; readiness is not copied.
#[derive(Debug, Default)]
pub(crate) struct Insist<S = ()> {
    inner: S,
    ready: bool,
    seen: Arc<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    calls: AtomicUsize,
    broken: AtomicUsize,
}

impl Insist {
    /// How often it was called, on all planes together.
    pub(crate) fn calls(&self) -> usize {
        self.seen.calls.load(Ordering::SeqCst)
    }

    /// How often it was called without being ready.
    pub(crate) fn broken(&self) -> usize {
        self.seen.broken.load(Ordering::SeqCst)
    }
}

impl<S: Clone> Clone for Insist<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            ready: false,
            seen: Arc::clone(&self.seen),
        }
    }
}

impl<S> Layer<S> for Insist {
    type Service = Insist<S>;

    fn layer(&self, inner: S) -> Insist<S> {
        Insist {
            inner,
            ready: false,
            seen: Arc::clone(&self.seen),
        }
    }
}

impl<S: Service<R>, R> Service<R> for Insist<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        let polled = self.inner.poll_ready(cx);
        self.ready = matches!(polled, Poll::Ready(Ok(())));
        polled
    }

    fn call(&mut self, request: R) -> S::Future {
        self.seen.calls.fetch_add(1, Ordering::SeqCst);
        if !std::mem::take(&mut self.ready) {
            self.seen.broken.fetch_add(1, Ordering::SeqCst);
            panic!("called without being ready");
        }
        self.inner.call(request)
    }
}

/// Fails calls of one tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raise<S = ()> {
    inner: S,
    tool: &'static str,
    raised: fn() -> BoxError,
}

impl Raise {
    pub(crate) fn on(tool: &'static str, raised: fn() -> BoxError) -> Self {
        Self {
            inner: (),
            tool,
            raised,
        }
    }
}

impl<S> Layer<S> for Raise {
    type Service = Raise<S>;

    fn layer(&self, inner: S) -> Raise<S> {
        Raise {
            inner,
            tool: self.tool,
            raised: self.raised,
        }
    }
}

impl<S> Service<Envelope> for Raise<S>
where
    S: Service<Envelope, Response = Reply, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = Reply;
    type Error = BoxError;
    type Future = BoxFuture<Reply, BoxError>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, envelope: Envelope) -> Self::Future {
        let params = envelope
            .raw_params()
            .filter(|_| *envelope.method() == Method::TOOLS_CALL);
        let name = params.and_then(|params| params.node().get("name")?.as_str());
        if name.is_some_and(|name| name == self.tool) {
            let error = (self.raised)();
            return Box::pin(async { Err(error) });
        }
        let call = self.inner.call(envelope);
        Box::pin(async { call.await.map_err(Into::into) })
    }
}

/// Panics at messages that say so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragile<S = ()> {
    inner: S,
}

impl Fragile {
    pub(crate) fn layer() -> Self {
        Self { inner: () }
    }
}

impl<S> Layer<S> for Fragile {
    type Service = Fragile<S>;

    fn layer(&self, inner: S) -> Fragile<S> {
        Fragile { inner }
    }
}

impl<S: Service<R>, R: std::fmt::Debug> Service<R> for Fragile<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> S::Future {
        assert!(
            !format!("{request:?}").contains("panic"),
            "about to tell tok-42"
        );
        self.inner.call(request)
    }
}
