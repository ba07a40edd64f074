//! Nothing but messages is written to the output.

use tokio::io::AsyncWriteExt as _;

use crate::support::example::Example;
use crate::support::gate;
use crate::support::message::{META, handshake, modern, notification, request, tool};
use crate::support::stdio::Pipe;

use super::{call, id};

/// Contract: P-90, P-91, case S02.
#[tokio::test]
async fn a_process_writes_messages_to_its_output_and_logs_elsewhere() {
    let mut example = Example::start("quickstart", &["--stdio"]);
    let say = [
        request("1", "initialize", &handshake("2025-11-25")),
        notification("notifications/initialized", ""),
        request("2", "tools/call", &tool("divide", r#"{"a":1,"b":0}"#)),
        request(
            "3",
            "tools/call",
            &tool("add", r#"{"a":"line\nbreak","b":"\u2028"}"#),
        ),
        "{broken".to_owned(),
        request("4", "garden/prune", ""),
        request("5", "tools/call", &tool("add", r#"{"a":19,"b":23}"#)),
        request(
            "6",
            "server/discover",
            &format!(r#"{{"_meta":{{{META}}}}}"#),
        ),
    ];
    let mut input = example.input.take().unwrap();
    let mut answered = 0;
    for line in say {
        input
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
        if line.contains("notifications/") {
            continue;
        }
        let answer = example.line().await.unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["jsonrpc"], "2.0");
        answered += 1;
    }
    assert_eq!(answered, 7);
    drop(input);
    assert_eq!(example.line().await, None);
    let (status, logged) = example.ended().await;
    assert!(status.success(), "{status}");
    assert!(
        logged.contains("calculator 1.0.0"),
        "it logs what it is: {logged}"
    );
}

/// A pipe holds 64 KiB: what is logged of a call does not grow with what was sent.
///
/// Contract: case S04.
#[tokio::test]
async fn a_log_that_nobody_reads_holds_no_answer_up() {
    let mut example = Example::start("quickstart", &["--stdio"]);
    let mut input = example.input.take().unwrap();
    let long = format!(r#"{{"a":1,"b":2,"c":"{}"}}"#, "x".repeat(200_000));
    for n in 1..=20 {
        let line = modern(&n.to_string(), "tools/call", &tool("add", &long));
        input.write_all(line.as_bytes()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
        assert_eq!(id(&example.line().await.unwrap()), n);
    }
    drop(input);
    let (status, logged) = example.ended().await;
    assert!(
        status.success() && logged.len() < 64 * 1024,
        "{} bytes",
        logged.len()
    );
}

/// Contract: P-94, M-111, case S01.
#[tokio::test]
async fn a_process_ends_well_when_its_input_does() {
    let mut nothing = Example::start("quickstart", &["--stdio"]);
    drop(nothing.input.take());
    assert_eq!(nothing.line().await, None);
    assert!(nothing.ended().await.0.success());

    let mut example = Example::start("quickstart", &["--stdio"]);
    let mut input = example.input.take().unwrap();
    let all = [
        request("1", "initialize", &handshake("2025-11-25")),
        notification("notifications/initialized", ""),
        request("2", "tools/call", &tool("add", r#"{"a":19,"b":23}"#)),
    ];
    input.write_all(all.join("\n").as_bytes()).await.unwrap();
    drop(input);
    for expected in [1, 2] {
        assert_eq!(id(&example.line().await.unwrap()), expected);
    }
    assert_eq!(example.line().await, None);
    assert!(example.ended().await.0.success());
}

/// Contract: P-91, case S02, case T12.
#[tokio::test]
async fn a_panic_leaves_no_trace_in_the_output() {
    let (gate, _probe) = gate();
    let mut pipe = Pipe::open(&gate);
    for round in 1..=3 {
        let failed = pipe
            .ask(&call("1", "explode", r#"{"secret":"tok-42"}"#))
            .await;
        assert!(
            failed.contains(r#""isError":true"#) && !failed.contains("tok-42"),
            "{failed}"
        );
        let texts = r#"{"text":"line\nbreak\r\u2028\u0000"}"#;
        let told = pipe.ask(&call("2", "echo", texts)).await;
        assert!(told.contains(r#""text":"line\nbreak\r"#), "{round}: {told}");
    }
    let (rest, ended) = pipe.close().await;
    assert_eq!(rest, [""; 0]);
    ended.unwrap();
}
