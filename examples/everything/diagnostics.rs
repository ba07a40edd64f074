//! Tools with which a client finds out how a server treats it.

use portcullis::service::RegistryBuilder;
use portcullis::wire::ClientCapability;
use portcullis::{Operation, Registry};

pub(crate) fn offers() -> RegistryBuilder {
    Registry::builder().operation(
        Operation::new("test_missing_capability")
            .describe("Need a client that can ask a model")
            .read_only(true)
            .needs(ClientCapability::Sampling)
            .handler(|| async { "The client can ask a model." }),
    )
}
