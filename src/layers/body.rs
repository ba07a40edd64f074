//! The body of every HTTP response: nothing, a message, or a stream of events.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tower::BoxError;

use crate::service::Payload;

/// An opaque response body.
#[derive(Default)]
pub struct Body {
    kind: Kind,
}

#[derive(Default)]
enum Kind {
    #[default]
    Empty,
    Whole(Payload),
    Boxed(Pin<Box<dyn http_body::Body<Data = Bytes, Error = BoxError> + Send>>),
}

impl Body {
    /// No body.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Any other body, boxed.
    pub fn wrap<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let kind = Kind::Boxed(Box::pin(Widened {
            body: Box::pin(body),
        }));
        Self { kind }
    }

    /// A stream whose error type is ours already.
    pub(crate) fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error = BoxError> + Send + 'static,
    {
        let kind = Kind::Boxed(Box::pin(body));
        Self { kind }
    }
}

impl From<Payload> for Body {
    fn from(payload: Payload) -> Self {
        let kind = Kind::Whole(payload);
        Self { kind }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.kind {
            Kind::Empty => Poll::Ready(None),
            Kind::Whole(payload) => {
                Poll::Ready(payload.take_piece().map(|piece| Ok(Frame::data(piece))))
            }
            Kind::Boxed(body) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty => true,
            Kind::Whole(payload) => payload.is_empty(),
            Kind::Boxed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Whole(payload) => SizeHint::with_exact(payload.len() as u64),
            Kind::Boxed(body) => body.size_hint(),
        }
    }
}

/// A body whose errors are widened.
struct Widened<B> {
    body: Pin<Box<B>>,
}

impl<B> http_body::Body for Widened<B>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.body.as_mut().poll_frame(cx).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Empty => "empty",
            Kind::Whole(_) => "whole",
            Kind::Boxed(_) => "stream",
        };
        f.debug_struct("Body").field("kind", &kind).finish()
    }
}
