//! The future of a request: JSON if the reply comes first, a stream if a message does.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Response;
use tracing::Instrument as _;

use crate::layers::body::Body;
use crate::layers::http_reply::respond;
use crate::layers::macros::opaque_debug;
use crate::service::{CallLink, CancelOnDrop, Messages, Outbound};

use super::body::EventStream;
use super::headers::Accepted;
use super::sse;

/// The future of [`StreamableHttp`](super::StreamableHttp).
pub struct ResponseFuture<F> {
    state: State<F>,
}

enum State<F> {
    /// Waiting for the reply or for a message before it.
    Calling(Option<Calling<F>>),
    Refused(Option<Response<Body>>),
}

struct Calling<F> {
    call: F,
    link: CallLink,
    cancel: CancelOnDrop,
    accepted: Accepted,
    keep_alive: Duration,
}

impl<F> ResponseFuture<F> {
    pub(super) fn call(call: F, link: CallLink, accepted: Accepted, keep_alive: Duration) -> Self {
        let calling = Calling {
            call,
            link: link.clone(),
            cancel: link.cancel_on_drop(),
            accepted,
            keep_alive,
        };
        Self {
            state: State::Calling(Some(calling)),
        }
    }

    pub(super) fn refuse(response: Response<Body>) -> Self {
        Self {
            state: State::Refused(Some(response)),
        }
    }
}

impl<F, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Outbound, E>> + Unpin + Send + 'static,
    E: Send + 'static,
{
    type Output = Result<Response<Body>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let slot = match &mut self.state {
            State::Calling(slot) => slot,
            State::Refused(response) => {
                return Poll::Ready(Ok(response.take().unwrap_or_default()));
            }
        };
        let Some(calling) = slot else {
            unreachable!("polled after it was done");
        };
        if let Poll::Ready(outcome) = Pin::new(&mut calling.call).poll(cx) {
            let calling = slot.take();
            return Poll::Ready(outcome.map(|outbound| match calling {
                Some(calling) => calling.answer(outbound),
                None => respond(outbound),
            }));
        }
        match calling.link.poll_stream(cx) {
            Poll::Ready(messages) => match slot.take() {
                Some(calling) => Poll::Ready(Ok(calling.into_stream(messages))),
                None => unreachable!("it was there just now"),
            },
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<F> Calling<F> {
    /// The reply came before any message was read, which is not to say that none was sent.
    fn answer(self, outbound: Outbound) -> Response<Body> {
        let sent = self.link.take_stream();
        self.cancel.disarm();
        if sent.is_none() && (self.accepted.json || outbound.payload.is_none()) {
            return respond(outbound);
        }
        let mut response =
            sse::response(Body::stream(EventStream::complete(sent, outbound.payload)));
        *response.status_mut() =
            http::StatusCode::from_u16(outbound.hints.status).unwrap_or_default();
        response
    }

    /// The call goes on in a task of its own, which the body owns.
    fn into_stream<E>(self, messages: Messages) -> Response<Body>
    where
        F: Future<Output = Result<Outbound, E>> + Unpin + Send + 'static,
        E: Send + 'static,
    {
        let Self {
            call,
            cancel,
            keep_alive,
            ..
        } = self;
        #[expect(
            clippy::disallowed_methods,
            reason = "the body owns the task and aborts it"
        )]
        let task = tokio::spawn(async move { call.await.ok() }.in_current_span());
        sse::response(Body::stream(EventStream::running(
            messages, task, cancel, keep_alive,
        )))
    }
}

opaque_debug!(ResponseFuture<F>);
