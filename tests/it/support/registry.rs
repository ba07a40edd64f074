//! A small registry: operations that do one thing each, two resources, a template, two prompts.

use std::time::Duration;

use portcullis::layers::Mode;
use portcullis::service::handler::{
    Args, CompletionRequest, Completions, Parsed, Progress, RawArgs, State, Structured, Text,
};
use portcullis::service::{CallContext, Failure, Principal};
use portcullis::wire::json::RawJson;
use portcullis::wire::{ClientCapability, PromptArgument};
use portcullis::{
    Gate, Operation, Prompt, Registry, Resource, ResourceTemplate, Stack, service::RegistryBuilder,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Probe;

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Words {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nap {
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Secret {
    secret: String,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

#[derive(Deserialize)]
struct Review {
    code: String,
}

/// The registry, and what its handlers report to.
pub(crate) fn fixture() -> (Registry, Probe) {
    let probe = Probe::default();
    (registry(&probe), probe)
}

/// A gate over the registry without anything else, and what its handlers report to.
pub(crate) fn gate() -> (Gate, Probe) {
    let (registry, probe) = fixture();
    let stack = Stack::new(registry).identity("it", "0").mode(Mode::Plain);
    (stack.build().unwrap(), probe)
}

/// Everything; handlers report to `probe`.
pub(crate) fn registry(probe: &Probe) -> Registry {
    let builder = Registry::builder().state(probe.clone());
    let builder = waiting(counting(plain(builder)));
    contents(builder).build().unwrap()
}

/// Operations that answer at once.
fn plain(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .operation(
            Operation::new("echo")
                .handler(|Args(words): Args<Words>| async move { Text(words.text) }),
        )
        .operation(Operation::new("add").handler(|Args(input): Args<Numbers>| async move {
            let sum = input.a.checked_add(input.b);
            let sum = sum.ok_or_else(|| Failure::new("too_large", "the sum does not fit"))?;
            Ok::<_, Failure>(Structured(Sum { sum }))
        }))
        .operation(Operation::new("mirror").handler(|RawArgs(raw): RawArgs| async move { raw }))
        .operation(
            Operation::new("all_optional")
                .input_schema(r#"{"type":"object","properties":{"q":{"type":"string"}}}"#)
                .handler(|RawArgs(raw): RawArgs| async move { raw }),
        )
        .operation(
            Operation::new("needs_q")
                .input_schema(
                    r#"{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}"#,
                )
                .handler(|RawArgs(raw): RawArgs| async move { raw }),
        )
        .operation(Operation::new("version").handler(|call: CallContext| async move {
            Text(call.features().version().to_string())
        }))
        .operation(Operation::new("whoami").handler(whoami))
        .operation(
            Operation::new("asks_model")
                .needs(ClientCapability::Sampling)
                .handler(|| async { "asked" }),
        )
}

async fn whoami(caller: Option<Principal>) -> Text {
    Text(caller.map_or("nobody".to_owned(), |caller| caller.subject().to_owned()))
}

/// Operations with effects, and operations that fail.
fn counting(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .operation(
            Operation::new("tally_bump").handler(|State(probe): State<Probe>| async move {
                probe.tally.add();
                "bumped"
            }),
        )
        .operation(
            Operation::new("tally_read").handler(|State(probe): State<Probe>| async move {
                Text(probe.tally.get().to_string())
            }),
        )
        .operation(
            Operation::new("route_parcel")
                .input_schema(
                    r#"{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"},"slot":{"type":"integer","x-mcp-header":"Slot"},"rush":{"type":"boolean","x-mcp-header":"Rush"},"box":{"type":"object","properties":{"depth":{"type":"integer","x-mcp-header":"Depth"}}}}}"#,
                )
                .handler(|State(probe): State<Probe>| async move {
                    probe.tally.add();
                    "routed"
                }),
        )
        .operation(
            Operation::new("explode")
                .handler(|Args(input): Args<Secret>| async move { explode(&input.secret) }),
        )
        .operation(
            Operation::new("leak").handler(|Args(input): Args<Secret>| async move {
                let nothing = std::fs::read(format!("/no/such/{}", input.secret))?;
                Ok::<_, Failure>(Text(format!("{nothing:?}")))
            }),
        )
        .operation(Operation::new("decline").handler(|| async {
            Err::<Text, _>(Failure::new("too_late", "the shop is closed").retryable(true))
        }))
}

fn explode(secret: &str) -> Text {
    panic!("about to tell {secret}");
}

/// Operations that take their time.
fn waiting(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .operation(Operation::new("nap").handler(nap))
        .operation(
            Operation::new("hang").handler(|State(probe): State<Probe>| async move {
                let _inside = probe.enter();
                std::future::pending::<()>().await;
            }),
        )
        .operation(Operation::new("murmur").handler(murmur))
        .operation(Operation::new("flood").handler(flood))
        .operation(Operation::new("linger").handler(linger))
}

async fn nap(Args(input): Args<Nap>, State(probe): State<Probe>) -> Text {
    let inside = probe.enter();
    tokio::time::sleep(Duration::from_millis(input.ms)).await;
    drop(inside);
    probe.finished.add();
    Text(format!("slept {} ms", input.ms))
}

/// Says how far it is, as often as it is asked to, then returns.
async fn murmur(Args(input): Args<Steps>, call: CallContext) -> Text {
    for step in 1..=input.steps {
        let progress = Progress::new(step)
            .total(input.steps)
            .message(format!("step {step}"));
        call.progress(progress).await;
        // Updates closer together than this are left out.
        tokio::time::sleep(Duration::from_millis(101)).await;
    }
    Text(format!("{} steps", input.steps))
}

/// Sends one message, and nothing more.
async fn linger(call: CallContext, State(probe): State<Probe>) {
    let _inside = probe.enter();
    let nothing = RawJson::parse("{}").unwrap();
    let _ = call.peer().notify("notifications/linger", &nothing).await;
    std::future::pending::<()>().await;
}

/// Sends messages of almost a mebibyte for as long as somebody takes them.
async fn flood(call: CallContext, State(probe): State<Probe>) {
    let _inside = probe.enter();
    let long = RawJson::parse(format!("{{\"x\":\"{}\"}}", "x".repeat(1_000_000))).unwrap();
    while call
        .peer()
        .notify("notifications/flood", &long)
        .await
        .is_ok()
    {}
}

/// Resources, a template and prompts.
fn contents(builder: RegistryBuilder) -> RegistryBuilder {
    builder
        .resource(
            Resource::new("note://pad/1", "First note")
                .mime_type("text/plain")
                .text("remember"),
        )
        .resource(
            Resource::new("note://pad/whoami", "Who reads")
                .read(|caller: Option<Principal>| async move { whoami(caller).await.0 }),
        )
        .resource(
            Resource::new("note://pad/explode", "Exploding").read(|| async { explode("tok-42").0 }),
        )
        .resource(
            Resource::new("note://pad/closed", "Closed").read(|| async {
                Err::<String, _>(Failure::new("too_late", "the shop is closed"))
            }),
        )
        .resource(Resource::new("note://pad/slow", "Slow").read(
            |State(probe): State<Probe>| async move {
                let _inside = probe.enter();
                std::future::pending::<String>().await
            },
        ))
        .template(
            ResourceTemplate::new("note://shelf/{name}", "Shelf")
                .read(|RawArgs(raw): RawArgs| async move { raw.text().to_owned() })
                .complete("name", |request: CompletionRequest| async move {
                    Completions::new(many(&request.value))
                }),
        )
        .prompt(
            Prompt::new("review")
                .argument(PromptArgument::new("code").required())
                .argument(PromptArgument::new("tone"))
                .handler(|Parsed(review): Parsed<Review>| async move {
                    format!("Review this:\n{}", review.code)
                })
                .complete("code", |request: CompletionRequest| async move {
                    Completions::new(many(&request.value))
                }),
        )
        .prompt(Prompt::new("explode").handler(|| async { explode("tok-42").0 }))
        .prompt(
            Prompt::new("whoami")
                .handler(|caller: Option<Principal>| async move { whoami(caller).await.0 }),
        )
}

/// 150 values that begin with a text.
fn many(start: &str) -> Vec<String> {
    (0..150).map(|n| format!("{start}{n}")).collect()
}
