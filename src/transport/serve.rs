//! Serving HTTP on a listener of one's own: hyper, HTTP/1.1 and 2.
//!
//! Every connection has `TCP_NODELAY` set, a bound on how long a request's head may take, and ends
//! when the other side takes nothing for too long, answers no ping, or has no request under way for
//! too long. There are only so many connections at once. What ends the server lets requests under way
//! finish for a while.

use std::any::Any;
use std::convert::Infallible;
use std::future::{Future, IntoFuture};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Duration, sleep, timeout};
use tower::{BoxError, Service};

use crate::service::{Limits, count, millis};

use super::http::Http;
use super::idle::Watched;
use super::stall::StallTimeout;

/// Serves HTTP on a listener until the process is told to end (SIGINT or SIGTERM).
///
/// ```no_run
/// use portcullis::{Registry, Stack};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Stack::new(Registry::builder().build()?).build()?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// portcullis::serve(listener, gate.http().at("/mcp")).await?;
/// # Ok(())
/// # }
/// ```
pub fn serve<S>(listener: TcpListener, service: S) -> Serve<S> {
    Serve {
        listener,
        service,
        limits: Limits::default(),
        until: None,
    }
}

/// A server that has not started yet: awaiting it runs it.
#[must_use = "awaiting it runs the server"]
pub struct Serve<S> {
    listener: TcpListener,
    service: S,
    limits: Limits,
    until: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<S> Serve<S> {
    /// Bounds on connections and waits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Serves until this future is ready, instead of until a signal.
    pub fn until(mut self, end: impl Future<Output = ()> + Send + 'static) -> Self {
        self.until = Some(Box::pin(end));
        self
    }
}

impl<S, B> IntoFuture for Serve<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Output = io::Result<()>;
    type IntoFuture = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<S, B> Serve<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    async fn run(self) -> io::Result<()> {
        let address = self.listener.local_addr()?;
        tracing::info!(target: "portcullis::serve", %address, "serving HTTP");
        let http = (&self.service as &dyn Any).downcast_ref::<Http>();
        if !address.ip().is_loopback() && http.is_some_and(Http::is_loopback_only) {
            tracing::warn!(
                target: "portcullis::serve",
                "clients from elsewhere will get 403: set `public_url` or `allow_hosts` on the stack"
            );
        }
        let builder = self.connection_builder();
        let places = Arc::new(Semaphore::new(count(self.limits.connections)));
        let (end_all, ending) = watch::channel(());
        let mut connections = JoinSet::new();
        let mut end = match self.until {
            Some(end) => end,
            None => Box::pin(signal()?),
        };
        loop {
            let accepted = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (self.listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                accepted = accepted => accepted,
                () = &mut end => break,
                Some(_) = connections.join_next() => continue,
            };
            let stream = match accepted {
                Ok((stream, _)) => prepared(stream, self.limits),
                Err(error) => {
                    // Out of descriptors, most likely: some will be given back.
                    tracing::warn!(target: "portcullis::serve", %error, "cannot accept a connection");
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let activity = Arc::default();
            let service = Watched::new(self.service.clone(), Arc::clone(&activity));
            let service = TowerToHyperService::new(service);
            let connection = builder.serve_connection(stream, service).into_owned();
            let graceful = GracefulShutdown::new();
            let connection = graceful.watch(connection);
            let (limits, mut ending) = (self.limits, ending.clone());
            connections.spawn(async move {
                let _place = place;
                let end = async {
                    let is_idle = tokio::select! {
                        () = activity.ceased(millis(limits.idle_ms)) => true,
                        _ = ending.changed() => false,
                    };
                    let mut told = pin!(graceful.shutdown());
                    let patience = millis(limits.write_stall_ms);
                    // Whoever says nothing any more does not say goodbye either.
                    while timeout(patience, &mut told).await.is_err() {
                        if is_idle && activity.is_none() {
                            return;
                        }
                    }
                };
                // `end` is over before the connection only if that is to be dropped.
                tokio::select! {
                    served = connection => if let Err(error) = served {
                        tracing::debug!(target: "portcullis::serve", error, "a connection ended");
                    },
                    () = end => {}
                }
            });
        }
        drop(self.listener);
        tracing::info!(target: "portcullis::serve", "ending: no new connections");
        drop(end_all);
        let drained = async { while connections.join_next().await.is_some() {} };
        if timeout(millis(self.limits.drain_ms), drained)
            .await
            .is_err()
        {
            tracing::warn!(target: "portcullis::serve", "connections left at the end are dropped");
        }
        Ok(())
    }

    fn connection_builder(&self) -> auto::Builder<TokioExecutor> {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(millis(self.limits.header_read_ms));
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(u32::try_from(self.limits.http2_streams).ok())
            // Whoever is there answers, however long a call takes.
            .keep_alive_interval(Some(millis(self.limits.keep_alive_ms)))
            .keep_alive_timeout(millis(self.limits.write_stall_ms));
        builder
    }
}

fn prepared(stream: TcpStream, limits: Limits) -> TokioIo<StallTimeout<TcpStream>> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(target: "portcullis::serve", %error, "cannot set TCP_NODELAY");
    }
    let stream = StallTimeout::new(stream, millis(limits.write_stall_ms));
    TokioIo::new(stream.begins_within(millis(limits.header_read_ms)))
}

/// Ready when the process is told to end.
#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ready when the process is told to end.
#[cfg(not(unix))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "installing handlers can fail elsewhere"
)]
fn signal() -> io::Result<impl Future<Output = ()> + Send> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

impl<S> std::fmt::Debug for Serve<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}
