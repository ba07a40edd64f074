//! What measures: a clock and a counter of allocations are given the same services to call.

use std::fmt::Debug;
use std::future::poll_fn;

use http::Response;
use portcullis::layers::Body;
use portcullis::service::{Outbound, Payload, Reply};
use tower::Service;

/// Measures calls, group by group. The first of a group is what the others are compared with.
pub(crate) trait Meter {
    /// Opens a group.
    fn group(&mut self, name: &str);

    /// Measures calls of `service`, each with a clone of `request`.
    fn calls<S, R>(&mut self, name: &str, service: S, request: R)
    where
        S: Service<R, Response: Answer, Error: Debug>,
        R: Clone;
}

/// An answer that can be told from a refusal, which would be quick to give.
pub(crate) trait Answer {
    /// Whether this is what was asked for.
    fn is_good(&self) -> bool;
}

impl Answer for Reply {
    fn is_good(&self) -> bool {
        let members = self.members().unwrap_or_default();
        self.error().is_none() && self.failure().is_none() && says_no_failure(members)
    }
}

impl Answer for Outbound {
    fn is_good(&self) -> bool {
        let payload = self.payload.clone().map(Payload::into_bytes);
        matches!(self.hints.status, 200 | 202) && says_no_failure(&payload.unwrap_or_default())
    }
}

impl Answer for Response<Body> {
    fn is_good(&self) -> bool {
        self.status().is_success()
    }
}

/// The body of an HTTP answer, or a naive one.
impl Answer for bytes::Bytes {
    fn is_good(&self) -> bool {
        says_no_failure(self)
    }
}

fn says_no_failure(answer: &[u8]) -> bool {
    let answer = String::from_utf8_lossy(answer);
    !answer.contains(r#""isError":true"#) && !answer.contains(r#""error":{"#)
}

/// Makes one call, as soon as the service is ready for it.
pub(crate) async fn call<S, R>(service: &mut S, request: R) -> S::Response
where
    S: Service<R, Error: Debug>,
{
    let ready = poll_fn(|cx| service.poll_ready(cx)).await;
    ready.expect("a service to measure is ready");
    let response = service.call(request).await;
    response.expect("a service to measure answers")
}

/// Makes one call to see that it is what is meant to be measured.
pub(crate) fn check<S, R>(name: &str, service: &mut S, request: R)
where
    S: Service<R, Response: Answer, Error: Debug>,
{
    let answer = runtime().block_on(call(service, request));
    assert!(answer.is_good(), "{name} is refused");
}

/// The runtime all measuring happens on.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("the system lets a runtime be made")
}
