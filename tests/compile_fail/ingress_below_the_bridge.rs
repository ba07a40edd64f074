//! The bridge takes messages that ingress has read, so ingress stands above it.
//!
//! Says: StreamableHttp<Ingress<Erased>>
//! Says: Request<Posted>

use portcullis::layers::{EraseLayer, IngressLayer, StreamableHttpLayer};
use portcullis::service::{Inbound, Limits, Outbound};
use tower::{BoxError, Service, ServiceBuilder, service_fn};

fn serve<S>(_: S)
where
    S: Service<http::Request<hyper::body::Incoming>>,
{
}

fn main() {
    let limits = Limits::default();
    let frames = ServiceBuilder::new()
        .layer(EraseLayer::new())
        .service(service_fn(async |_: Inbound| {
            Ok::<_, BoxError>(Outbound::accepted())
        }));
    let layers = ServiceBuilder::new();
    #[cfg(not(fixed))]
    let layers = layers
        .layer(StreamableHttpLayer::new(&limits))
        .layer(IngressLayer::new(&limits));
    #[cfg(fixed)]
    let layers = layers
        .layer(IngressLayer::new(&limits))
        .layer(StreamableHttpLayer::new(&limits));
    serve(layers.service(frames));
}
