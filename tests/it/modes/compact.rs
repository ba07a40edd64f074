//! Three tools, whatever the server can do.

use portcullis::layers::Mode;
use serde_json::{Value, json};

use super::gate;
use crate::support::each_transport;
use crate::support::message::tool;

/// Contract: S-029, S-030, S-031, S-043, S-065, case X01.
#[tokio::test]
async fn the_list_is_the_same_for_everybody_whatever_was_searched_or_called() {
    let mut lists = std::collections::BTreeMap::new();
    let lists = std::cell::RefCell::new(&mut lists);
    each_transport(async |way| {
        let (gate, probe) = gate(Mode::default());
        let (first, second) = (way.open(&gate).await, way.open(&gate).await);
        let list = async |client: &crate::support::Client| {
            client
                .send(&client.text("\"list\"", "tools/list", ""))
                .await
                .raw()
                .to_owned()
        };
        let before = list(&first).await;
        let found = first.tool("search_tools", r#"{"query":"weigh"}"#).await;
        assert!(found.text().contains("weigh_00"), "{found:?}");
        let details = first
            .tool("get_tool_details", r#"{"name":"weigh_00"}"#)
            .await;
        assert!(details.text().contains("Weigh a parcel"), "{details:?}");
        assert_eq!(probe.tally.get(), 0, "no handler has run");
        let called = first.tool("call_tool", &tool("weigh_00", "{}")).await;
        assert_eq!((called.text(), probe.tally.get()), ("done".to_owned(), 1));
        assert_eq!(list(&first).await, before);
        assert_eq!(list(&second).await, before);

        let json: Value = serde_json::from_str(&before).unwrap();
        let tools = json["result"]["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["search_tools", "get_tool_details", "call_tool"]);
        assert!(tools.iter().all(|tool| tool.get("outputSchema").is_none()));
        // The bytes are those of every other transport as well.
        let modern = way.is_modern();
        let known = lists
            .borrow_mut()
            .entry(modern)
            .or_insert_with(|| before.clone())
            .clone();
        assert_eq!(before, known);
    })
    .await;
}

/// Contract: S-037, S-038.
#[tokio::test]
async fn a_search_gives_five_results_and_never_more_than_twenty() {
    each_transport(async |way| {
        let (gate, probe) = gate(Mode::default());
        let client = way.open(&gate).await;
        let search = async |arguments: Value| {
            let answer = client.tool("search_tools", &arguments.to_string()).await;
            match answer.code() {
                0 => Ok(answer.text().matches(r#""name":"weigh_"#).count()),
                code => Err(code),
            }
        };
        assert_eq!(search(json!({"query": "weigh"})).await, Ok(5));
        for (limit, found) in [(1, 1), (6, 6), (20, 20)] {
            assert_eq!(
                search(json!({"query": "weigh", "limit": limit})).await,
                Ok(found)
            );
        }
        for limit in [
            json!(0),
            json!(21),
            json!(-1),
            json!(1e3),
            json!("5"),
            json!(null),
        ] {
            let refused = search(json!({"query": "weigh", "limit": limit})).await;
            assert_eq!(refused, Err(-32602), "{limit}");
        }
        // What would be patterns elsewhere are words here.
        assert_eq!(
            search(json!({"query": "(q+)+$".repeat(17_000)})).await,
            Ok(0)
        );
        assert_eq!(probe.tally.get(), 0);
    })
    .await;
}

/// Contract: S-034, S-048, S-049, S-050, case X01.
#[tokio::test]
async fn envelopes_are_strict_and_arguments_are_the_operations_own() {
    each_transport(async |way| {
        let (gate, probe) = gate(Mode::default());
        let client = way.open(&gate).await;
        // An outer tool that is not one of the three.
        for unknown in ["weigh_00", "Call_tool", "call_tool ", ""] {
            assert_eq!(client.tool(unknown, "{}").await.code(), -32602, "{unknown}");
        }
        for malformed in [
            r#"{"name":"weigh_00","arguments":{},"extra":true}"#,
            r#"{"Name":"weigh_00"}"#,
            r#"{"name":"weigh_00","arguments":"{}"}"#,
            r#"{"name":"weigh_00","arguments":"[]"}"#,
            r#"{"name":"weigh_00","arguments":[]}"#,
            r#"{"name":null}"#,
            "{}",
            "null",
            "\"weigh_00\"",
        ] {
            assert_eq!(
                client.tool("call_tool", malformed).await.code(),
                -32602,
                "{malformed}"
            );
        }
        // Twice the same name is refused before anybody looks at it.
        let twice = r#"{"name":"weigh_00","name":"weigh_01"}"#;
        assert_eq!(client.tool("call_tool", twice).await.code(), -32600);
        // An operation that is not there is a failure, and the three tools are no operations.
        for missing in ["nothing", "call_tool", "search_tools"] {
            let answer = client.tool("call_tool", &tool(missing, "{}")).await.json();
            let failure = &answer["result"]["structuredContent"]["failure"];
            assert_eq!(failure["code"], "unavailable", "{missing}");
            assert!(!failure["message"].as_str().unwrap().contains(missing));
        }
        assert_eq!(probe.tally.get(), 0, "nothing of this has run");
        // Left out, or null, is an empty object; a text of JSON inside is a text.
        for (arguments, value) in [
            (r#"{"name":"mirror"}"#, json!({})),
            (r#"{"name":"mirror","arguments":null}"#, json!({})),
            (
                r#"{"name":"mirror","arguments":{"s":"[1]","name":2}}"#,
                json!({"s": "[1]", "name": 2}),
            ),
        ] {
            let answer = client.tool("call_tool", arguments).await.json();
            assert_eq!(
                answer["result"]["structuredContent"]["value"], value,
                "{arguments}"
            );
        }
        let healthy = client.tool("call_tool", &tool("weigh_00", "{}")).await;
        assert_eq!((healthy.text(), probe.tally.get()), ("done".to_owned(), 1));
    })
    .await;
}
