use std::borrow::Cow;

use tower::ServiceExt as _;

use super::*;
use crate::layers::contract;
use crate::service::handler::{Json, RawArgs, Text};
use crate::service::{Failure, McpService, Operation, Registry};
use crate::wire::ProtocolVersion;
use crate::wire::json::RawJson;

fn registry() -> Registry {
    let mut builder = Registry::builder()
        .operation(
            Operation::new("mirror")
                .describe("Give back what comes")
                .handler(|RawArgs(arguments): RawArgs| std::future::ready(arguments)),
        )
        .operation(
            Operation::new("none")
                .output_schema(r#"{"type":["null","object"]}"#)
                .handler(|| async { Json(()) }),
        )
        .operation(
            Operation::new("text")
                .read_only(false)
                .handler(|| async { Text("t".into()) }),
        )
        .operation(Operation::new("fails").handler(|| async {
            Err::<(), _>(Failure::new("gone", "it is gone").content("partial"))
        }))
        .operation(
            Operation::new("search_tools")
                .describe("An ordinary operation")
                .handler(|| async { "mine" }),
        );
    for n in 0..40 {
        builder = builder.operation(Operation::new(format!("extra_{n:02}")).handler(|| async {}));
    }
    builder.build().unwrap()
}

fn stack(mode: Mode) -> WithMode<McpService> {
    ModeLayer::new(mode).layer(McpService::builder(registry()).build().unwrap())
}

fn call(method: Method, params: &str) -> Envelope {
    let params = RawJson::parse(params).unwrap();
    Envelope::new(method, ProtocolVersion::July2026)
        .id(1)
        .params(params)
}

/// The members of a result, or the code of an error.
async fn send(stack: &WithMode<McpService>, envelope: Envelope) -> Result<String, i32> {
    let reply = stack.clone().oneshot(envelope).await.unwrap();
    match reply.error() {
        Some(error) => Err(error.code()),
        None => Ok(String::from_utf8(reply.members().unwrap().to_vec()).unwrap()),
    }
}

async fn tool(stack: &WithMode<McpService>, name: &str, arguments: &str) -> Result<String, i32> {
    let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
    send(stack, call(Method::TOOLS_CALL, &params)).await
}

/// Contract: S-022, S-024.
#[test]
fn compact_is_the_default_and_the_empty_name() {
    assert_eq!(Mode::default().name(), "compact");
    assert_eq!("".parse::<Mode>().unwrap().name(), "compact");
    assert_eq!("Direct".parse::<Mode>().unwrap_err().setting(), "mode");
}

/// Contract: S-029, S-030, S-031, S-043, S-065.
#[tokio::test]
async fn compact_always_lists_the_same_three_tools() {
    let compact = stack(Mode::default());
    let list = || send(&compact, call(Method::TOOLS_LIST, "{}"));
    let before = list().await.unwrap();
    let names: Vec<_> = before
        .split(r#"{"name":""#)
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert_eq!(names, ["search_tools", "get_tool_details", "call_tool"]);
    assert!(!before.contains("outputSchema"), "{before}");
    tool(&compact, "search_tools", r#"{"query":"mirror"}"#)
        .await
        .unwrap();
    assert_eq!(list().await.unwrap(), before);
    let paged = send(&compact, call(Method::TOOLS_LIST, r#"{"cursor":"x"}"#)).await;
    assert_eq!(paged, Err(Error::INVALID_PARAMS));
}

/// Contract: S-037, S-038.
#[tokio::test]
async fn searches_give_five_results_and_never_more_than_twenty() {
    let compact = stack(Mode::default());
    let search = async |arguments: &str| {
        let found = tool(&compact, "search_tools", arguments).await?;
        // Each stands in the text and in the structured copy.
        Ok::<_, i32>(found.matches(r#"\"name\":\"extra_"#).count())
    };
    assert_eq!(search(r#"{"query":"extra"}"#).await, Ok(5));
    assert_eq!(search(r#"{"query":"extra","limit":1}"#).await, Ok(1));
    assert_eq!(search(r#"{"query":"extra","limit":20}"#).await, Ok(20));
    assert_eq!(search(r#"{"query":"no such thing"}"#).await, Ok(0));
    for bad in ["0", "21", "-1", "1e3", "\"5\"", "null", "2.5"] {
        let arguments = format!(r#"{{"query":"extra","limit":{bad}}}"#);
        assert_eq!(
            search(&arguments).await,
            Err(Error::INVALID_PARAMS),
            "{bad}"
        );
    }
    assert_eq!(
        search(&format!(r#"{{"query":"{}"}}"#, "(.*".repeat(30_000))).await,
        Ok(0)
    );
}

/// Contract: S-032, S-048, S-049, S-050, case X01.
#[tokio::test]
async fn compact_envelopes_are_strict_and_arguments_are_the_operations_own() {
    let compact = stack(Mode::default());
    for bad in [
        r#"{"name":"mirror","arguments":{"a":1},"extra":true}"#,
        r#"{"Name":"mirror"}"#,
        r#"{"name":7}"#,
        r"{}",
        r#"{"name":"mirror","arguments":"[]"}"#,
        r#"{"name":"mirror","arguments":[]}"#,
    ] {
        assert_eq!(
            tool(&compact, "call_tool", bad).await,
            Err(Error::INVALID_PARAMS),
            "{bad}"
        );
    }
    for bad in ["null", "[]", "7"] {
        assert_eq!(
            tool(&compact, "call_tool", bad).await,
            Err(Error::INVALID_PARAMS),
            "{bad}"
        );
    }
    for outer in ["mirror", "Call_tool", ""] {
        assert_eq!(
            tool(&compact, outer, "{}").await,
            Err(Error::INVALID_PARAMS),
            "{outer}"
        );
    }
    let free = tool(
        &compact,
        "call_tool",
        r#"{"name":"mirror","arguments":{"name":1,"extra":1e400}}"#,
    )
    .await;
    assert!(
        free.unwrap()
            .ends_with(r#""structuredContent":{"value":{"name":1,"extra":1e400}}"#)
    );
    for absent in ["", r#","arguments":null"#] {
        let arguments = format!(r#"{{"name":"mirror"{absent}}}"#);
        let result = tool(&compact, "call_tool", &arguments).await.unwrap();
        assert!(
            result.ends_with(r#""structuredContent":{"value":{}}"#),
            "{result}"
        );
    }
    for missing in ["nothing", "call_tool"] {
        let arguments = format!(r#"{{"name":"{missing}"}}"#);
        let result = tool(&compact, "call_tool", &arguments).await.unwrap();
        assert!(
            result.contains(r#""failure":{"code":"unavailable""#),
            "{result}"
        );
        assert!(result.ends_with(r#""isError":true"#));
    }
    // An operation may be called like one of the three tools.
    let mine = tool(&compact, "call_tool", r#"{"name":"search_tools"}"#)
        .await
        .unwrap();
    assert!(mine.contains(r#""text":"mine""#));
}

/// Contract: S-039, S-042, S-044, S-046, S-061, S-062, S-064.
#[tokio::test]
async fn compact_and_direct_wrap_what_operations_give() {
    let compact = stack(Mode::default());
    let direct = stack(Mode::Direct);
    for name in ["mirror", "none", "text", "fails", "search_tools"] {
        let wrapped = tool(&direct, name, "{}").await.unwrap();
        let inner = format!(r#"{{"name":"{name}","arguments":{{}}}}"#);
        assert_eq!(tool(&compact, "call_tool", &inner).await.unwrap(), wrapped);
    }
    let null = tool(&direct, "none", "{}").await.unwrap();
    assert_eq!(
        null,
        r#""content":[{"type":"text","text":"{\"value\":null}"}],"structuredContent":{"value":null}"#
    );
    assert_eq!(
        tool(&direct, "text", "{}").await.unwrap(),
        r#""content":[{"type":"text","text":"t"}]"#
    );
    let failed = tool(&direct, "fails", "{}").await.unwrap();
    assert!(
        failed.starts_with(r#""content":[{"type":"text","text":"partial"},"#),
        "{failed}"
    );
    assert_eq!(
        tool(&direct, "nothing", "{}").await,
        Err(Error::INVALID_PARAMS)
    );
}

/// Contract: S-056, S-057, S-058, S-059, S-060.
#[tokio::test]
async fn direct_lists_every_operation_once_on_pages_of_twenty() {
    let direct = stack(Mode::Direct);
    let mut names = Vec::new();
    let mut params = "{}".to_owned();
    let mut pages = Vec::new();
    loop {
        let page = send(&direct, call(Method::TOOLS_LIST, &params))
            .await
            .unwrap();
        let listed: Vec<_> = page
            .split(r#"{"name":""#)
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect();
        pages.push(listed.len());
        names.extend(listed);
        let Some((_, cursor)) = page.split_once(r#""nextCursor":""#) else {
            break;
        };
        params = format!(r#"{{"cursor":"{}"}}"#, cursor.trim_end_matches('"'));
    }
    assert_eq!(pages, [20, 20, 5]);
    names.dedup();
    assert_eq!(names.len(), 45);
    let first = send(&direct, call(Method::TOOLS_LIST, "{}")).await.unwrap();
    let text = first
        .split(r#"{"name":"text""#)
        .nth(1)
        .unwrap()
        .split(r#"{"name""#)
        .next()
        .unwrap();
    assert!(
        text.contains(r#""annotations":{"readOnlyHint":false}"#),
        "{text}"
    );
    assert!(
        first.contains(
            r#""outputSchema":{"type":"object","$defs":{"value":{"type":["null","object"]}"#
        ),
        "{first}"
    );
}

#[tokio::test]
async fn details_tell_what_a_caller_needs() {
    let compact = stack(Mode::default());
    let details = tool(&compact, "get_tool_details", r#"{"name":"none"}"#)
        .await
        .unwrap();
    assert!(
        details.contains(
            r#""inputSchema":{"type":"object"},"outputSchema":{"type":["null","object"]}"#
        ),
        "{details}"
    );
    let unknown = tool(&compact, "get_tool_details", r#"{"name":"nothing"}"#)
        .await
        .unwrap();
    assert!(unknown.contains(r#""code":"unavailable""#));
}

#[tokio::test]
async fn only_tools_are_touched() {
    for mode in [Mode::default(), Mode::Direct, Mode::Plain] {
        let stack = stack(mode);
        let list = send(&stack, call(Method::PROMPTS_LIST, "{}")).await;
        assert_eq!(list, Err(Error::METHOD_NOT_FOUND));
    }
}

/// Contract: P-16.
#[tokio::test]
async fn that_there_are_no_tools_comes_before_what_is_wrong_with_a_call() {
    let nameless = call(Method::TOOLS_CALL, "{}");
    for mode in [Mode::Direct, Mode::Plain] {
        let empty = McpService::builder(Registry::builder().build().unwrap());
        let empty = ModeLayer::new(mode.clone()).layer(empty.build().unwrap());
        assert_eq!(
            send(&empty, nameless.clone()).await,
            Err(Error::METHOD_NOT_FOUND)
        );
        assert_eq!(
            send(&stack(mode), nameless.clone()).await,
            Err(Error::INVALID_PARAMS)
        );
    }
}

/// What the layer answers by itself reaches nothing, and whatever is about no tool reaches the inner
/// service as it is.
#[tokio::test]
async fn around_a_mock_service_the_layer_turns_calls_and_nothing_else() {
    for mode in [Mode::default(), Mode::Direct, Mode::Plain] {
        let (inner, mut handle) = tower_test::mock::pair::<Envelope, Reply>();
        let service = ModeLayer::new(mode.clone()).layer(inner);
        let mut send = async |envelope| {
            let answer = async {
                let (seen, respond) = handle.next_request().await?;
                respond.send_response(Reply::result("\"inner\":1"));
                Some((seen.method().clone(), seen.operation().map(Cow::into_owned)))
            };
            tokio::select! {
                biased;
                reply = service.clone().oneshot(envelope) => (None, reply.unwrap()),
                Some(seen) = answer => (Some(seen), Reply::accepted()),
            }
        };
        for method in [Method::PING, Method::PROMPTS_LIST, Method::RESOURCES_READ] {
            let (seen, _) = send(call(method.clone(), r#"{"name":"x"}"#)).await;
            assert_eq!(seen, Some((method, None)), "{mode:?}");
        }
        // A notification of that name is nothing to answer.
        let silent = Envelope::new(Method::TOOLS_CALL, ProtocolVersion::July2026);
        assert_eq!(send(silent).await.0, Some((Method::TOOLS_CALL, None)));

        let compact = matches!(mode, Mode::Compact(_));
        let (seen, listed) = send(call(Method::TOOLS_LIST, "{}")).await;
        assert_eq!(seen.is_none(), compact, "{mode:?}");
        assert_eq!(listed.members().is_some(), compact);
        let params = if compact {
            r#"{"name":"call_tool","arguments":{"name":"x"}}"#
        } else {
            r#"{"name":"x"}"#
        };
        let (seen, _) = send(call(Method::TOOLS_CALL, params)).await;
        assert_eq!(
            seen,
            Some((Method::INVOKE, Some("x".to_owned()))),
            "{mode:?}"
        );
        if compact {
            let (seen, reply) = send(call(Method::TOOLS_CALL, r#"{"name":"x"}"#)).await;
            assert_eq!(seen, None);
            assert_eq!(reply.error().unwrap().code(), Error::INVALID_PARAMS);
        }
    }
}

#[test]
fn readiness_is_that_of_the_inner_service() {
    for mode in [Mode::default(), Mode::Direct, Mode::Plain] {
        contract::holds::<_, _, Reply>(&ModeLayer::new(mode), || call(Method::PING, "{}"));
    }
}
