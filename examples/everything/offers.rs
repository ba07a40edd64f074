//! Everything that is offered, in the order in which clients see it.

use portcullis::{ConfigError, Registry};

use crate::fixtures::{self, Shelf};
use crate::{content, diagnostics, progress, prompts, resources, schemas, slow};

/// The registry; with a shelf, the fixtures are in it too.
pub(crate) fn registry(shelf: Option<&Shelf>) -> Result<Registry, ConfigError> {
    let offers = Registry::builder()
        // First, because clients that look for any tool take the first one: it needs no arguments.
        .merge(content::offers())
        .merge(progress::offers())
        .merge(slow::offers())
        .merge(schemas::offers())
        .merge(diagnostics::offers())
        .merge(resources::offers())
        .merge(prompts::offers());
    match shelf {
        Some(shelf) => offers.merge(fixtures::offers(shelf)).build(),
        None => offers.build(),
    }
}
