//! Knows whether a connection has requests under way, and for how long it has had none.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::sleep;
use tower::Service;

/// What happens on one connection. Requests only count: nobody is woken for them.
#[derive(Debug, Default)]
pub(super) struct Activity {
    begun: AtomicUsize,
    ended: AtomicUsize,
}

/// A request under way: until its response is written, or dropped.
#[derive(Debug)]
struct UnderWay(Arc<Activity>);

impl Activity {
    fn begin(self: &Arc<Self>) -> UnderWay {
        self.begun.fetch_add(1, Ordering::Relaxed);
        UnderWay(Arc::clone(self))
    }

    /// Whether nothing is under way.
    pub(super) fn is_none(&self) -> bool {
        let ended = self.ended.load(Ordering::Acquire);
        ended == self.begun.load(Ordering::Acquire)
    }

    /// Ready when nothing has been under way for this long, and for no more than twice as long.
    pub(super) async fn ceased(&self, patience: Duration) {
        let mut seen = 0;
        loop {
            sleep(patience).await;
            let ended = self.ended.load(Ordering::Acquire);
            let begun = self.begun.load(Ordering::Acquire);
            if begun == ended && begun == seen {
                return;
            }
            // What is under way now has to end before a silence begins.
            seen = if begun == ended { begun } else { usize::MAX };
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Release);
    }
}

/// A service that tells which requests are under way.
#[derive(Clone, Debug)]
pub(super) struct Watched<S> {
    inner: S,
    activity: Arc<Activity>,
}

impl<S> Watched<S> {
    pub(super) fn new(inner: S, activity: Arc<Activity>) -> Self {
        Self { inner, activity }
    }
}

impl<S, R, B> Service<R> for Watched<S>
where
    S: Service<R, Response = Response<B>>,
{
    type Response = Response<WatchedBody<B>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        ResponseFuture {
            under_way: Some(self.activity.begin()),
            inner: self.inner.call(request),
        }
    }
}

pin_project! {
    /// The future of [`Watched`].
    pub(super) struct ResponseFuture<F> {
        #[pin]
        inner: F,
        under_way: Option<UnderWay>,
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<WatchedBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.inner.poll(cx))?;
        let under_way = this.under_way.take();
        Poll::Ready(Ok(response.map(|inner| WatchedBody { inner, under_way })))
    }
}

pin_project! {
    /// A body that counts until it is dropped.
    pub(super) struct WatchedBody<B> {
        #[pin]
        inner: B,
        under_way: Option<UnderWay>,
    }
}

impl<B: http_body::Body<Data = Bytes>> http_body::Body for WatchedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        self.project().inner.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, timeout};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn silence_is_told_after_once_or_twice_its_time() {
        let activity = Arc::new(Activity::default());
        let started = Instant::now();
        activity.ceased(PATIENCE).await;
        assert_eq!(started.elapsed(), PATIENCE, "nothing ever happened");

        let under_way = activity.begin();
        assert!(
            timeout(10 * PATIENCE, activity.ceased(PATIENCE))
                .await
                .is_err()
        );
        let mut ceased = std::pin::pin!(activity.ceased(PATIENCE));
        assert!(timeout(PATIENCE / 2, &mut ceased).await.is_err());
        drop(under_way);
        let ended = Instant::now();
        ceased.await;
        let silence = ended.elapsed();
        assert!(
            silence >= PATIENCE && silence <= 2 * PATIENCE,
            "{silence:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_begins_and_ends_meanwhile_counts() {
        let activity = Arc::new(Activity::default());
        let busy = async {
            for _ in 0..20 {
                sleep(PATIENCE * 3 / 4).await;
                drop(activity.begin());
            }
        };
        let started = Instant::now();
        tokio::select! {
            () = activity.ceased(PATIENCE) => panic!("after {:?}", started.elapsed()),
            () = busy => {}
        }
    }
}
