//! Values to the byte: what is sent as arguments, what comes back, and what is only passed on.

use portcullis::layers::{Compact, Mode};
use portcullis::service::handler::{Progress, RawArgs, Text};
use portcullis::service::{CallContext, RegistryBuilder};
use portcullis::wire::json::{Document, RawJson};
use portcullis::{Gate, Operation, Registry, Stack};

use crate::support::message::{META, tool};
use crate::support::{Answer, Client, each_transport};

use super::escaped;

/// Texts that a detour over floats, over a tree or over another encoder would change.
const VALUES: &[&str] = &[
    "9007199254740993",
    "-9223372036854775809",
    "18446744073709551616",
    "170141183460469231731687303715884105728",
    "1",
    "1.0",
    "1E2",
    "100.0",
    "-0",
    "-0.0",
    "0.1",
    "0.10000000000000000555111512312578270",
    "1e400",
    "-1e-400",
    "3.141592653589793238462643383279502884197",
    "null",
    r#""\u2028\u2029""#,
    "\"\u{2028}\u{2029}\"",
    r#""\/\u0041\ud83d\ude80\u0000""#,
    "\"\u{1f680}\u{7f}\"",
    r#"[ 1 , {"b":2,"a":1} , [ ] ]"#,
    r#"{"z":1,"a":2,"\u0062":3}"#,
];

fn gate(mode: Mode) -> Gate {
    let registry = operations(Registry::builder()).build().unwrap();
    Stack::new(registry).mode(mode).build().unwrap()
}

fn operations(builder: RegistryBuilder) -> RegistryBuilder {
    let builder = builder
        .operation(Operation::new("mirror").handler(|RawArgs(raw): RawArgs| async move { raw }))
        .operation(
            Operation::new("spell")
                .handler(|RawArgs(raw): RawArgs| async move { Text(raw.text().to_owned()) }),
        )
        .operation(Operation::new("tell").handler(async |call: CallContext| {
            call.progress(Progress::new(1)).await;
            "told"
        }));
    // More than a page of them.
    (0..40).fold(builder, |builder, at| {
        builder.operation(Operation::new(format!("filler_{at}")).handler(async || "filled"))
    })
}

/// A member of the result, and the text of its only block.
fn result(answer: &Answer) -> (String, String) {
    let document = Document::parse(answer.raw().as_bytes().to_vec(), 140).unwrap();
    let result = document.root().get("result").unwrap();
    let structured = result.get("structuredContent");
    let mut content = result.get("content").unwrap().elements();
    let text = content.next().and_then(|it| it.get("text")).unwrap();
    (
        structured.map_or_else(String::new, |it| it.text().to_owned()),
        text.as_str().unwrap().into_owned(),
    )
}

/// Contract: S-036, S-079, case J16.
#[tokio::test]
async fn arguments_and_results_are_handed_on_to_the_byte() {
    each_transport(async |way| {
        for mode in [Mode::Plain, Mode::Direct] {
            let wrapped = mode.name() == "direct";
            let client = way.open(&gate(mode)).await;
            for value in VALUES {
                let arguments = format!(r#"{{"v": {value} ,"w":[{value}]}}"#);
                let (structured, text) = result(&client.tool("mirror", &arguments).await);
                let expected = if wrapped {
                    format!(r#"{{"value":{arguments}}}"#)
                } else {
                    arguments.clone()
                };
                assert_eq!(structured, expected);
                assert_eq!(text, expected);
                // What the handler got is the text that was sent.
                let (_, text) = result(&client.tool("spell", &arguments).await);
                assert_eq!(text, arguments);
            }
        }
    })
    .await;
}

/// Contract: S-036, case J16.
#[tokio::test]
async fn compact_calls_hand_arguments_on_to_the_byte() {
    each_transport(async |way| {
        let client = way.open(&gate(Mode::Compact(Compact::default()))).await;
        for value in VALUES {
            let inner = format!(r#"{{"v":{value}}}"#);
            let arguments = format!(r#"{{"name":"mirror","arguments":{inner}}}"#);
            let (structured, _) = result(&client.tool("call_tool", &arguments).await);
            assert_eq!(structured, format!(r#"{{"value":{inner}}}"#));
        }
    })
    .await;
}

#[tokio::test]
async fn progress_tokens_come_back_as_they_were_written() {
    let tokens = [
        "0",
        "9007199254740993",
        "-18446744073709551616",
        r#""""#,
        r#""\u0074\/\ud83d\ude80""#,
        "\"\u{2028}\"",
    ];
    each_transport(async |way| {
        let client = way.open(&gate(Mode::Plain)).await;
        for token in tokens {
            let meta = if way.is_modern() { META } else { r#""a":1"# };
            let params = tool("tell", "{}").replacen(
                '{',
                &format!(r#"{{"_meta":{{{meta},"progressToken":{token}}},"#),
                1,
            );
            let answer = client.request("tools/call", &params).await;
            assert_eq!(answer.text(), "told");
            let told = format!(r#""progressToken":{token},"progress":1"#);
            assert_eq!(answer.messages.len(), 1, "{token}: {answer:?}");
            assert!(answer.messages[0].contains(&told), "{token}: {answer:?}");
        }
    })
    .await;
}

/// A cursor is a string, however its characters are spelt.
#[tokio::test]
async fn cursors_are_known_again_in_any_spelling() {
    each_transport(async |way| {
        let client = way.open(&gate(Mode::Direct)).await;
        let first = client.request("tools/list", "{}").await;
        let cursor = cursor(&first);
        let plain = page(&client, &cursor).await;
        assert!(plain.contains("filler_20"), "{plain}");
        assert_eq!(page(&client, &escaped(&cursor)).await, plain);
    })
    .await;
}

fn cursor(answer: &Answer) -> String {
    let result = RawJson::parse(answer.raw()).unwrap();
    let result = result.node().get("result").unwrap();
    let cursor = result.get("nextCursor").expect("a page after this one");
    cursor.as_str().unwrap().into_owned()
}

/// The tools of a page.
async fn page(client: &Client, cursor: &str) -> String {
    let params = format!(r#"{{"cursor":"{cursor}"}}"#);
    let answer = client.request("tools/list", &params).await;
    let answer = RawJson::parse(answer.raw()).unwrap();
    let tools = answer.node().get("result").and_then(|it| it.get("tools"));
    tools.unwrap().text().to_owned()
}
