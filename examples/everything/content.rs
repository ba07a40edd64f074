//! Tools that answer with each kind of content.

use portcullis::service::handler::Args;
use portcullis::service::{Failure, RegistryBuilder};
use portcullis::wire::{Content, ResourceContents};
use portcullis::{Operation, Registry};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::samples::{CLICK, PIXEL};

pub(crate) fn offers() -> RegistryBuilder {
    Registry::builder()
        .operation(
            Operation::new("test_simple_text")
                .describe("Answer with a text")
                .read_only(true)
                .handler(|| async { "This is a simple text response for testing." }),
        )
        .operation(
            Operation::new("test_image_content")
                .describe("Answer with an image")
                .read_only(true)
                .handler(|| async { Content::image(PIXEL, "image/png") }),
        )
        .operation(
            Operation::new("test_audio_content")
                .describe("Answer with a sound")
                .read_only(true)
                .handler(|| async { Content::audio(CLICK, "audio/wav") }),
        )
        .operation(
            Operation::new("test_embedded_resource")
                .describe("Answer with a resource")
                .read_only(true)
                .handler(embedded_resource),
        )
        .operation(
            Operation::new("test_multiple_content_types")
                .describe("Answer with a text, an image and a resource")
                .read_only(true)
                .handler(multiple_content_types),
        )
        .operation(
            Operation::new("test_error_handling")
                .describe("Fail")
                .read_only(true)
                .handler(error_handling),
        )
        .operation(
            Operation::new("greet")
                .describe("Greet somebody")
                .read_only(true)
                .handler(greet),
        )
}

async fn embedded_resource() -> Content {
    let text = "This is an embedded resource content.";
    Content::resource(
        ResourceContents::text("test://embedded-resource", text).mime_type("text/plain"),
    )
}

async fn multiple_content_types() -> Vec<Content> {
    let json = r#"{"test":"data","value":123}"#;
    vec![
        Content::text("Multiple content types test:"),
        Content::image(PIXEL, "image/png"),
        Content::resource(
            ResourceContents::text("test://mixed-content-resource", json)
                .mime_type("application/json"),
        ),
    ]
}

async fn error_handling() -> Result<(), Failure> {
    Err(Failure::new(
        "intended",
        "This tool intentionally returns an error for testing",
    ))
}

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// Whom to greet
    name: String,
}

async fn greet(Args(greeting): Args<Greeting>) -> String {
    format!("Hello, {}!", greeting.name)
}
