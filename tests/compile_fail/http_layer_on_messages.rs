//! A layer that sees HTTP, on the plane that sees messages.
//!
//! Says: Service<Envelope> not implemented OriginCheck

use portcullis::layers::OriginLayer;
use portcullis::{Registry, Stack};

fn main() {
    let stack = Stack::new(Registry::builder().build().unwrap());
    #[cfg(not(fixed))]
    let _ = stack.layer(OriginLayer::new()).build();
    #[cfg(fixed)]
    let _ = stack.layer_http(OriginLayer::new()).build();
}
