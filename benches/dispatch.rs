//! What finding the right handler costs: `cargo bench --bench dispatch`.
//!
//! `operations` calls tools of ever larger registries, which has to cost the same; `methods` calls
//! each method of the protocol once. Both go through plain mode and the core; the first of each group
//! is a handler called as a function.

mod support;

use std::cell::Cell;
use std::convert::Infallible;

use portcullis::layers::{Mode, ModeLayer};
use portcullis::service::handler::{Args, CompletionRequest, Text};
use portcullis::service::{Envelope, McpService};
use portcullis::wire::{Method, PromptArgument};
use portcullis::{Operation, Prompt, Registry, Resource, ResourceTemplate};
use tower::{Layer, Service, service_fn};

use support::calls::{self, Echo, Era, echo, envelope, native, registry};
use support::clock::Clock;
use support::meter::{Answer, Meter, check};

fn main() {
    let mut clock = Clock::new();
    clock.group("dispatch/operations");
    clock.calls("handler", service_fn(handler), "a".repeat(64));
    for operations in [1, 100, 10_000] {
        let mut service = service(registry(operations));
        // From all over the registry, so that no cache knows just the one that is asked for.
        let calls: Vec<_> = (0..SPREAD)
            .map(|n| native(&calls::name(n * operations / SPREAD)))
            .map(|params| envelope(Era::Modern, Method::TOOLS_CALL, &params))
            .collect();
        for call in &calls {
            check("a call", &mut service, call.clone());
        }
        let turn = Cell::new(0);
        let in_turn = service_fn(move |()| {
            turn.set((turn.get() + 1) % SPREAD);
            service.call(calls[turn.get()].clone())
        });
        clock.calls(&operations.to_string(), in_turn, ());
    }

    clock.group("dispatch/methods");
    clock.calls("handler", service_fn(handler), "a".repeat(64));
    let service = service(everything());
    for (era, method, params) in METHODS {
        let name = method.name().replace('/', "_");
        let request = match *method {
            Method::INITIALIZED | Method::CANCELLED => calls::notification,
            _ => envelope,
        };
        let request = request(*era, method.clone(), params);
        clock.calls(&name, service.clone(), request);
    }
    clock.report();
}

fn service(
    registry: Registry,
) -> impl Service<Envelope, Response: Answer, Error = Infallible, Future: Send> + Clone {
    let core = McpService::builder(registry).build();
    ModeLayer::new(Mode::Plain).layer(core.expect("the system has randomness"))
}

async fn handler(text: String) -> Result<Text, Infallible> {
    Ok(echo(Args(Echo { text })).await)
}

impl Answer for Text {
    fn is_good(&self) -> bool {
        !self.0.is_empty()
    }
}

/// One of each kind.
fn everything() -> Registry {
    let suggest = |_: CompletionRequest| async { vec!["one".to_owned(), "two".to_owned()] };
    let registry = Registry::builder()
        .operation(Operation::new("echo").handler(echo))
        .resource(Resource::new("bench://text", "text").text("a short text"))
        .template(ResourceTemplate::new("bench://{name}/of", "of").read(|| async { "a text" }))
        .prompt(
            Prompt::new("prompt")
                .argument(PromptArgument::new("word"))
                .complete("word", suggest)
                .handler(|| async { "a prompt" }),
        )
        .build();
    registry.expect("everything is in order")
}

const METHODS: &[(Era, Method, &str)] = &[
    (Era::Legacy, Method::PING, "{}"),
    (Era::Legacy, Method::INITIALIZE, calls::HANDSHAKE),
    (Era::Legacy, Method::INITIALIZED, "{}"),
    (Era::Modern, Method::DISCOVER, "{}"),
    (Era::Modern, Method::CANCELLED, r#"{"requestId":7}"#),
    (Era::Modern, Method::TOOLS_LIST, "{}"),
    (
        Era::Modern,
        Method::TOOLS_CALL,
        r#"{"name":"echo","arguments":{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#,
    ),
    (Era::Modern, Method::RESOURCES_LIST, "{}"),
    (Era::Modern, Method::TEMPLATES_LIST, "{}"),
    (
        Era::Modern,
        Method::RESOURCES_READ,
        r#"{"uri":"bench://text"}"#,
    ),
    (Era::Modern, Method::PROMPTS_LIST, "{}"),
    (Era::Modern, Method::PROMPTS_GET, r#"{"name":"prompt"}"#),
    (
        Era::Modern,
        Method::COMPLETE,
        r#"{"ref":{"type":"ref/prompt","name":"prompt"},"argument":{"name":"word","value":"t"}}"#,
    ),
];

/// How many operations are called in turn.
const SPREAD: usize = 64;
