//! Fails writes whose other side takes nothing any more.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::io::AsyncWrite;
use tokio::time::{Instant, Sleep, sleep};

pin_project! {
    /// A stream that fails when a write waits longer than allowed.
    pub(super) struct StallTimeout<T> {
        #[pin]
        stream: T,
        patience: Duration,
        // Made when a write has to wait for the first time.
        timer: Option<Pin<Box<Sleep>>>,
        waiting: bool,
    }
}

impl<T> StallTimeout<T> {
    pub(super) fn new(stream: T, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            timer: None,
            waiting: false,
        }
    }
}

impl<T: AsyncWrite> StallTimeout<T> {
    /// Looks at the outcome of a write: one that waits starts the clock, one that does not stops it.
    fn watch<R>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        let this = self.project();
        if outcome.is_ready() {
            *this.waiting = false;
            return outcome;
        }
        let patience = *this.patience;
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(patience)));
        if !std::mem::replace(this.waiting, true) {
            timer.as_mut().reset(Instant::now() + patience);
        }
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncWrite> AsyncWrite for StallTimeout<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = self.as_mut().project().stream.poll_write(cx, buf);
        self.watch(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = self.as_mut().project().stream.poll_write_vectored(cx, bufs);
        self.watch(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = self.as_mut().project().stream.poll_flush(cx);
        self.watch(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = self.as_mut().project().stream.poll_shutdown(cx);
        self.watch(cx, outcome)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_fails_the_writer() {
        let (stream, _other) = tokio::io::duplex(8);
        let mut stream = StallTimeout::new(stream, PATIENCE);
        let started = Instant::now();
        let error = stream.write_all(&[0; 9]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed(), PATIENCE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_does_not() {
        let (stream, mut other) = tokio::io::duplex(8);
        let mut stream = StallTimeout::new(stream, PATIENCE);
        let reading = async {
            let mut all = [0; 24];
            for part in all.chunks_mut(8) {
                tokio::time::sleep(PATIENCE * 9 / 10).await;
                other.read_exact(part).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(stream.write_all(&[0; 24]), reading);
        written.unwrap();
    }
}
