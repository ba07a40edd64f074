//! Refuses messages in which an object has two members of one name.
//!
//! A message passes if no object in it, at any depth, has two members whose decoded names are equal:
//! `"a"` and `"\u0061"` are the same name, `"a"` and `"A"` are two. What else is in the message does
//! not matter here.
//!
//! A refused message is answered with -32600 and HTTP 400, and nothing below sees it. The reply has
//! the id of the request, unless the id itself stands twice: then nobody knows which one counts.
//!
//! Readers disagree on which of two members they take, so a message with two can mean one thing to
//! whatever checks it and another to whatever acts on it. The scan that every message goes through
//! anyway has found the duplicates; this layer only says what happens to them.
//!
//! It stands outermost on the frame plane: everything below may take names to be unique.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::DuplicateKeysLayer;
//! use portcullis::service::{Inbound, Outbound};
//! use portcullis::wire::Frame;
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let service = ServiceBuilder::new()
//!     .layer(DuplicateKeysLayer::new())
//!     .service(service_fn(|_: Inbound| async { Ok::<_, BoxError>(Outbound::accepted()) }));
//! let message = |text: &str| Inbound::new(Frame::parse(text.into(), 128).unwrap());
//!
//! let passes = service.clone().oneshot(message(r#"{"a":1,"A":2}"#)).await.unwrap();
//! assert_eq!(passes.hints.status, 202);
//! let refused = service.oneshot(message(r#"{"a":1,"\u0061":2}"#)).await.unwrap();
//! assert_eq!(refused.hints.status, 400);
//! # });
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the inner one; nothing else is held.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::service::{Inbound, Outbound};
use crate::wire::{Error, Frame};

use super::macros::opaque_debug;

/// Layer that applies [`DuplicateKeys`]. See the [module docs](self).
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct DuplicateKeysLayer {
    _private: (),
}

impl DuplicateKeysLayer {
    /// There is nothing to configure.
    pub const fn new() -> Self {
        Self { _private: () }
    }
}

impl<S> Layer<S> for DuplicateKeysLayer {
    type Service = DuplicateKeys<S>;

    fn layer(&self, inner: S) -> DuplicateKeys<S> {
        DuplicateKeys { inner }
    }
}

/// Middleware that refuses duplicate names. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct DuplicateKeys<S> {
    inner: S,
}

/// The refusal, if a message is refused.
fn verify(frame: &Frame) -> Result<(), Error> {
    let Some(duplicate) = frame.duplicate() else {
        return Ok(());
    };
    let shown: String = duplicate.name.chars().take(LONGEST_SHOWN).collect();
    let offset = duplicate.offset;
    Err(Error::invalid_request(format_args!(
        "the name {shown:?} stands twice, again at byte {offset}"
    )))
}

impl<S: Service<Inbound, Response = Outbound>> Service<Inbound> for DuplicateKeys<S> {
    type Response = Outbound;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, inbound: Inbound) -> Self::Future {
        let kind = match verify(&inbound.frame) {
            Ok(()) => Kind::Passed {
                inner: self.inner.call(inbound),
            },
            Err(error) => {
                tracing::debug!(target: "portcullis::duplicate_keys", "message refused");
                let outbound = Outbound::error(inbound.frame.id().as_ref(), &error, None);
                Kind::Refused {
                    outbound: Some(outbound),
                }
            }
        };
        ResponseFuture { kind }
    }
}

pin_project! {
    /// The future of [`DuplicateKeys`].
    pub struct ResponseFuture<F> {
        #[pin]
        kind: Kind<F>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<F> {
        Passed { #[pin] inner: F },
        Refused { outbound: Option<Outbound> },
    }
}

impl<F, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Outbound, E>>,
{
    type Output = Result<Outbound, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProjected::Passed { inner } => inner.poll(cx),
            KindProjected::Refused { outbound } => {
                Poll::Ready(Ok(outbound.take().unwrap_or_else(Outbound::accepted)))
            }
        }
    }
}

opaque_debug!(ResponseFuture<F>);

/// Characters of a duplicate name that are told.
const LONGEST_SHOWN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::contract;
    use tower::ServiceExt as _;

    fn message(text: &str) -> Inbound {
        Inbound::new(Frame::parse(text.as_bytes().to_vec(), 128).unwrap())
    }

    async fn refused(text: &str) -> String {
        let inner = tower::service_fn(|_: Inbound| async { panic!("reached the inner service") });
        let inner = inner.map_response(|never: std::convert::Infallible| match never {});
        let inner = inner.map_err(|error: tower::BoxError| error);
        let outbound = DuplicateKeysLayer::new()
            .layer(inner)
            .oneshot(message(text))
            .await
            .unwrap();
        assert_eq!(outbound.hints.status, 400);
        String::from_utf8(outbound.payload.unwrap().into_bytes().to_vec()).unwrap()
    }

    /// Contract: S-092, S-093, S-033, case J10.
    #[tokio::test]
    async fn refuses_decoded_duplicates_before_anything_is_called() {
        let reply = refused(r#"{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}"#).await;
        assert!(
            reply.contains(r#""id":1,"#) && reply.contains("-32600"),
            "{reply}"
        );
        let reply = refused(r#"{"jsonrpc":"2.0","id":2,"id":3,"method":"a"}"#).await;
        assert!(!reply.contains(r#""id""#), "{reply}");
        let reply = refused(r#"{"id":"x","params":{"_meta":{"a":{},"a":1}}}"#).await;
        assert!(reply.contains(r#""id":"x""#), "{reply}");
        let long = "k".repeat(100_000);
        let reply = refused(&format!(r#"{{"{long}":1,"{long}":2}}"#)).await;
        assert!(reply.len() < 300, "{reply}");
    }

    #[tokio::test]
    async fn names_are_the_same_or_they_are_not() {
        for passes in [
            "[]",
            r#"{"a":1,"A":2,"a ":3,"":4}"#,
            r#"{"a":{"b":1},"b":{"a":1}}"#,
            r#"[{"a":1},{"a":1}]"#,
            r#"{"\u00e9":1,"e\u0301":2}"#,
        ] {
            let inner = tower::service_fn(async |inbound: Inbound| {
                Ok::<_, tower::BoxError>(Outbound::new(
                    inbound.frame.text().as_bytes().to_vec().into(),
                ))
            });
            let outbound = DuplicateKeysLayer::new()
                .layer(inner)
                .oneshot(message(passes));
            let payload = outbound.await.unwrap().payload.unwrap();
            assert_eq!(payload.into_bytes(), passes);
        }
        for twice in [
            r#"{"":1,"":2}"#,
            r#"[[{"a":[{"b":1,"c":2,"b":3}]}]]"#,
            r#"{"\ud83d\ude00":1,"\uD83D\uDE00":2}"#,
        ] {
            assert!(refused(twice).await.contains("-32600"), "{twice}");
        }
    }

    #[test]
    fn readiness_is_that_of_the_inner_service() {
        contract::holds::<_, _, Outbound>(&DuplicateKeysLayer::new(), || message("{}"));
    }
}
