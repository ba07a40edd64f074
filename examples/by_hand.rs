//! The standard stack put together layer by layer, one of them replaced: run with
//! `cargo run --example by_hand`.

use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::{Either, Ready, ready};
use http::{Request, Response, StatusCode};
use portcullis::layers::{
    Body, CatchPanicLayer, DuplicateKeysLayer, EnvelopeLayer, EraseLayer, IngressLayer, Mode,
    ModeLayer, RescueLayer, StreamableHttpLayer, WaitLayer,
};
use portcullis::service::{Limits, McpService, Principal};
use portcullis::wire::Implementation;
use portcullis::{Operation, Registry};
use tokio::net::TcpListener;
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::timeout::TimeoutLayer;
use tower::{Layer, Service, ServiceBuilder};

/// In place of the origin check: only who knows the key gets in. Browsers do not send it unasked,
/// so no page can make one call this server.
#[derive(Clone)]
struct KeyCheck<S> {
    inner: S,
    key: &'static str,
}

#[derive(Clone)]
struct KeyLayer(&'static str);

impl<S> Layer<S> for KeyLayer {
    type Service = KeyCheck<S>;

    fn layer(&self, inner: S) -> KeyCheck<S> {
        KeyCheck { inner, key: self.0 }
    }
}

impl<S, B> Service<Request<B>> for KeyCheck<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<Response<Body>, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        if request
            .headers()
            .get("x-key")
            .is_some_and(|key| key == self.key)
        {
            // Handlers and policies ask for the principal.
            request
                .extensions_mut()
                .insert(Principal::new("who knows the key"));
            return Either::Left(self.inner.call(request));
        }
        let mut refused = Response::new(Body::empty());
        *refused.status_mut() = StatusCode::UNAUTHORIZED;
        Either::Right(ready(Ok(refused)))
    }
}

async fn whoami(caller: Principal) -> String {
    format!("You are {}.", caller.subject())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let registry = Registry::builder()
        .operation(Operation::new("whoami").handler(whoami))
        .build()?;
    let identity = Implementation::new("by_hand", "1.0.0");
    let limits = Limits::default();

    let http = ServiceBuilder::new()
        // HTTP requests: what goes wrong below becomes a response.
        .layer(RescueLayer::new())
        .layer(KeyLayer("open sesame"))
        .layer(IngressLayer::new(&limits))
        .layer(StreamableHttpLayer::new(&limits))
        // Frames: the type of all that follows is forgotten here, so that other transports can share it.
        .layer(EraseLayer::new())
        .layer(DuplicateKeysLayer::new())
        .layer(EnvelopeLayer::new(&identity)?)
        // Messages, from here on.
        .layer(RescueLayer::new())
        .layer(CatchPanicLayer::new())
        .layer(LoadShedLayer::new())
        .layer(ConcurrencyLimitLayer::new(100))
        .layer(WaitLayer::new())
        .layer(TimeoutLayer::new(Duration::from_secs(30)))
        .layer(ModeLayer::new(Mode::Plain))
        .layer(CatchPanicLayer::new())
        .service(McpService::builder(registry).identity(identity).build()?);

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    eprintln!(
        "Serving http://{address}. Try:\n\n  curl http://{address} -H 'X-Key: open sesame' -H 'Content-Type: application/json' \\\n    \
         -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"whoami\"}}}}'\n",
        address = listener.local_addr()?
    );
    portcullis::serve(listener, http).await?;
    Ok(())
}
