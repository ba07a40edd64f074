//! What the recorded server offers: one thing of each kind.

use std::io;

use portcullis::layers::Mode;
use portcullis::service::handler::{CompletionRequest, Completions, Parsed, PromptOutput, RawArgs};
use portcullis::service::{Failure, RegistryBuilder};
use portcullis::wire::json::RawJson;
use portcullis::wire::{
    Annotations, Content, Icon, Implementation, PromptArgument, PromptMessage, ResourceContents,
    ResourceLink, Role,
};
use portcullis::{Operation, Prompt, Registry, Resource, ResourceTemplate, Stack};
use serde::Deserialize;

#[derive(Deserialize)]
struct Numbers {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Review {
    code: String,
    #[serde(default)]
    tone: Option<String>,
}

/// The recorded server, before it is built.
pub(super) fn stack() -> Stack {
    let registry = contents(operations(Registry::builder())).build().unwrap();
    let identity = Implementation::new("fixture", "1.2.3")
        .title("The recorded server")
        .description("Says what was recorded")
        .website_url("https://fixture.example");
    Stack::new(registry)
        .implementation(identity)
        .instructions("Ask once.")
        .mode(Mode::Plain)
}

fn operations(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .operation(add())
        .operation(Operation::new("blocks").describe("One block of each kind").handler(blocks))
        .operation(
            Operation::new("numbers").handler(async || RawJson::parse("[1, 2,3]")),
        )
        .operation(Operation::new("nothing").handler(async || RawJson::parse("null")))
        .operation(Operation::new("silent").handler(async || ()))
        .operation(Operation::new("mirror").handler(async |RawArgs(raw): RawArgs| raw))
        .operation(
            Operation::new("needs_q")
                .input_schema(
                    r#"{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}"#,
                )
                .handler(async |RawArgs(raw): RawArgs| raw),
        )
        .operation(Operation::new("decline").handler(async || {
            Err::<(), _>(Failure::new("too_late", "the shop is closed").retryable(true))
        }))
        .operation(Operation::new("breaks").handler(async || {
            Err::<(), _>(io::Error::other("the password is tok-42"))
        }))
}

fn add() -> Operation {
    let handler = async |Parsed(input): Parsed<Numbers>| -> Result<RawJson, Failure> {
        let sum = input.a.checked_add(input.b);
        let sum = sum.ok_or_else(|| Failure::new("too_large", "the sum does not fit"))?;
        Ok(RawJson::parse(format!("{{\"sum\":{sum}}}"))?)
    };
    Operation::new("add")
        .title("Add")
        .describe("Add two integers")
        .read_only(true)
        .open_world(false)
        .icon(Icon::new("https://fixture.example/add.png").mime_type("image/png").size("48x48"))
        .meta(RawJson::parse(r#"{"example.com/kind":"arithmetic"}"#).unwrap())
        .input_schema(
            r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"x-kept":true}"#,
        )
        .output_schema(
            r#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#,
        )
        .handler(handler)
}

async fn blocks() -> Vec<Content> {
    let annotations = Annotations::new().audience(Role::User).priority("0.5");
    vec![
        Content::text("plain").annotations(annotations),
        Content::image([1, 2, 3], "image/png"),
        Content::audio([4, 5, 6], "audio/wav"),
        Content::link(ResourceLink::new("note://1", "First note").title("The first")),
        Content::resource(ResourceContents::text("note://1", "remember").mime_type("text/plain")),
        Content::resource(ResourceContents::blob("note://2", [0, 255])),
    ]
}

fn contents(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .resource(
            Resource::new("note://1", "First note")
                .title("The first")
                .describe("Something to remember")
                .mime_type("text/plain")
                .size(8)
                .annotations(Annotations::new().audience(Role::Assistant))
                .text("remember"),
        )
        .resource(Resource::new("note://2", "Second note").blob([0, 255]))
        .resource(Resource::new("note://empty", "Empty note").text(""))
        .resource(
            Resource::new("note://closed", "Closed note")
                .read(async || Err::<String, _>(Failure::new("too_late", "the shop is closed"))),
        )
        .resource(
            Resource::new("note://breaks", "Breaking note")
                .read(async || Err::<String, _>(io::Error::other("the password is tok-42"))),
        )
        .template(
            ResourceTemplate::new("note://shelf/{name}", "Shelf")
                .title("The shelf")
                .mime_type("application/json")
                .read(async |RawArgs(raw): RawArgs| raw.text().to_owned())
                .complete("name", complete),
        )
        .prompt(
            Prompt::new("review")
                .title("Review")
                .describe("Ask for a review")
                .argument(
                    PromptArgument::new("code")
                        .title("Code")
                        .description("What to review")
                        .required(),
                )
                .argument(PromptArgument::new("tone"))
                .handler(review)
                .complete("tone", complete),
        )
        .prompt(
            Prompt::new("breaks")
                .handler(async || Err::<String, _>(io::Error::other("the password is tok-42"))),
        )
}

async fn review(Parsed(input): Parsed<Review>) -> PromptOutput {
    let tone = input.tone.unwrap_or_else(|| "calm".to_owned());
    PromptOutput::new()
        .message(PromptMessage::user(format!(
            "Review this in a {tone} tone:\n{}",
            input.code
        )))
        .message(PromptMessage::assistant("With pleasure."))
}

/// Few values for a start, many for none; which other arguments are known is told back.
async fn complete(request: CompletionRequest) -> Completions {
    let others: Vec<_> = request.arguments.keys().cloned().collect();
    let count = if request.value.is_empty() { 101 } else { 2 };
    let values = (0..count).map(|n| format!("{}{n}{}", request.value, others.concat()));
    Completions::new(values)
}
