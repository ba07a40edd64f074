//! A layer of one's own on the message plane: run with `cargo run --example custom_layer`.
//!
//! It measures how long each method takes. The parts are those of every `tower` middleware: a layer
//! with the configuration, a service around the inner one, and a named future without a box.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use portcullis::service::{Envelope, Reply};
use portcullis::testing::Client;
use portcullis::wire::Method;
use portcullis::{Mode, Operation, Registry, Stack};
use tokio::sync::mpsc;
use tokio::time::{Duration, Instant};
use tower::{Layer, Service};

/// Reports method and duration of each call.
#[derive(Clone)]
struct TimingLayer {
    reports: mpsc::Sender<(Method, Duration)>,
}

#[derive(Clone)]
struct Timing<S> {
    inner: S,
    reports: mpsc::Sender<(Method, Duration)>,
}

impl<S> Layer<S> for TimingLayer {
    type Service = Timing<S>;

    fn layer(&self, inner: S) -> Timing<S> {
        let reports = self.reports.clone();
        Timing { inner, reports }
    }
}

impl<S: Service<Envelope, Response = Reply>> Service<Envelope> for Timing<S> {
    type Response = Reply;
    type Error = S::Error;
    type Future = TimingFuture<S::Future>;

    /// Nothing is waited for before the inner call, so readiness is that of the inner service.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, envelope: Envelope) -> TimingFuture<S::Future> {
        TimingFuture {
            method: envelope.method().clone(),
            started: Instant::now(),
            reports: self.reports.clone(),
            inner: self.inner.call(envelope),
        }
    }
}

pin_project! {
    struct TimingFuture<F> {
        #[pin]
        inner: F,
        method: Method,
        started: Instant,
        reports: mpsc::Sender<(Method, Duration)>,
    }
}

impl<F, E> Future for TimingFuture<F>
where
    F: Future<Output = Result<Reply, E>>,
{
    type Output = Result<Reply, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let reply = ready!(this.inner.poll(cx));
        let report = (this.method.clone(), this.started.elapsed());
        // A report nobody has room for is dropped: calls never wait for it.
        let _ = this.reports.try_send(report);
        Poll::Ready(reply)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (reports, mut received) = mpsc::channel(16);
    let nap = || async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        "slept"
    };
    let registry = Registry::builder()
        .operation(Operation::new("nap").handler(nap))
        .build()?;
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .layer(TimingLayer { reports })
        .build()?;

    let client = Client::modern(&gate);
    assert_eq!(client.call_tool("nap", "{}").await.text(), "slept");
    let (method, took) = received.try_recv()?;
    eprintln!("{method} took {took:?}");
    assert!(method == Method::TOOLS_CALL && took >= Duration::from_millis(20));
    Ok(())
}
