//! A call that turns to a stream moves, so what the bridge stands on has to let it.
//!
//! Says: Unpin
//! Says: StreamableHttp<Envelopes

use http::Request;
use portcullis::layers::{EnvelopeLayer, EraseLayer, Posted, StreamableHttpLayer};
use portcullis::service::{Envelope, Limits, Reply};
use portcullis::wire::Implementation;
use tower::{BoxError, Service, ServiceBuilder, service_fn};

fn bridge<S>(_: S)
where
    S: Service<Request<Posted>>,
{
}

fn main() {
    let layers = ServiceBuilder::new().layer(StreamableHttpLayer::new(&Limits::default()));
    #[cfg(fixed)]
    let layers = layers.layer(EraseLayer::new());
    let _ = EraseLayer::new();
    bridge(
        layers
            .layer(EnvelopeLayer::new(&Implementation::new("it", "0")).unwrap())
            .service(service_fn(async |_: Envelope| {
                Ok::<_, BoxError>(Reply::accepted())
            })),
    );
}
