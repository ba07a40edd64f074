//! Turning what a reader gave into the result of `resources/read`.

use crate::service::handler::{Contents, Item};
use crate::wire::json::ObjectWriter;
use crate::wire::{Features, ResourceContents, ResourceDefinition};

/// Encodes the members of the result. Content without a URI gets that of the request and the media
/// type of the definition.
pub(crate) fn encode(
    contents: Contents,
    uri: &str,
    definition: &ResourceDefinition,
    features: Features,
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::members(&mut out);
    object.array("contents", contents.0, |out, item| {
        let own = match item {
            Item::Whole(contents) => return contents.push(out, features),
            Item::Text(text) => ResourceContents::text(uri, text),
            Item::Blob(bytes) => ResourceContents::blob(uri, bytes),
        };
        let typed = match &definition.mime_type {
            Some(mime_type) => own.mime_type(mime_type),
            None => own,
        };
        typed.push(out, features);
    });
    out
}
