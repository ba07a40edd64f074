//! A layer that sees messages, on the plane that sees HTTP.
//!
//! Says: Preflight<OriginCheck
//! Says: Service<Envelope> Preflight<S>

use portcullis::layers::PreflightLayer;
use portcullis::service::Limits;
use portcullis::{Registry, Stack};

fn serve<S>(_: S)
where
    S: tower::Service<http::Request<hyper::body::Incoming>>,
{
}

fn main() {
    let stack = Stack::new(Registry::builder().build().unwrap());
    let layer = PreflightLayer::new(&Limits::default());
    #[cfg(not(fixed))]
    serve(stack.layer_http(layer).build().unwrap().http());
    #[cfg(fixed)]
    serve(stack.layer(layer).build().unwrap().http());
}
