//! The body of a stream: messages of the call as they come, then its reply.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep};
use tower::BoxError;

use crate::service::{CancelOnDrop, Messages, Outbound, Payload};

use super::sse;

/// A stream of events that ends with the reply of its call.
pub(super) struct EventStream {
    messages: Option<Messages>,
    call: Call,
    /// Pieces of the event that is being written.
    writing: Payload,
}

enum Call {
    /// The call goes on.
    Running {
        task: AbortOnDrop,
        /// Tells the call that nobody reads any more.
        _cancel: CancelOnDrop,
        keep_alive: Duration,
        silence: Pin<Box<Sleep>>,
    },
    /// The reply is there, and written when everything before it is.
    Replied(Option<Payload>),
}

struct AbortOnDrop(JoinHandle<Option<Outbound>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl EventStream {
    pub(super) fn running(
        messages: Messages,
        task: JoinHandle<Option<Outbound>>,
        cancel: CancelOnDrop,
        keep_alive: Duration,
    ) -> Self {
        Self {
            messages: Some(messages),
            call: Call::Running {
                task: AbortOnDrop(task),
                _cancel: cancel,
                keep_alive,
                silence: Box::pin(sleep(keep_alive)),
            },
            writing: Payload::default(),
        }
    }

    pub(super) fn complete(messages: Option<Messages>, reply: Option<Payload>) -> Self {
        Self {
            messages,
            call: Call::Replied(reply),
            writing: Payload::default(),
        }
    }

    /// The next piece of an event. The reply ends the stream, not the end of the messages: a clone
    /// of the peer may outlive the call.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(piece) = self.writing.take_piece() {
                return Poll::Ready(Some(piece));
            }
            match &mut self.call {
                Call::Replied(reply) => {
                    // Everything sent before the reply is in the queue by now. Asking the queue
                    // like this is not subject to tokio's budget, which would report it empty.
                    let message = self
                        .messages
                        .as_mut()
                        .and_then(|queue| queue.try_recv().ok());
                    match message.or_else(|| reply.take()) {
                        Some(message) => self.writing = sse::event(message),
                        None => return Poll::Ready(None),
                    }
                }
                Call::Running {
                    task,
                    keep_alive,
                    silence,
                    ..
                } => {
                    if let Some(messages) = &mut self.messages
                        && let Poll::Ready(Some(message)) = messages.poll_recv(cx)
                    {
                        silence.as_mut().reset(Instant::now() + *keep_alive);
                        self.writing = sse::event(message);
                        continue;
                    }
                    if let Poll::Ready(ended) = Pin::new(&mut task.0).poll(cx) {
                        let outbound = ended.ok().flatten();
                        self.call = Call::Replied(outbound.and_then(|outbound| outbound.payload));
                        continue;
                    }
                    if silence.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    silence.as_mut().reset(Instant::now() + *keep_alive);
                    return Poll::Ready(Some(sse::comment()));
                }
            }
        }
    }
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.poll_piece(cx)
            .map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
