//! Ids: what is one comes back to the byte, what is none is never echoed.

use crate::support::message::{self, tool};
use crate::support::{each_transport, gate};

use super::{Line, changed, matrix};

fn id(json: &str) -> Line {
    changed(r#""id":7"#, &format!(r#""id":{json}"#))
}

/// Contract: P-5, P-9, S-095, S-034, case J03.
#[tokio::test]
async fn illegal_ids_never_run_anything() {
    let longest = format!("\"{}\"", "x".repeat(254));
    let mut lines: Vec<_> = [
        "null",
        "true",
        "false",
        "3.5",
        "7.0",
        "1e2",
        "1E400",
        "-0.0",
        "[1]",
        "[]",
        "{}",
        r#"{"n":1}"#,
        r#"["7"]"#,
    ]
    .map(|json| id(json).invalid())
    .into();
    for (name, json) in [
        ("257 bytes", format!("\"{}\"", "x".repeat(255))),
        ("300 characters", format!("\"{}\"", "x".repeat(300))),
        (
            "escapes of 258 bytes",
            format!("\"{}xxxx\"", r"\u0041".repeat(42)),
        ),
        ("300 digits", "9".repeat(300)),
        ("a mebibyte", format!("\"{}\"", "é".repeat(512 * 1024))),
    ] {
        lines.push(id(&json).named(name).invalid());
    }
    lines.push(id(&longest).runs(&longest));
    matrix(lines).await;
}

/// Contract: P-5, S-105, case J01, case J02.
#[tokio::test]
async fn legal_ids_come_back_as_they_were_written() {
    let escaped = format!("\"{}xx\"", r"\u0041".repeat(42));
    let huge = "9".repeat(256);
    let texts = [
        "0",
        "-0",
        "-1",
        r#""""#,
        r#"" ""#,
        r#""7""#,
        r#""null""#,
        "9007199254740993",
        "-9223372036854775809",
        "18446744073709551616",
        r#""Zürich-\u00e9\ud83d\ude80""#,
        r#""a\/b\u0022\u0000""#,
        "\"\u{2028}\u{7f}\"",
        &escaped,
        &huge,
    ];
    // Twice: once it is answered an id may be used again.
    let lines = texts.iter().chain(&texts).map(|json| id(json).runs(json));
    matrix(lines.collect()).await;
}

/// Contract: P-10, case J05.
#[tokio::test]
async fn without_an_id_nothing_is_answered() {
    let lines = vec![
        changed(r#""id":7,"#, ""),
        // Another spelling of the name is another name.
        changed(r#""id":7"#, r#""ID":7"#),
        changed(r#""id":7"#, r#""Id":null"#),
        changed(r#""id":7,"#, "").with("Mcp-Name", "else"),
    ];
    matrix(lines).await;
}

/// Contract: P-10, case J05.
#[tokio::test]
async fn what_has_no_id_runs_no_tool_and_is_never_answered() {
    each_transport(async |way| {
        let (gate, probe) = gate();
        let client = way.open(&gate).await;
        for (method, params) in [
            (
                "notifications/greenhouse/door",
                r#"{"open":true}"#.to_owned(),
            ),
            ("notifications/cancelled", r#"{"requestId":404}"#.to_owned()),
            ("notifications/cancelled", String::new()),
            ("notifications/initialized", String::new()),
            ("tools/call", message::with_meta(&tool("tally_bump", "{}"))),
            ("tools/call", tool("tally_bump", "{}")),
        ] {
            let answer = client.notify(method, &params).await;
            answer.assert_status(202);
            assert_eq!(answer.reply, None, "{method}");
        }
        // On stdio an answer nobody waits for would make the reader fail.
        assert_eq!(client.tool("tally_read", "{}").await.text(), "0");
        assert_eq!(probe.tally.get(), 0);
    })
    .await;
}

/// Contract: P-5, M-002, case J02.
#[tokio::test]
async fn a_number_and_a_text_are_different_ids_at_the_same_time() {
    each_transport(async |way| {
        let (gate, probe) = gate();
        let client = way.open(&gate).await;
        let ask = |id: &str, ms: u64| {
            let params = tool("nap", &format!("{{\"ms\":{ms}}}"));
            let text = client.text(id, "tools/call", &params);
            let client = client.clone();
            tokio::spawn(async move { client.send(&text).await })
        };
        let (text, number) = (ask(r#""7""#, 60), ask("7", 30));
        let (text, number) = (text.await.unwrap(), number.await.unwrap());
        assert!(text.raw().contains(r#""id":"7""#) && text.text() == "slept 60 ms");
        assert!(number.raw().contains(r#""id":7"#) && number.text() == "slept 30 ms");
        assert_eq!(probe.peak.get(), 2);
    })
    .await;
}
