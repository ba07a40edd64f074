//! Prompts with and without arguments, and with each kind of message.

use portcullis::service::RegistryBuilder;
use portcullis::service::handler::{CompletionRequest, Parsed};
use portcullis::wire::{Content, PromptArgument, PromptMessage, ResourceContents};
use portcullis::{Prompt, Registry};
use serde::Deserialize;

use crate::samples::PIXEL;

pub(crate) fn offers() -> RegistryBuilder {
    Registry::builder()
        .prompt(
            Prompt::new("test_simple_prompt")
                .describe("A text")
                .handler(|| async { "This is a simple prompt for testing." }),
        )
        .prompt(
            Prompt::new("test_prompt_with_arguments")
                .describe("A text that repeats two arguments")
                .argument(argument("arg1", "The first thing to repeat"))
                .argument(argument("arg2", "The second thing to repeat"))
                .complete("arg1", suggest)
                .complete("arg2", suggest)
                .handler(with_arguments),
        )
        .prompt(
            Prompt::new("test_prompt_with_embedded_resource")
                .describe("A resource and a text")
                .argument(argument("resourceUri", "The URI of the resource"))
                .handler(with_resource),
        )
        .prompt(
            Prompt::new("test_prompt_with_image")
                .describe("An image and a text")
                .handler(with_image),
        )
}

fn argument(name: &str, description: &str) -> PromptArgument {
    PromptArgument::new(name)
        .description(description)
        .required()
}

#[derive(Deserialize)]
struct Pair {
    arg1: String,
    arg2: String,
}

async fn with_arguments(Parsed(Pair { arg1, arg2 }): Parsed<Pair>) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

async fn suggest(request: CompletionRequest) -> Vec<String> {
    let words = ["testing", "tested", "test", "tea", "paris"];
    let fitting = words.iter().filter(|word| word.starts_with(&request.value));
    fitting.map(ToString::to_string).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Embedded {
    resource_uri: String,
}

async fn with_resource(Parsed(embedded): Parsed<Embedded>) -> Vec<PromptMessage> {
    let text = "Embedded resource content for testing.";
    let resource = ResourceContents::text(embedded.resource_uri, text).mime_type("text/plain");
    vec![
        PromptMessage::user(Content::resource(resource)),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

async fn with_image() -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(Content::image(PIXEL, "image/png")),
        PromptMessage::user("Please analyze the image above."),
    ]
}
