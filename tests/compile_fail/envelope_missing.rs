//! Frames do not become envelopes by themselves.
//!
//! Says: WithMode<_>: Service<Inbound>

use portcullis::Registry;
use portcullis::layers::{DuplicateKeysLayer, EnvelopeLayer, EraseLayer, Mode, ModeLayer};
use portcullis::service::McpService;
use portcullis::wire::Implementation;
use tower::ServiceBuilder;

fn main() {
    let core = McpService::builder(Registry::builder().build().unwrap());
    let identity = Implementation::new("it", "0");
    let envelopes = EnvelopeLayer::new(&identity).unwrap();
    let layers = ServiceBuilder::new()
        .layer(EraseLayer::new())
        .layer(DuplicateKeysLayer::new());
    #[cfg(fixed)]
    let layers = layers.layer(envelopes.clone());
    let layers = layers.layer(ModeLayer::new(Mode::Plain));
    let _ = (layers.service(core.build().unwrap()), envelopes);
}
