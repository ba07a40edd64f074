//! A handler that gives back what nobody can show.
//!
//! Says: Thing not a handler
//! Says: result IntoOutcome

use portcullis::Operation;

struct Thing;

async fn handler() -> Thing {
    Thing
}

fn main() {
    #[cfg(not(fixed))]
    let _ = Operation::new("it").handler(handler);
    #[cfg(fixed)]
    let _ = Operation::new("it").handler(async || {
        let Thing = handler().await;
        "a thing"
    });
}
