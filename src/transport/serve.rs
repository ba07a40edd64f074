//! Serving HTTP on a listener of one's own: hyper, HTTP/1.1 and 2.
//!
//! Every connection has `TCP_NODELAY` set, and ends when the other side begins no request, takes nothing
//! or answers no ping for too long. There are only so many connections at once. What ends the server lets
//! requests under way finish for a while.

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
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Duration, MissedTickBehavior, interval, sleep, timeout};
use tower::{BoxError, Service};

use crate::service::{Limits, count, millis};

use super::http::Http;
use super::watch::{Activity, Bounds, Watch, WatchedService, WatchedStream};

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
        let mut end = match self.until {
            Some(end) => end,
            None => Box::pin(signal()?),
        };
        let mut connections = Connections::new(self.service, self.limits);
        let mut looks = interval(connections.watch.interval());
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let accepted = async {
                let place = Arc::clone(&connections.places).acquire_owned().await;
                (self.listener.accept().await, place.ok())
            };
            let (accepted, place) = tokio::select! {
                accepted = accepted => accepted,
                () = &mut end => break,
                Some(_) = connections.tasks.join_next() => continue,
                _ = looks.tick() => {
                    connections.watch.look();
                    continue;
                }
            };
            match accepted {
                Ok((stream, _)) => connections.begin(stream, place),
                Err(error) => {
                    // Out of descriptors, most likely: some will be given back.
                    tracing::warn!(target: "portcullis::serve", %error, "cannot accept a connection");
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(self.listener);
        tracing::info!(target: "portcullis::serve", "ending: no new connections");
        connections.watch.end_all();
        let drained = async { while connections.tasks.join_next().await.is_some() {} };
        if timeout(millis(self.limits.drain_ms), drained)
            .await
            .is_err()
        {
            tracing::warn!(target: "portcullis::serve", "connections left at the end are dropped");
        }
        Ok(())
    }
}

/// All connections of a server: a task for each.
struct Connections<S> {
    service: S,
    builder: auto::Builder<TokioExecutor>,
    places: Arc<Semaphore>,
    tasks: JoinSet<()>,
    watch: Watch,
}

impl<S, B> Connections<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    fn new(service: S, limits: Limits) -> Self {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(u32::try_from(limits.http2_streams).ok())
            // Whoever is there answers, however long a call takes.
            .keep_alive_interval(Some(millis(limits.keep_alive_ms)))
            .keep_alive_timeout(millis(limits.write_stall_ms));
        Self {
            service,
            builder,
            places: Arc::new(Semaphore::new(count(limits.connections))),
            tasks: JoinSet::new(),
            watch: Watch::new(Bounds {
                head: millis(limits.header_read_ms),
                idle: millis(limits.idle_ms),
                write: millis(limits.write_stall_ms),
            }),
        }
    }

    /// Serves one more, for as long as it has its place.
    fn begin(&mut self, stream: TcpStream, place: Option<OwnedSemaphorePermit>) {
        let activity = Arc::<Activity>::default();
        let service = TowerToHyperService::new(WatchedService {
            inner: self.service.clone(),
            activity: Arc::clone(&activity),
        });
        let stream = prepared(stream, Arc::clone(&activity));
        let connection = self.builder.serve_connection(stream, service).into_owned();
        let watched = Arc::clone(&activity);
        let task = self.tasks.spawn(async move {
            let _place = place;
            let mut connection = pin!(connection);
            let served = tokio::select! {
                biased;
                served = connection.as_mut() => served,
                () = watched.told_to_end() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = served {
                tracing::debug!(target: "portcullis::serve", error, "a connection ended");
            }
        });
        self.watch.add(activity, task);
    }
}

fn prepared(stream: TcpStream, activity: Arc<Activity>) -> TokioIo<WatchedStream<TcpStream>> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(target: "portcullis::serve", %error, "cannot set TCP_NODELAY");
    }
    TokioIo::new(WatchedStream::new(stream, activity))
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
