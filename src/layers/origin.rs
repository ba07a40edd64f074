//! Refuses requests that a web page makes, or makes a browser make, against the server's will.
//!
//! A request passes if
//!
//! 1. it names one host, in the request line (`:authority` on HTTP/2) or in `Host`, and if it names
//!    it in both, both pass;
//! 2. that host is allowed: without a setting only `localhost`, `127.0.0.1` and `[::1]`, on any
//!    port, which is what defeats DNS rebinding;
//! 3. it has no `Origin`, or exactly one, and that is allowed: without a setting `http` and `https`
//!    origins of the allowed hosts.
//!
//! A missing or second host is answered with 400, everything else with 403, before the body is read
//! and whatever the method. Hosts and schemes are compared without regard to case; a trailing dot,
//! credentials, a path or any other addition is a different host or origin. `null` and the empty
//! origin never pass.
//!
//! It stands outermost, so that nothing else is done for a request that is not meant for the server.
//!
//! # Deployment
//!
//! Behind a proxy or on a public address say what the server is called, with
//! [`public_url`](OriginLayer::public_url) or [`allow_host`](OriginLayer::allow_host). An explicit
//! list takes the place of the default: `localhost` does not pass it then.
//!
//! # Examples
//!
//! ```
//! use http::{Request, StatusCode};
//! use portcullis::layers::{Body, OriginLayer};
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let service = ServiceBuilder::new()
//!     .layer(OriginLayer::new())
//!     .service(service_fn(|_: Request<()>| async {
//!         Ok::<_, BoxError>(http::Response::new(Body::empty()))
//!     }));
//! let request = |host: &str| Request::post("/mcp").header("host", host).body(()).unwrap();
//!
//! let passes = service.clone().oneshot(request("localhost:8080")).await.unwrap();
//! assert_eq!(passes.status(), StatusCode::OK);
//! let refused = service.oneshot(request("evil.example")).await.unwrap();
//! assert_eq!(refused.status(), StatusCode::FORBIDDEN);
//! # });
//! ```
//!
//! # Cancellation
//!
//! Dropping the future drops the inner one; nothing else is held.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::service::ConfigError;
use crate::wire::Error;

use super::body::Body;
use super::http_reply::refuse;
use super::macros::opaque_debug;

/// Layer that applies [`OriginCheck`]. See the [module docs](self).
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct OriginLayer {
    rules: Arc<Rules>,
}

#[derive(Clone, Debug, Default)]
struct Rules {
    hosts: Hosts,
    origins: Origins,
}

#[derive(Clone, Debug, Default)]
enum Hosts {
    #[default]
    Loopback,
    /// In lower case, with a port where only that one is meant.
    Listed(BTreeSet<String>),
    Any,
}

#[derive(Clone, Debug, Default)]
enum Origins {
    /// Those of the allowed hosts.
    #[default]
    Derived,
    /// In lower case, without a default port.
    Listed(BTreeSet<String>),
    Any,
}

impl OriginLayer {
    /// Only loopback names pass.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a host: a name or address, on any port unless it says one. It takes the place of the
    /// loopback names; hosts allowed before stay.
    ///
    /// # Errors
    ///
    /// If it is not a host.
    pub fn allow_host(mut self, host: &str) -> Result<Self, ConfigError> {
        let parsed: Option<Authority> = host.parse().ok();
        let named = parsed.filter(|authority| is_plain(authority) && !authority.host().is_empty());
        let named = named.ok_or_else(|| {
            ConfigError::new(
                "allow_host",
                format!("`{host}` is not a host, or a host and a port"),
            )
        })?;
        let mut listed = match &self.rules.hosts {
            Hosts::Listed(listed) => listed.clone(),
            _ => BTreeSet::new(),
        };
        listed.insert(named.as_str().to_ascii_lowercase());
        self.rules_mut().hosts = Hosts::Listed(listed);
        Ok(self)
    }

    /// Allows an origin such as `https://app.example` or `http://localhost:3000`. It takes the place
    /// of the origins of the allowed hosts; origins allowed before stay.
    ///
    /// # Errors
    ///
    /// If it is not an origin.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, ConfigError> {
        let parsed = ParsedOrigin::parse(origin).ok_or_else(|| {
            ConfigError::new(
                "allow_origin",
                format!("`{origin}` is not a scheme, a host and a port"),
            )
        })?;
        let mut listed = match &self.rules.origins {
            Origins::Listed(listed) => listed.clone(),
            _ => BTreeSet::new(),
        };
        listed.insert(parsed.to_string());
        self.rules_mut().origins = Origins::Listed(listed);
        Ok(self)
    }

    /// Allows the host and the origin of the URL under which clients reach the server.
    ///
    /// # Errors
    ///
    /// If it is not an absolute `http` or `https` URL.
    pub fn public_url(self, url: &str) -> Result<Self, ConfigError> {
        let invalid =
            || ConfigError::new("public_url", format!("`{url}` is not an http or https URL"));
        let uri: Uri = url.parse().map_err(|_| invalid())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(invalid());
        };
        let origin = format!("{scheme}://{authority}");
        let layer = self.allow_host(authority.as_str()).map_err(|_| invalid())?;
        layer.allow_origin(&origin).map_err(|_| invalid())
    }

    /// Lets every host pass. Any web page can then reach the server by DNS rebinding, unless
    /// something in front checks the host.
    pub fn insecure_any_host(mut self) -> Self {
        tracing::warn!(target: "portcullis::origin", "every host passes");
        self.rules_mut().hosts = Hosts::Any;
        self
    }

    /// Lets every origin pass. Any web page can then make the browser of its visitor call the
    /// server.
    pub fn insecure_any_origin(mut self) -> Self {
        tracing::warn!(target: "portcullis::origin", "every origin passes");
        self.rules_mut().origins = Origins::Any;
        self
    }

    /// Whether nothing but loopback names pass.
    pub fn is_loopback_only(&self) -> bool {
        matches!(self.rules.hosts, Hosts::Loopback)
    }

    fn rules_mut(&mut self) -> &mut Rules {
        Arc::make_mut(&mut self.rules)
    }
}

impl<S> Layer<S> for OriginLayer {
    type Service = OriginCheck<S>;

    fn layer(&self, inner: S) -> OriginCheck<S> {
        OriginCheck {
            inner,
            rules: Arc::clone(&self.rules),
        }
    }
}

/// Middleware that checks hosts and origins. See the [module docs](self).
#[derive(Clone, Debug)]
pub struct OriginCheck<S> {
    inner: S,
    rules: Arc<Rules>,
}

/// Why a request does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rejection {
    HostMissing,
    HostRepeated,
    HostRefused,
    OriginRefused,
}

impl Rules {
    /// The rules, in the order of the module docs.
    fn verify(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Rejection> {
        let Told { host, origin } = Told::by(headers);
        let host = match host {
            Lines::None => None,
            Lines::One(host) => Some(host),
            Lines::Several => return Err(Rejection::HostRepeated),
        };
        if host.is_none() && uri.authority().is_none() {
            return Err(Rejection::HostMissing);
        }
        if let Some(authority) = uri.authority()
            && !self.allows_host(authority)
        {
            return Err(Rejection::HostRefused);
        }
        if host.is_some_and(|host| !host.to_str().is_ok_and(|host| self.allows_host_text(host))) {
            return Err(Rejection::HostRefused);
        }
        match origin {
            // Something that is not a browser sends no origin.
            Lines::None => Ok(()),
            _ if matches!(self.origins, Origins::Any) => Ok(()),
            Lines::One(origin) if self.allows_origin_text(origin) => Ok(()),
            _ => Err(Rejection::OriginRefused),
        }
    }

    fn allows_origin_text(&self, origin: &HeaderValue) -> bool {
        let parsed = origin.to_str().ok().and_then(ParsedOrigin::parse);
        parsed.is_some_and(|parsed| self.allows_origin(&parsed))
    }

    /// As [`allows_host`](Self::allows_host), without taking the usual names apart in full.
    fn allows_host_text(&self, text: &str) -> bool {
        if let (Hosts::Loopback, Some((host, port))) = (&self.hosts, text.rsplit_once(':'))
            && (1..=5).contains(&port.len())
            && port.bytes().all(|b| b.is_ascii_digit())
            && is_loopback(host)
        {
            return port.parse::<u16>().is_ok();
        }
        text.parse()
            .is_ok_and(|authority| self.allows_host(&authority))
    }

    fn allows_host(&self, authority: &Authority) -> bool {
        match &self.hosts {
            Hosts::Any => true,
            _ if !is_plain(authority) => false,
            Hosts::Loopback => is_loopback(authority.host()),
            Hosts::Listed(listed) => {
                let full = authority.as_str().to_ascii_lowercase();
                listed.contains(&authority.host().to_ascii_lowercase()) || listed.contains(&full)
            }
        }
    }

    fn allows_origin(&self, origin: &ParsedOrigin) -> bool {
        match &self.origins {
            Origins::Any => true,
            Origins::Derived if matches!(self.hosts, Hosts::Any) => {
                is_loopback(origin.authority.host())
            }
            Origins::Derived => self.allows_host(&origin.authority),
            Origins::Listed(listed) => listed.contains(&origin.to_string()),
        }
    }
}

/// What the headers say of host and origin.
#[derive(Default)]
struct Told<'a> {
    host: Lines<'a>,
    origin: Lines<'a>,
}

/// How often a header stands there.
#[derive(Clone, Copy, Default)]
enum Lines<'a> {
    #[default]
    None,
    One(&'a HeaderValue),
    Several,
}

impl<'a> Told<'a> {
    /// Requests have few headers: to walk over them once is quicker than to look two of them up.
    fn by(headers: &'a HeaderMap) -> Self {
        let mut told = Self::default();
        for (name, value) in headers {
            if *name == HOST {
                told.host.add(value);
            } else if *name == ORIGIN {
                told.origin.add(value);
            }
        }
        told
    }
}

impl<'a> Lines<'a> {
    fn add(&mut self, value: &'a HeaderValue) {
        *self = match self {
            Self::None => Self::One(value),
            _ => Self::Several,
        };
    }
}

/// An origin: a web scheme, a host and maybe a port, and nothing else.
struct ParsedOrigin {
    scheme: &'static str,
    authority: Authority,
}

impl ParsedOrigin {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = ["http", "https"]
            .into_iter()
            .find(|known| scheme.eq_ignore_ascii_case(known))?;
        let authority: Authority = rest.parse().ok()?;
        (is_plain(&authority) && !authority.host().is_empty()).then_some(Self { scheme, authority })
    }
}

impl std::fmt::Display for ParsedOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let default = if self.scheme == "http" { 80 } else { 443 };
        write!(
            f,
            "{}://{}",
            self.scheme,
            self.authority.host().to_ascii_lowercase()
        )?;
        match self.authority.port_u16() {
            Some(port) if port != default => write!(f, ":{port}"),
            _ => Ok(()),
        }
    }
}

/// A host and maybe a port: no credentials, and no port that is not one.
fn is_plain(authority: &Authority) -> bool {
    let text = authority.as_str();
    let behind = &text[authority.host().len().min(text.len())..];
    !text.contains('@') && (behind.is_empty() || authority.port_u16().is_some())
}

fn is_loopback(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|name| host.eq_ignore_ascii_case(name))
}

impl Rejection {
    fn response(self) -> Response<Body> {
        let (status, problem) = match self {
            Self::HostMissing => (StatusCode::BAD_REQUEST, "the request names no host"),
            Self::HostRepeated => (StatusCode::BAD_REQUEST, "the request names several hosts"),
            Self::HostRefused => (
                StatusCode::FORBIDDEN,
                "this host is not allowed; the server can allow it with `public_url`, `allow_hosts` \
                 or `insecure_any_host`",
            ),
            Self::OriginRefused => (
                StatusCode::FORBIDDEN,
                "this origin is not allowed; the server can allow it with `public_url` or \
                 `allow_origins`",
            ),
        };
        refuse(status, &Error::invalid_request(problem))
    }
}

impl<S, B> Service<Request<B>> for OriginCheck<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let kind = match self.rules.verify(request.uri(), request.headers()) {
            Ok(()) => Kind::Passed {
                inner: self.inner.call(request),
            },
            Err(rejection) => {
                tracing::debug!(target: "portcullis::origin", ?rejection, "request refused");
                Kind::Refused {
                    response: Some(rejection.response()),
                }
            }
        };
        ResponseFuture { kind }
    }
}

pin_project! {
    /// The future of [`OriginCheck`].
    pub struct ResponseFuture<F> {
        #[pin]
        kind: Kind<F>,
    }
}

pin_project! {
    #[project = KindProjected]
    enum Kind<F> {
        Passed { #[pin] inner: F },
        Refused { response: Option<Response<Body>> },
    }
}

impl<F, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().kind.project() {
            KindProjected::Passed { inner } => inner.poll(cx),
            KindProjected::Refused { response } => {
                Poll::Ready(Ok(response.take().unwrap_or_default()))
            }
        }
    }
}

opaque_debug!(ResponseFuture<F>);

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use tower::{ServiceExt as _, service_fn};

    use super::*;
    use crate::layers::contract;

    fn verify(layer: &OriginLayer, uri: &str, headers: &[(&str, &str)]) -> Result<(), Rejection> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                http::HeaderName::try_from(*name).unwrap(),
                value.parse().unwrap(),
            );
        }
        layer.rules.verify(&uri.parse().unwrap(), &map)
    }

    fn origin(layer: &OriginLayer, origin: &str) -> bool {
        verify(layer, "/", &[("host", "localhost"), ("origin", origin)]).is_ok()
    }

    /// Contract: P-54, P-55, S-005, M-065, case H03.
    #[test]
    fn origins_are_compared_as_a_whole() {
        let default = OriginLayer::new();
        for good in [
            "http://localhost:3",
            "http://127.0.0.1:3",
            "https://[::1]:3",
            "HTTP://LOCALHOST:3",
        ] {
            assert!(origin(&default, good), "{good}");
        }
        for bad in [
            "null",
            "",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example:3",
            "http://localhost:3@evil.example",
            "http://evil.example#http://localhost:3",
            "http://localhost.:3",
            "http://[::ffff:127.0.0.1]:3",
            "file://",
            "chrome-extension://abc",
            "http://localhost/",
            "http://localhost:x",
            "localhost",
            "http://user@localhost",
            "http://localhost:",
        ] {
            assert!(!origin(&default, bad), "{bad}");
        }
        let both = [
            ("host", "localhost"),
            ("origin", "http://localhost"),
            ("origin", "http://evil"),
        ];
        assert_eq!(verify(&default, "/", &both), Err(Rejection::OriginRefused));
        assert_eq!(
            verify(&default, "/", &[("host", "localhost")]),
            Ok(()),
            "no origin passes"
        );

        let listed = OriginLayer::new()
            .allow_origin("https://app.example")
            .unwrap();
        assert!(origin(&listed, "https://APP.example:443"));
        for bad in [
            "http://app.example",
            "https://app.example:444",
            "http://localhost",
        ] {
            assert!(!origin(&listed, bad), "{bad}");
        }
    }

    /// Contract: S-006, case H04.
    #[test]
    fn hosts_are_judged_wherever_they_are_named() {
        let default = OriginLayer::new();
        let host = |host: &str| verify(&default, "/mcp", &[("host", host)]);
        for good in [
            "localhost:3",
            "127.0.0.1:3",
            "[::1]:3",
            "LOCALHOST:3",
            "localhost",
            "[::1]",
        ] {
            assert_eq!(host(good), Ok(()), "{good}");
        }
        for bad in [
            "evil.example",
            "localhost.evil.example:3",
            "localhost:3:4",
            "a@localhost",
            "[::2]",
            "localhost.",
        ] {
            assert_eq!(host(bad), Err(Rejection::HostRefused), "{bad}");
        }
        assert_eq!(verify(&default, "/mcp", &[]), Err(Rejection::HostMissing));
        let twice = [("host", "localhost"), ("host", "localhost")];
        assert_eq!(
            verify(&default, "/mcp", &twice),
            Err(Rejection::HostRepeated)
        );
        let absolute = "http://evil.example/mcp";
        assert_eq!(
            verify(&default, absolute, &[("host", "localhost")]),
            Err(Rejection::HostRefused)
        );
        assert_eq!(verify(&default, "http://localhost:3/mcp", &[]), Ok(()));
        let evil = [("host", "evil.example")];
        assert_eq!(
            verify(&default, "http://localhost/mcp", &evil),
            Err(Rejection::HostRefused)
        );
    }

    #[test]
    fn settings_take_the_place_of_the_default() {
        let listed = OriginLayer::new().allow_host("Api.example:8443").unwrap();
        let host = |host: &str| verify(&listed, "/", &[("host", host)]).is_ok();
        assert!(host("api.example:8443") && !host("api.example") && !host("localhost:8443"));
        let public = OriginLayer::new()
            .public_url("https://mcp.example/base")
            .unwrap();
        let asked = [("host", "mcp.example"), ("origin", "https://mcp.example")];
        assert_eq!(verify(&public, "/", &asked), Ok(()));
        assert!(
            !origin(&public, "https://mcp.example"),
            "the host is localhost here"
        );
        let open = OriginLayer::new().insecure_any_host().insecure_any_origin();
        assert_eq!(
            verify(&open, "/", &[("host", "x@y"), ("origin", "null")]),
            Ok(())
        );
        for bad in ["", "http://x", "a b", "x@y"] {
            assert!(OriginLayer::new().allow_host(bad).is_err(), "{bad}");
        }
        assert!(OriginLayer::new().public_url("ftp://x").is_err());
        assert!(OriginLayer::new().public_url("/mcp").is_err());
    }

    #[tokio::test]
    async fn refused_requests_reach_nothing() {
        let inner = service_fn(|_: Request<()>| async {
            Err::<Response<Body>, _>(tower::BoxError::from("reached the inner service"))
        });
        let service = OriginLayer::new().layer(inner);
        let send = |name: &'static str, value: &'static str, status| {
            let mut request = Request::delete("/")
                .header("host", "localhost")
                .body(())
                .unwrap();
            request
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
            let service = service.clone();
            async move {
                let response = service.oneshot(request).await.unwrap();
                assert_eq!(response.status(), status, "{name}: {value}");
            }
        };
        send("host", "evil.example", StatusCode::FORBIDDEN).await;
        send("origin", "http://evil.example", StatusCode::FORBIDDEN).await;
        send("host", "localhost:x", StatusCode::FORBIDDEN).await;
        let nameless = service.clone().oneshot(Request::new(())).await.unwrap();
        assert_eq!(nameless.status(), StatusCode::BAD_REQUEST);
    }

    #[test]
    fn readiness_is_that_of_the_inner_service() {
        let request = || {
            Request::get("/")
                .header("host", "localhost")
                .body(())
                .unwrap()
        };
        contract::holds::<_, _, Response<Body>>(&OriginLayer::new(), request);
    }
}
