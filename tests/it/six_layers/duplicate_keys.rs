//! Duplicate-key rejection: without it a message means one thing to whoever reads it on the way, and
//! another to the server.

use std::pin::Pin;
use std::task::{Context, Poll};

use portcullis::service::{FrameService, Inbound, Outbound};
use portcullis::wire::Error;
use serde_json::Value;
use tower::layer::util::Identity;
use tower::{BoxError, Layer, Service};

use super::{Wire, call, standard};

/// A call that opens the gate, to a server that takes the first of two names, and closes it, to a
/// proxy that takes the last.
fn ambiguous() -> String {
    let open = call("open_gate", "{}");
    let both = open.replace(
        r#""name":"open_gate""#,
        r#""name":"open_gate","\u006eame":"close_gate""#,
    );
    assert_ne!(open, both);
    both
}

/// Contract: S-033, S-092, S-093, case J10.
#[tokio::test]
async fn without_it_the_first_of_two_names_runs_and_the_last_is_what_others_read() {
    let message = ambiguous();
    let read: Value = serde_json::from_str(&message).unwrap();
    assert_eq!(read["params"]["arguments"]["name"], "close_gate");

    let (parts, probe) = standard();
    let mut within = Wire::open(parts.http()).await;
    let refused = within.send(&message).await;
    assert_eq!(refused.outcome(), (400, -32600));
    assert_eq!(refused.json()["id"], 1);
    assert_eq!((probe.tally.get(), probe.finished.get()), (0, 0));

    let (parts, probe) = standard();
    let mut without = Wire::open(parts.duplicate_keys(Identity::new()).http()).await;
    let taken = without.send(&message).await;
    assert_eq!(taken.outcome(), (200, 0));
    assert_eq!((probe.tally.get(), probe.finished.get()), (1, 0));
}

/// Answers duplicates as something the client has to think over, in words of its own.
#[derive(Clone)]
struct ThinkAgain<S = ()> {
    inner: S,
}

impl<S> Layer<S> for ThinkAgain {
    type Service = ThinkAgain<S>;

    fn layer(&self, inner: S) -> ThinkAgain<S> {
        ThinkAgain { inner }
    }
}

impl<S: FrameService> Service<Inbound> for ThinkAgain<S> {
    type Response = Outbound;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Outbound, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, inbound: Inbound) -> Self::Future {
        if let Some(duplicate) = inbound.frame.duplicate() {
            let error = Error::new(-1, format!("which {}?", duplicate.name));
            let id = inbound.frame.id();
            return Box::pin(
                async move { Ok(Outbound::error(id.as_ref(), &error, None).status(422)) },
            );
        }
        let call = self.inner.call(inbound);
        Box::pin(async { call.await.map_err(Into::into) })
    }
}

#[tokio::test]
async fn another_can_stand_in_its_place() {
    let (parts, probe) = standard();
    let mut wire = Wire::open(parts.duplicate_keys(ThinkAgain { inner: () }).http()).await;
    let refused = wire.send(&ambiguous()).await;
    assert_eq!(refused.outcome(), (422, -1));
    assert_eq!(refused.json()["error"]["message"], "which name?");
    assert_eq!(probe.tally.get(), 0);
    assert_eq!(
        wire.send(&call("open_gate", "{}")).await.outcome(),
        (200, 0)
    );
    assert_eq!(probe.tally.get(), 1);
}
