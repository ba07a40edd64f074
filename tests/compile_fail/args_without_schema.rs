//! Arguments whose schema nobody has derived.
//!
//! Says: Args<Letter> not a handler
//! Says: Args<T> JsonSchema

use portcullis::Operation;
use portcullis::service::handler::Args;
use serde::Deserialize;

#[derive(Deserialize)]
#[cfg_attr(fixed, derive(schemars::JsonSchema))]
struct Letter {
    text: String,
}

async fn send(Args(letter): Args<Letter>) -> String {
    letter.text
}

fn main() {
    let _ = Operation::new("send").handler(send);
}
