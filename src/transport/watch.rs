//! Ends connections whose other side does nothing: it begins no request, or takes nothing we write.
//!
//! No request pays for that with a timer. A connection counts what happens on it, and whoever serves
//! connections looks at all the counts now and then. A connection on which nothing happens for as long as
//! it may is told to end, where it can be told, and dropped soon after: half of that time late at most.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Request, Response, Version};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tower::Service;

/// All connections, and how long they may do nothing.
#[derive(Debug)]
pub(super) struct Watch {
    connections: Vec<Connection>,
    bounds: Bounds,
}

/// How long what may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The head of the first request, or of the next one with HTTP/1.1.
    pub(super) head: Duration,
    /// Having no request under way with HTTP/2.
    pub(super) idle: Duration,
    /// A write that waits.
    pub(super) write: Duration,
}

/// What is known of a connection.
#[derive(Debug)]
struct Connection {
    activity: Arc<Activity>,
    task: AbortHandle,
    seen: Doing,
    since: Instant,
    /// How often it was looked at since it was told to end.
    told: Option<u32>,
}

/// What a connection does; where nothing happens, twice the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// Waiting for a request; so many have begun.
    Waiting(usize),
    /// Waiting to write; so many waits are over.
    Blocked(usize),
    Serving,
}

/// Counts of what happens on a connection.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// Requests whose head has been read.
    begun: AtomicUsize,
    /// Those that have been answered or given up.
    ended: AtomicUsize,
    is_http2: AtomicBool,
    blocked: AtomicBool,
    /// Writes that had to wait, and no longer do.
    resumed: AtomicUsize,
    /// Asks the connection to end.
    end: Notify,
}

impl Watch {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            connections: Vec::new(),
            bounds,
        }
    }

    /// How often to look.
    pub(super) fn interval(&self) -> Duration {
        let Bounds { head, idle, write } = self.bounds;
        (head.min(idle).min(write) / LOOKS).max(Duration::from_millis(1))
    }

    /// Asks all connections to end: requests under way are answered first.
    pub(super) fn end_all(&self) {
        for known in &self.connections {
            known.activity.end.notify_one();
        }
    }

    /// Watches one more connection, the task of which this is.
    pub(super) fn add(&mut self, activity: Arc<Activity>, task: AbortHandle) {
        if self.connections.len() == self.connections.capacity() {
            self.connections.retain(|known| !known.task.is_finished());
        }
        self.connections.push(Connection {
            seen: activity.doing(),
            since: Instant::now(),
            told: None,
            activity,
            task,
        });
    }

    /// Ends those that have done nothing for too long.
    pub(super) fn look(&mut self) {
        let (now, bounds) = (Instant::now(), self.bounds);
        self.connections.retain_mut(|known| {
            if known.task.is_finished() {
                return false;
            }
            let goes_on = known.goes_on(now, bounds);
            if !goes_on {
                tracing::debug!(target: "portcullis::serve", doing = ?known.seen, "a connection is given up");
                known.task.abort();
            }
            goes_on
        });
    }
}

impl Connection {
    fn goes_on(&mut self, now: Instant, bounds: Bounds) -> bool {
        let doing = self.activity.doing();
        if doing != self.seen {
            self.seen = doing;
            self.since = now;
            self.told = None;
        }
        let silent = now - self.since;
        match doing {
            Doing::Serving => true,
            Doing::Blocked(_) => silent < bounds.write,
            Doing::Waiting(_) if silent < self.patience(bounds) => true,
            Doing::Waiting(_) => {
                let looks = self.told.get_or_insert(0);
                if *looks == 0 {
                    self.activity.end.notify_one();
                }
                *looks += 1;
                *looks <= LOOKS_AFTER
            }
        }
    }

    fn patience(&self, bounds: Bounds) -> Duration {
        if self.activity.is_http2.load(Relaxed) {
            bounds.idle
        } else {
            bounds.head
        }
    }
}

impl Activity {
    /// Ready when the connection shall end.
    pub(super) async fn told_to_end(&self) {
        self.end.notified().await;
    }

    fn doing(&self) -> Doing {
        let begun = self.begun.load(Relaxed);
        if self.blocked.load(Relaxed) {
            Doing::Blocked(self.resumed.load(Relaxed))
        } else if begun == self.ended.load(Relaxed) {
            Doing::Waiting(begun)
        } else {
            Doing::Serving
        }
    }

    /// Looks at the outcome of a write.
    fn wrote<T>(&self, outcome: Poll<T>) -> Poll<T> {
        let blocked = outcome.is_pending();
        if self.blocked.load(Relaxed) != blocked {
            self.blocked.store(blocked, Relaxed);
            self.resumed.fetch_add(1, Relaxed);
        }
        outcome
    }
}

/// Counts the request as one that is served for as long as this lives.
struct Served(Arc<Activity>);

impl Served {
    fn begin(activity: &Arc<Activity>) -> Self {
        activity.begun.fetch_add(1, Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Relaxed);
    }
}

/// A service whose requests are counted, from their heads to the ends of their answers.
#[derive(Clone, Debug)]
pub(super) struct WatchedService<S> {
    pub(super) inner: S,
    pub(super) activity: Arc<Activity>,
}

impl<S, A, B> Service<Request<A>> for WatchedService<S>
where
    S: Service<Request<A>, Response = Response<B>>,
{
    type Response = Response<WatchedBody<B>>;
    type Error = S::Error;
    type Future = Answer<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        if request.version() == Version::HTTP_2 {
            self.activity.is_http2.store(true, Relaxed);
        }
        let served = Some(Served::begin(&self.activity));
        let call = self.inner.call(request);
        Answer { call, served }
    }
}

pin_project! {
    /// The future of [`WatchedService`].
    pub(super) struct Answer<F> {
        #[pin]
        call: F,
        served: Option<Served>,
    }
}

impl<F, B, E> Future for Answer<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<WatchedBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.call.poll(cx))?;
        let served = this.served.take();
        Poll::Ready(Ok(response.map(|body| WatchedBody { body, served })))
    }
}

pin_project! {
    /// The rest of an answer.
    pub(super) struct WatchedBody<B> {
        #[pin]
        body: B,
        served: Option<Served>,
    }
}

impl<B: Body> Body for WatchedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pin_project! {
    /// A stream on which it is seen whether a write waits.
    pub(super) struct WatchedStream<T> {
        #[pin]
        stream: T,
        activity: Arc<Activity>,
    }
}

impl<T> WatchedStream<T> {
    pub(super) fn new(stream: T, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }
}

impl<T: AsyncRead> AsyncRead for WatchedStream<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.project().stream.poll_read(cx, buf)
    }
}

impl<T: AsyncWrite> AsyncWrite for WatchedStream<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        this.activity.wrote(this.stream.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        this.activity
            .wrote(this.stream.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        this.activity.wrote(this.stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        this.activity.wrote(this.stream.poll_shutdown(cx))
    }
}

/// How often to look within the shortest bound.
const LOOKS: u32 = 8;
/// How many more looks a connection gets to end by itself.
const LOOKS_AFTER: u32 = 2;

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::task::JoinHandle;
    use tower::{ServiceExt as _, service_fn};

    use super::*;

    const HEAD: Duration = Duration::from_secs(8);
    const IDLE: Duration = Duration::from_secs(16);
    const WRITE: Duration = Duration::from_secs(32);
    const BOUNDS: Bounds = Bounds {
        head: HEAD,
        idle: IDLE,
        write: WRITE,
    };

    /// Looks at a connection for as long as its task lives; how long that is.
    async fn lifetime<T>(activity: &Arc<Activity>, task: JoinHandle<T>) -> Duration {
        let mut watch = Watch::new(BOUNDS);
        let began = Instant::now();
        watch.add(Arc::clone(activity), task.abort_handle());
        while !task.is_finished() {
            tokio::time::sleep(watch.interval()).await;
            watch.look();
            assert!(began.elapsed() < 100 * WRITE, "it never ends");
            tokio::task::yield_now().await;
        }
        watch.look();
        assert!(watch.connections.is_empty());
        began.elapsed()
    }

    fn is_about(time: Duration, bound: Duration) -> bool {
        (bound..=bound + bound / 2).contains(&time)
    }

    fn writes(bytes: usize, stream: impl AsyncWrite + Send + 'static) -> JoinHandle<()> {
        #[expect(clippy::disallowed_methods, reason = "a connection is a task")]
        tokio::spawn(async move {
            let mut stream = Box::pin(stream);
            stream.write_all(&vec![0; bytes]).await.unwrap();
        })
    }

    fn writes_nothing() -> JoinHandle<()> {
        #[expect(clippy::disallowed_methods, reason = "a connection is a task")]
        tokio::spawn(std::future::pending())
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_ends_the_writer() {
        let activity = Arc::default();
        let (stream, _other) = tokio::io::duplex(8);
        let task = writes(9, WatchedStream::new(stream, Arc::clone(&activity)));
        let lived = lifetime(&activity, task).await;
        assert!(is_about(lived, WRITE), "{lived:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_does_not() {
        let activity = Arc::default();
        let (stream, mut other) = tokio::io::duplex(8);
        let task = writes(40, WatchedStream::new(stream, Arc::clone(&activity)));
        let reading = async {
            for _ in 0..5 {
                tokio::time::sleep(WRITE * 9 / 10).await;
                other.read_exact(&mut [0; 8]).await.unwrap();
            }
        };
        let (lived, ()) = tokio::join!(lifetime(&activity, task), reading);
        assert!(lived > 3 * WRITE, "{lived:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_side_that_begins_no_request_is_given_up_and_one_that_is_served_is_not() {
        for (version, patience) in [(Version::HTTP_11, HEAD), (Version::HTTP_2, IDLE)] {
            let activity = Arc::<Activity>::default();
            let inner = service_fn(|_: Request<()>| async {
                tokio::time::sleep(10 * IDLE).await;
                Ok::<_, Infallible>(Response::new(String::new()))
            });
            let service = WatchedService {
                inner,
                activity: Arc::clone(&activity),
            };
            let mut request = Request::new(());
            *request.version_mut() = version;
            #[expect(clippy::disallowed_methods, reason = "a connection is a task")]
            let task = tokio::spawn(async move {
                tokio::time::sleep(HEAD / 2).await;
                let response = service.oneshot(request).await.unwrap();
                tokio::time::sleep(10 * IDLE).await;
                drop(response);
                std::future::pending::<()>().await;
            });
            let lived = lifetime(&activity, task).await;
            let silent = lived.checked_sub(20 * IDLE + HEAD / 2).unwrap();
            assert!(is_about(silent, patience), "{version:?} {lived:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_side_that_can_be_told_to_end_is() {
        let activity = Arc::<Activity>::default();
        let told = Arc::clone(&activity);
        #[expect(clippy::disallowed_methods, reason = "a connection is a task")]
        let task = tokio::spawn(async move { told.told_to_end().await });
        let lived = lifetime(&activity, task).await;
        // One that has to be dropped lives longer.
        let dropped = lifetime(&Arc::default(), writes_nothing()).await;
        assert!(
            is_about(lived, HEAD) && dropped > lived,
            "{lived:?} {dropped:?}"
        );
    }

    #[tokio::test]
    async fn what_has_ended_is_forgotten() {
        let mut watch = Watch::new(BOUNDS);
        for _ in 0..1000 {
            let task = writes(1, tokio::io::sink());
            let handle = task.abort_handle();
            task.await.unwrap();
            watch.add(Arc::default(), handle);
        }
        assert!(watch.connections.capacity() < 16);
    }
}
