//! Reading a body into one buffer of the right size, within bounds of size and time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Buf;
use http_body::Body;
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};

use super::verify::Rejection;

pin_project! {
    /// A body while it is read.
    pub(super) struct ReadBody<B> {
        #[pin]
        body: B,
        read: Vec<u8>,
        most: usize,
        patience: Duration,
        // Most bodies are there at once and need no timer.
        deadline: Option<Pin<Box<Sleep>>>,
    }
}

impl<B: Body> ReadBody<B> {
    /// Reads at most `most` bytes, `length` of which were promised.
    pub(super) fn new(body: B, length: Option<usize>, most: usize, patience: Duration) -> Self {
        let known = usize::try_from(body.size_hint().lower()).unwrap_or(most);
        Self {
            body,
            read: Vec::with_capacity(length.unwrap_or(known).min(most)),
            most,
            patience,
            deadline: None,
        }
    }
}

impl<B: Body> Future for ReadBody<B> {
    type Output = Result<Vec<u8>, Rejection>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let frame = match this.body.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Err(Rejection::Broken)),
                Poll::Ready(None) => return Poll::Ready(Ok(std::mem::take(this.read))),
                Poll::Pending => {
                    let patience = *this.patience;
                    let deadline = this
                        .deadline
                        .get_or_insert_with(|| Box::pin(sleep(patience)));
                    ready!(deadline.as_mut().poll(cx));
                    return Poll::Ready(Err(Rejection::TooSlow));
                }
            };
            // Trailers say nothing.
            let Ok(mut data) = frame.into_data() else {
                continue;
            };
            if data.remaining() > *this.most - this.read.len() {
                return Poll::Ready(Err(Rejection::TooLarge { most: *this.most }));
            }
            while data.has_remaining() {
                let chunk = data.chunk();
                this.read.extend_from_slice(chunk);
                let length = chunk.len();
                data.advance(length);
            }
        }
    }
}
