//! A rate is counted in one place, so a service that has one cannot be cloned; a buffer can.
//!
//! Says: Clone not implemented RateLimit

use std::time::Duration;

use portcullis::{Registry, Stack};
use tower::buffer::BufferLayer;
use tower::limit::RateLimitLayer;

fn main() {
    let stack = Stack::new(Registry::builder().build().unwrap());
    #[cfg(fixed)]
    let stack = stack.layer(BufferLayer::new(8));
    #[cfg(not(fixed))]
    let _ = BufferLayer::<()>::new(8);
    let _ = stack
        .layer(RateLimitLayer::new(1, Duration::from_secs(1)))
        .build();
}
