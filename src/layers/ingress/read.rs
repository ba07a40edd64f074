//! Reading a body into one buffer of the right size, within bounds of size and time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Buf;
use http_body::Body;
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};

use crate::wire::json::scan_bytes;
use crate::wire::{Budget, Exhausted, Reserved};

use super::verify::Rejection;

pin_project! {
    /// A body while it is read.
    pub(super) struct ReadBody<B> {
        #[pin]
        body: B,
        read: Vec<u8>,
        // What `read` takes up, and later the index of what it holds.
        held: Reserved,
        // The length that was told.
        length: Option<usize>,
        most: usize,
        patience: Duration,
        // Most bodies are there at once and need no timer.
        deadline: Option<Pin<Box<Sleep>>>,
    }
}

impl<B: Body> ReadBody<B> {
    /// Reads at most `most` bytes, `length` of which were promised.
    pub(super) fn new(
        body: B,
        length: Option<usize>,
        most: usize,
        patience: Duration,
        budget: &Budget,
    ) -> Self {
        let known = || usize::try_from(body.size_hint().exact()?).ok();
        Self {
            length: length.or_else(known),
            body,
            // Nothing is held for what has only been promised.
            read: Vec::new(),
            held: budget.reserve_nothing(),
            most,
            patience,
            deadline: None,
        }
    }
}

impl<B: Body> Future for ReadBody<B> {
    type Output = Result<(Vec<u8>, Reserved), Rejection>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let frame = match this.body.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Err(Rejection::Broken)),
                Poll::Ready(None) => {
                    let scanned = scan_bytes(this.read.capacity());
                    if this.held.grow(scanned).is_err() {
                        return Poll::Ready(Err(Rejection::NoRoom));
                    }
                    let read = (std::mem::take(this.read), this.held.split_off());
                    return Poll::Ready(Ok(read));
                }
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
            if make_room(
                this.read,
                data.remaining(),
                *this.length,
                *this.most,
                this.held,
            )
            .is_err()
            {
                return Poll::Ready(Err(Rejection::NoRoom));
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

/// Makes room for `more` bytes, and reserves it before. Where the length was told there is one step
/// for most bodies and two for long ones, so that somebody who only promises a long one holds little.
fn make_room(
    read: &mut Vec<u8>,
    more: usize,
    length: Option<usize>,
    most: usize,
    held: &mut Reserved,
) -> Result<(), Exhausted> {
    let needed = read.len() + more;
    if needed <= read.capacity() {
        return Ok(());
    }
    let wanted = match length {
        Some(length) if needed > FIRST_ROOM => length,
        Some(length) => length.min(FIRST_ROOM),
        None => 2 * read.capacity(),
    };
    let room = wanted.min(most).max(needed);
    if room <= SMALL {
        // All it will ever take up at once: one step instead of several.
        held.grow(scan_bytes(room))?;
    } else {
        held.grow(read.capacity() + room)?;
    }
    read.reserve_exact(room - read.len());
    Ok(())
}

/// Bodies up to this length are read into a buffer of their own length, in bytes.
const FIRST_ROOM: usize = 256 * 1024;
/// Messages whose index is reserved for together with their text, in bytes.
const SMALL: usize = 16 * 1024;
