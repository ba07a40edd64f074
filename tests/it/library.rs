//! What an application sees without a transport: building, calling in process, and errors told early.

use portcullis::service::handler::{RawArgs, Text};
use portcullis::service::{Envelope, McpService, Principal};
use portcullis::testing::Client;
use portcullis::wire::json::RawJson;
use portcullis::wire::{Method, PromptArgument, ProtocolVersion};
use portcullis::{Operation, Prompt, Registry, Resource, ResourceTemplate, Stack};
use tower::ServiceExt as _;

use crate::support::message::{handshake, request, tool};
use crate::support::stdio::Pipe;
use crate::support::{each_transport, fixture, gate};

fn mirror(schema: &str) -> Operation {
    let operation = Operation::new("mirror").input_schema(schema);
    operation.handler(|RawArgs(raw): RawArgs| async move { raw })
}

fn refused(operation: Operation) -> String {
    let error = Registry::builder()
        .operation(operation)
        .build()
        .unwrap_err();
    assert!(error.setting().contains("mirror"), "{error}");
    error.to_string()
}

/// Contract: M-006, M-041.
#[test]
fn a_schema_that_cannot_be_is_an_error_of_the_builder() {
    for (schema, reason) in [
        ("{", "not JSON"),
        (r#"{"type":"array"}"#, "object"),
        (r#"{"type":"nothing"}"#, "schema"),
        (
            r#"{"type":"object","properties":{"q":{"$ref":"https://schema.example/q.json"}}}"#,
            "schema",
        ),
        (
            r#"{"type":"object","properties":{"q":{"$ref":"file:///etc/passwd"}}}"#,
            "schema",
        ),
        (
            r##"{"type":"object","properties":{"q":{"$ref":"#/$defs/none"}}}"##,
            "schema",
        ),
        (
            r#"{"type":"object","properties":{"q":{"pattern":"("}}}"#,
            "schema",
        ),
        (
            r#"{"$schema":"https://schema.example/dialect","type":"object"}"#,
            "schema",
        ),
    ] {
        let error = refused(mirror(schema));
        assert!(error.contains(reason), "{schema}: {error}");
    }
    assert!(refused(Operation::new("mirror")).contains("no handler"));
    let twice = || mirror("{\"type\":\"object\"}");
    let twice = Registry::builder()
        .operation(twice())
        .operation(twice())
        .build();
    assert!(twice.unwrap_err().to_string().contains("mirror"));
}

/// Contract: M-041.
#[tokio::test]
async fn schemas_may_use_what_the_newest_dialect_has() {
    let tree = r##"{"type":"object","properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/N"}}},"unevaluatedProperties":false}}}"##;
    let pair = r#"{"type":"object","properties":{"p":{"prefixItems":[{"type":"integer"},{"type":"string"}],"items":false}},"dependentRequired":{"p":["q"]}}"#;
    let older = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"p":{"items":[{"type":"integer"}],"additionalItems":false}}}"#;
    for (schema, arguments, fits) in [
        (tree, r#"{"root":{"kids":[{"kids":[]},{}]}}"#, true),
        (tree, r#"{"root":{"kids":[{"kids":[7]}]}}"#, false),
        (tree, r#"{"root":{"kids":[],"more":1}}"#, false),
        (pair, r#"{"p":[1,"x"],"q":0}"#, true),
        (pair, r#"{"p":[1,"x"]}"#, false),
        (pair, r#"{"p":[1,"x",2],"q":0}"#, false),
        (older, r#"{"p":[1]}"#, true),
        (older, r#"{"p":[1,2]}"#, false),
        (r#"{"type":"object"}"#, r#"{"anything":[null]}"#, true),
    ] {
        let registry = Registry::builder()
            .operation(mirror(schema))
            .build()
            .unwrap();
        let gate = Stack::new(registry)
            .mode(portcullis::Mode::Plain)
            .build()
            .unwrap();
        let answer = Client::modern(&gate).call_tool("mirror", arguments).await;
        assert_eq!(!answer.is_error(), fits, "{schema} {arguments}");
        assert_eq!(answer.structured() == Some(arguments), fits, "{answer:?}");
    }
}

/// Contract: M-006.
#[test]
fn what_else_cannot_be_is_an_error_of_the_builder_too() {
    let text = || async { Text("hi".to_owned()) };
    let builds = [
        Registry::builder().operation(Operation::new("no spaces").handler(text)),
        Registry::builder().operation(Operation::new("").handler(text)),
        Registry::builder().resource(Resource::new("no uri", "x").text("x")),
        Registry::builder().resource(Resource::new("note://1", "x")),
        Registry::builder()
            .resource(Resource::new("note://1", "x").text("x"))
            .resource(Resource::new("note://1", "y").text("y")),
        Registry::builder().template(ResourceTemplate::new("note://{", "x").read(|| async { "x" })),
        Registry::builder().prompt(Prompt::new("x").argument(PromptArgument::new("a"))),
    ];
    for builder in builds {
        let shown = format!("{builder:?}");
        assert!(builder.build().is_err(), "{shown}");
    }
}

/// Contract: M-001.
#[tokio::test]
async fn gates_share_nothing_and_conversations_neither() {
    let ((one, first), (_, second)) = (gate(), gate());
    let bump = Client::modern(&one).call_tool("tally_bump", "{}").await;
    assert!(!bump.is_error());
    assert_eq!((first.tally.get(), second.tally.get()), (1, 0));

    let mut pipes = Vec::new();
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut pipe = Pipe::open(&one);
        let answer = pipe
            .ask(&request("1", "initialize", &handshake(version)))
            .await;
        assert!(answer.contains(version), "{answer}");
        pipes.push((version, pipe));
    }
    for round in 0..3 {
        for (version, pipe) in &mut pipes {
            let answer = pipe
                .ask(&request("2", "tools/call", &tool("version", "{}")))
                .await;
            assert!(
                answer.contains(&format!(r#""text":"{version}""#)),
                "{round}: {answer}"
            );
        }
    }
    // And one that never shook hands has nothing of the others'.
    let mut stranger = Pipe::open(&one);
    assert!(
        stranger
            .ask(&request("2", "tools/list", ""))
            .await
            .contains("-32602")
    );
}

/// Contract: M-016.
#[tokio::test]
async fn the_core_is_a_service_of_its_own() {
    let (registry, probe) = fixture();
    let core = McpService::builder(registry).build().unwrap();
    let envelope = |method| Envelope::new(method, ProtocolVersion::July2026);
    let list = core
        .clone()
        .oneshot(envelope(Method::RESOURCES_LIST).id(1))
        .await
        .unwrap();
    assert!(list.error().is_none());
    let params = RawJson::parse(r#"{"uri":"note://none"}"#).unwrap();
    let read = envelope(Method::RESOURCES_READ).id(2).params(params);
    let read = core.clone().oneshot(read).await.unwrap();
    assert_eq!(read.error().unwrap().code(), -32602);
    let notification = core
        .oneshot(envelope(Method::RESOURCES_LIST))
        .await
        .unwrap();
    assert!(notification.members().is_none() && notification.error().is_none());
    assert_eq!(probe.begun.get(), 0);
}

/// Contract: M-114.
#[tokio::test]
async fn callers_in_process_are_told_apart_and_may_go_away() {
    let (gate, probe) = gate();
    let ada = Client::modern(&gate).principal(Principal::new("ada"));
    let bob = Client::legacy(&gate, ProtocolVersion::June2025)
        .await
        .principal(Principal::new("bob"));
    let nobody = Client::legacy(&gate, ProtocolVersion::March2025).await;
    for (client, name, version) in [
        (&ada, "ada", "2026-07-28"),
        (&bob, "bob", "2025-06-18"),
        (&nobody, "nobody", "2025-03-26"),
    ] {
        assert_eq!(client.call_tool("whoami", "{}").await.text(), name);
        assert_eq!(client.call_tool("version", "{}").await.text(), version);
    }
    let params = r#"{"_meta":{"progressToken":"t"},"name":"murmur","arguments":{"steps":2}}"#;
    let murmur = bob.request("tools/call", params).await;
    assert_eq!(
        (murmur.messages.len(), murmur.text()),
        (2, "2 steps".to_owned())
    );

    {
        let call = ada.call_tool("hang", "{}");
        tokio::select! {
            biased;
            _ = call => panic!("it never ends"),
            () = probe.begun.reach(1) => {}
        }
    }
    assert_eq!(
        probe.ended.get(),
        1,
        "dropping the future ends the call at once"
    );
}

/// Contract: M-114, P-3.
#[tokio::test]
async fn all_kinds_of_messages_arrive_over_every_transport() {
    each_transport(async |way| {
        let (gate, _probe) = gate();
        let client = way.open(&gate).await;
        let meta = if way.is_modern() { format!("{},", crate::support::message::META) } else { String::new() };
        let params = format!(r#"{{"_meta":{{{meta}"progressToken":7}},"name":"murmur","arguments":{{"steps":2}}}}"#);
        let answer = client.request("tools/call", &params).await;
        assert_eq!(answer.text(), "2 steps");
        assert_eq!(answer.messages.len(), 2, "{answer:?}");
        for (step, message) in (1..).zip(&answer.messages) {
            let expected = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":7,"progress":{step},"total":2,"message":"step {step}"}}}}"#
            );
            assert_eq!(*message, expected);
        }
    })
    .await;
}
