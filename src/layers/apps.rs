//! Mounts the Apps shell: one static page, readable by everybody who gets this far.
//!
//! A `resources/read` for exactly the shell's URI, compared byte for byte, is answered here, whatever
//! else there is under that URI below. Everything else passes untouched: the shell stands in no list
//! and takes part in no policy.
//!
//! The answer is encoded once, and no copy of the page is made for a read.
//!
//! It belongs to compact mode, which says on `call_tool` where the shell is, and stands above it. The
//! core has to be told that there are resources and the extension
//! ([`shell`](crate::service::dispatch::McpServiceBuilder::shell)); the standard stack does all three.
//!
//! # Examples
//!
//! ```
//! use portcullis::layers::AppsLayer;
//! use portcullis::service::{Apps, Envelope, Limits, McpService, Registry};
//! use portcullis::wire::json::RawJson;
//! use portcullis::wire::{Method, ProtocolVersion};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let apps = Apps::new("ui://calculator/shell", "<!doctype html>")?;
//! let stack = ServiceBuilder::new()
//!     .layer(AppsLayer::new(apps, &Limits::default())?)
//!     .service(McpService::builder(Registry::builder().build()?).build()?);
//! let read = |params: &str| {
//!     let params = RawJson::parse(params).unwrap();
//!     Envelope::new(Method::RESOURCES_READ, ProtocolVersion::July2026).id(1).params(params)
//! };
//!
//! let shell = stack.clone().oneshot(read(r#"{"uri":"ui://calculator/shell"}"#)).await.unwrap();
//! assert!(shell.error().is_none());
//! let other = stack.oneshot(read(r#"{"uri":"ui://calculator/shell/"}"#)).await.unwrap();
//! assert!(other.error().is_some());
//! # Ok::<(), portcullis::ConfigError>(())
//! # }).unwrap();
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

use crate::service::{Apps, CacheHint, ConfigError, Envelope, Limits, RESERVE, Reply, count};
use crate::wire::Method;

use super::macros::opaque_debug;

/// Layer that applies [`WithApps`]. See the [module docs](self).
#[derive(Clone, Debug)]
#[must_use]
pub struct AppsLayer {
    apps: Apps,
}

impl AppsLayer {
    /// Mounts a shell.
    ///
    /// # Errors
    ///
    /// If the encoded shell does not fit a response: escapes can make it longer than the page.
    pub fn new(apps: Apps, limits: &Limits) -> Result<Self, ConfigError> {
        if apps.read().len() > count(limits.response_bytes).saturating_sub(RESERVE) {
            return Err(ConfigError::new(
                "apps",
                "the encoded shell does not fit a response",
            ));
        }
        Ok(Self { apps })
    }
}

impl<S> Layer<S> for AppsLayer {
    type Service = WithApps<S>;

    fn layer(&self, inner: S) -> WithApps<S> {
        WithApps {
            inner,
            apps: self.apps.clone(),
        }
    }
}

/// Middleware that serves the shell. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct WithApps<S> {
    inner: S,
    apps: Apps,
}

impl<S> WithApps<S> {
    /// Whether the shell is asked for.
    fn is_asked_for(&self, envelope: &Envelope) -> bool {
        *envelope.method() == Method::RESOURCES_READ
            && envelope.request_id().is_some()
            && envelope.param("uri").is_some_and(|uri| {
                uri.node()
                    .as_str()
                    .is_some_and(|uri| uri == self.apps.uri())
            })
    }
}

impl<S: Service<Envelope, Response = Reply>> Service<Envelope> for WithApps<S> {
    type Response = Reply;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, envelope: Envelope) -> Self::Future {
        let kind = if self.is_asked_for(&envelope) {
            let reply = Reply::cacheable(self.apps.read().clone(), CacheHint::NONE);
            Kind::Served { reply: Some(reply) }
        } else {
            Kind::Passed {
                inner: self.inner.call(envelope),
            }
        };
        ResponseFuture { kind }
    }
}

pin_project! {
    /// The future of [`WithApps`].
    pub struct ResponseFuture<F> {
        #[pin]
        kind: Kind<F>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<F> {
        Passed { #[pin] inner: F },
        Served { reply: Option<Reply> },
    }
}

impl<F, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Reply, E>>,
{
    type Output = Result<Reply, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProjected::Passed { inner } => inner.poll(cx),
            KindProjected::Served { reply } => {
                Poll::Ready(Ok(reply.take().unwrap_or_else(Reply::accepted)))
            }
        }
    }
}

opaque_debug!(ResponseFuture<F>);

#[cfg(test)]
mod tests {
    use tower::{ServiceExt as _, service_fn};

    use super::*;
    use crate::layers::contract;
    use crate::wire::ProtocolVersion;
    use crate::wire::json::RawJson;

    /// Contract: S-177.
    #[test]
    fn the_encoded_shell_fits_a_response_or_is_refused() {
        let apps = Apps::new("ui://a", "\u{1}".repeat(1000)).unwrap();
        let room = (apps.read().len() + RESERVE) as u64;
        assert!(AppsLayer::new(apps.clone(), &Limits::default().response_bytes(room)).is_ok());
        assert!(AppsLayer::new(apps, &Limits::default().response_bytes(room - 1)).is_err());
    }

    /// Contract: S-169, S-170, S-171, S-178.
    #[tokio::test]
    async fn exactly_the_shell_is_served_and_nothing_below_is_asked() {
        let html = "<!doctype html>\r\n<p>\u{fc}</p>";
        let apps = Apps::new("ui://a/shell", html).unwrap();
        let inner =
            service_fn(|_: Envelope| async { Err::<Reply, _>(tower::BoxError::from("asked")) });
        let stack = AppsLayer::new(apps, &Limits::default())
            .unwrap()
            .layer(inner);
        let read = |uri: &str| {
            let params = RawJson::parse(format!(r#"{{"uri":"{uri}"}}"#)).unwrap();
            let call = Envelope::new(Method::RESOURCES_READ, ProtocolVersion::July2026).id(1);
            stack.clone().oneshot(call.params(params))
        };
        for same in ["ui://a/shell", r"ui:\/\/a\/shell"] {
            let reply = read(same).await.unwrap();
            let members = String::from_utf8(reply.members().unwrap().to_vec()).unwrap();
            let quoted = crate::wire::json::quote(html);
            assert_eq!(
                members,
                format!(
                    r#""contents":[{{"uri":"ui://a/shell","mimeType":"text/html;profile=mcp-app","text":{quoted}}}]"#
                )
            );
        }
        for other in [
            "ui://A/shell",
            "ui://a/shell/",
            "ui://a/%73hell",
            "ui://a/shell?",
        ] {
            assert!(read(other).await.is_err(), "{other}");
        }
    }

    #[tokio::test]
    async fn whatever_is_no_request_for_the_shell_passes() {
        let apps = Apps::new("ui://a/shell", "x").unwrap();
        let layer = AppsLayer::new(apps, &Limits::default()).unwrap();
        let inner =
            service_fn(async |_: Envelope| Ok::<_, tower::BoxError>(Reply::result("\"passed\":1")));
        let params = || RawJson::parse(r#"{"uri":"ui://a/shell"}"#).unwrap();
        let call = |method| Envelope::new(method, ProtocolVersion::July2026).params(params());
        for passes in [
            call(Method::RESOURCES_LIST).id(1),
            call(Method::COMPLETE).id(1),
            // A notification wants no answer.
            call(Method::RESOURCES_READ),
            Envelope::new(Method::RESOURCES_READ, ProtocolVersion::July2026).id(1),
        ] {
            let reply = layer.layer(inner).oneshot(passes).await.unwrap();
            assert_eq!(reply.members(), Some(&b"\"passed\":1"[..]));
        }
    }

    #[test]
    fn readiness_is_that_of_the_inner_service() {
        let apps = Apps::new("ui://a/shell", "x").unwrap();
        let layer = AppsLayer::new(apps, &Limits::default()).unwrap();
        let call = || Envelope::new(Method::PING, ProtocolVersion::July2026).id(1);
        contract::holds::<_, _, Reply>(&layer, call);
    }
}
