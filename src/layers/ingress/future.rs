//! The future of a request: its body is read, then the inner service is called.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::request::Parts;
use http::{Request, Response};
use pin_project_lite::pin_project;
use tower::Service;

use crate::layers::body::Body;
use crate::wire::Frame;

use super::posted::Posted;
use super::read::ReadBody;
use super::verify::Rejection;

pin_project! {
    /// The future of [`Ingress`](super::Ingress).
    pub struct ResponseFuture<S, B>
    where
        S: Service<Request<Posted>>,
    {
        #[pin]
        state: State<S, B>,
    }
}

pin_project! {
    #[project = StateProjected]
    enum State<S, B>
    where
        S: Service<Request<Posted>>,
    {
        // Waiting for the body.
        Reading {
            #[pin]
            read: ReadBody<B>,
            // What is called when it is there.
            next: Option<(S, Parts)>,
            depth: u32,
        },
        // Waiting for the inner service to be ready.
        Waiting { next: Option<(S, Request<Posted>)> },
        Calling { #[pin] call: S::Future },
        Refused { response: Option<Response<Body>> },
    }
}

impl<S: Service<Request<Posted>>, B> ResponseFuture<S, B> {
    pub(super) fn read(inner: S, parts: Parts, read: ReadBody<B>, depth: u32) -> Self {
        let next = Some((inner, parts));
        let state = State::Reading { read, next, depth };
        Self { state }
    }

    pub(super) fn forward(inner: S, request: Request<Posted>) -> Self {
        let next = Some((inner, request));
        let state = State::Waiting { next };
        Self { state }
    }

    pub(super) fn refuse(rejection: &Rejection) -> Self {
        let response = Some(answer(rejection));
        let state = State::Refused { response };
        Self { state }
    }
}

impl<S, B> Future for ResponseFuture<S, B>
where
    S: Service<Request<Posted>, Response = Response<Body>>,
    B: http_body::Body,
{
    type Output = Result<Response<Body>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let (mut inner, request) = match this.state.as_mut().project() {
                StateProjected::Reading { read, next, depth } => {
                    let scanned = ready!(read.poll(cx)).and_then(|(bytes, held)| {
                        Frame::parse_within(bytes, *depth, held).map_err(Rejection::Syntax)
                    });
                    match (scanned, next.take()) {
                        (Ok(frame), Some((inner, parts))) => {
                            (inner, Request::from_parts(parts, Posted::Frame(frame)))
                        }
                        (Err(rejection), _) => return Poll::Ready(Ok(answer(&rejection))),
                        (Ok(_), None) => unreachable!("polled after it was done"),
                    }
                }
                StateProjected::Waiting { next } => match next.take() {
                    Some(next) => next,
                    None => unreachable!("polled after it was done"),
                },
                StateProjected::Calling { call } => return call.poll(cx),
                StateProjected::Refused { response } => {
                    return Poll::Ready(Ok(response.take().unwrap_or_default()));
                }
            };
            match inner.poll_ready(cx) {
                Poll::Ready(Ok(())) => {
                    let call = inner.call(request);
                    this.state.set(State::Calling { call });
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    let next = Some((inner, request));
                    this.state.set(State::Waiting { next });
                    return Poll::Pending;
                }
            }
        }
    }
}

fn answer(rejection: &Rejection) -> Response<Body> {
    tracing::debug!(target: "portcullis::ingress", ?rejection, "request refused");
    rejection.response()
}

impl<S: Service<Request<Posted>>, B> std::fmt::Debug for ResponseFuture<S, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ResponseFuture")
    }
}
