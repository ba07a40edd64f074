//! Resources with text and bytes, and a template.

use portcullis::service::RegistryBuilder;
use portcullis::service::handler::Parsed;
use portcullis::wire::json::RawJson;
use portcullis::{Registry, Resource, ResourceTemplate};
use serde::{Deserialize, Serialize};

use crate::samples::PIXEL;

pub(crate) fn offers() -> RegistryBuilder {
    Registry::builder()
        // First, because clients that look for any resource take the first one.
        .resource(
            Resource::new("test://static-text", "Static text")
                .describe("A text that never changes")
                .mime_type("text/plain")
                .text("This is the content of the static text resource."),
        )
        .resource(
            Resource::new("test://static-binary", "Static image")
                .describe("An image that never changes")
                .mime_type("image/png")
                .blob(PIXEL),
        )
        .resource(
            Resource::new("test://watched-resource", "Watched text")
                .describe("A text to watch")
                .mime_type("text/plain")
                .text("This is the content of the watched resource."),
        )
        .template(
            ResourceTemplate::new("test://template/{id}/data", "Data by id")
                .describe("Something about each id")
                .mime_type("application/json")
                .read(data),
        )
}

#[derive(Deserialize)]
struct Place {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    id: &'a str,
    template_test: bool,
    data: String,
}

async fn data(Parsed(place): Parsed<Place>) -> Result<String, serde_json::Error> {
    let entry = RawJson::encode(&Entry {
        id: &place.id,
        template_test: true,
        data: format!("Data for ID: {}", place.id),
    })?;
    Ok(entry.text().to_owned())
}
