//! Layers of tower on the HTTP and the frame plane: they do there what they do anywhere, as far as
//! their plane goes. On the frame plane that is the whole call, its stream included; on the HTTP plane
//! it is the exchange up to the head of the response.

mod browsers;
mod frames;
mod http;
mod paths;

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use portcullis::layers::Mode;
use portcullis::service::handler::State;
use portcullis::wire::json::RawJson;
use portcullis::{Operation, Registry, Stack, service::CallContext};
use tower::{BoxError, Layer, Service};

use crate::support::message::tool;
use crate::support::{Answer, Client, LEGACY, Probe, Way, fixture, http1};

/// A stack that nothing was added to.
fn stack() -> (Stack, Probe) {
    let (registry, probe) = fixture();
    (plain(registry), probe)
}

fn plain(registry: Registry) -> Stack {
    Stack::new(registry).identity("it", "0").mode(Mode::Plain)
}

/// A stack with an operation that says something, and then waits until the tally is at one.
fn announcing() -> (Stack, Probe) {
    let probe = Probe::default();
    let announce = Operation::new("announce").handler(
        async |call: CallContext, State(probe): State<Probe>| {
            let _inside = probe.enter();
            let params = RawJson::parse("{}").unwrap();
            let _ = call.peer().notify("notifications/announced", &params).await;
            probe.tally.reach(1).await;
            "announced"
        },
    );
    let quick = Operation::new("quick").handler(async || "quick");
    let registry = Registry::builder()
        .state(probe.clone())
        .operation(announce)
        .operation(quick);
    (plain(registry.build().unwrap()), probe)
}

/// Sends a call on a connection of its own and reads as far as the head of the response.
async fn begin(client: &Client, name: &str) -> (http1::Connection, http1::Head) {
    let text = client.text("\"streamed\"", "tools/call", &tool(name, "{}"));
    let request = if client.way.is_modern() {
        http1::Request::derived(&text)
    } else {
        http1::Request::legacy(&text, LEGACY)
    };
    let mut connection = http1::Connection::open(client.address()).await;
    connection.write(&request.encode()).await;
    let head = crate::support::soon("a head", connection.head()).await;
    (connection, head)
}

/// What passed, in order. Cloning shares it.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<&'static str>>>);

impl Steps {
    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn add(&self, step: &'static str) {
        self.0.lock().unwrap().push(step);
    }
}

/// Notes each request on its way in, and each response on its way out.
#[derive(Clone)]
struct Note<S = ()> {
    inner: S,
    names: [&'static str; 2],
    steps: Steps,
}

impl Note {
    fn new(names: [&'static str; 2], steps: &Steps) -> Self {
        Self {
            inner: (),
            names,
            steps: steps.clone(),
        }
    }
}

impl<S> Layer<S> for Note {
    type Service = Note<S>;

    fn layer(&self, inner: S) -> Note<S> {
        Note {
            inner,
            names: self.names,
            steps: self.steps.clone(),
        }
    }
}

impl<S, R> Service<R> for Note<S>
where
    S: Service<R, Future: Send + 'static>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let ([begins, ends], steps) = (self.names, self.steps.clone());
        steps.add(begins);
        let call = self.inner.call(request);
        Box::pin(async move {
            let response = call.await;
            steps.add(ends);
            response
        })
    }
}

/// Makes an error.
type Raised = fn() -> BoxError;

/// Fails every request once it is told to.
#[derive(Clone)]
struct Fail<S = ()> {
    inner: S,
    with: Arc<Mutex<Option<Raised>>>,
}

impl Fail {
    fn not_yet() -> Self {
        Self {
            inner: (),
            with: Arc::default(),
        }
    }

    fn with(&self, error: Raised) {
        *self.with.lock().unwrap() = Some(error);
    }
}

impl<S> Layer<S> for Fail {
    type Service = Fail<S>;

    fn layer(&self, inner: S) -> Fail<S> {
        Fail {
            inner,
            with: Arc::clone(&self.with),
        }
    }
}

impl<S, R> Service<R> for Fail<S>
where
    S: Service<R, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: R) -> Self::Future {
        if let Some(error) = *self.with.lock().unwrap() {
            return Box::pin(async move { Err(error()) });
        }
        let call = self.inner.call(request);
        Box::pin(async move { call.await.map_err(Into::into) })
    }
}

/// The header clients should wait by, which every refusal for the time being has over a socket.
fn assert_retry(way: Way, answer: &Answer, expected: bool) {
    if way.is_http() {
        let retry = answer
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
        assert_eq!(
            retry.map(|(_, value)| value.as_str()),
            expected.then_some("1"),
            "{answer:?}"
        );
    }
}

const HOUR: Duration = Duration::from_secs(3600);
