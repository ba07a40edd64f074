//! A handler that takes what no caller gives.
//!
//! Says: fn(u32) not a handler
//! Says: each argument FromCall

use portcullis::Operation;
#[cfg(fixed)]
use portcullis::service::handler::RawArgs;

#[cfg(not(fixed))]
async fn handler(_: u32) -> &'static str {
    "done"
}

#[cfg(fixed)]
async fn handler(_: RawArgs) -> &'static str {
    "done"
}

fn main() {
    let _ = Operation::new("it").handler(handler);
}
