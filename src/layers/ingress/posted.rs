//! The body type between ingress and the HTTP bridge.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;

use crate::wire::Frame;

/// What was posted: a message, or nothing because the request is no `POST`.
///
/// It is a body of its own type, not a value beside the body, so that layers in the wrong order do
/// not compile.
#[derive(Clone, Debug)]
pub enum Posted {
    /// The request is no `POST`.
    Nothing,
    /// A scanned message.
    Frame(Frame),
}

/// Empty as far as HTTP is concerned, so that layers for any body can stand in between.
impl http_body::Body for Posted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        true
    }
}
