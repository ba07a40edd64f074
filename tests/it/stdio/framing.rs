//! One message a line, whatever the lines look like.

use portcullis::layers::Mode;
use portcullis::wire::json::RawJson;
use portcullis::{Operation, Registry, Stack};

use crate::support::gate;
use crate::support::message::{handshake, notification, request};
use crate::support::stdio::Pipe;

use super::{call, code};

/// Contract: M-111, case J12.
#[tokio::test]
async fn every_kind_of_line_end_is_one() {
    let (gate, _probe) = gate();
    let mut pipe = Pipe::open(&gate);
    let initialize = request("1", "initialize", &handshake("2025-11-25"));
    pipe.write_bytes(format!("\u{feff}{initialize}\r\n").as_bytes())
        .await;
    assert_eq!(code(&pipe.line().await), 0);
    let initialized = notification("notifications/initialized", "");
    pipe.write_bytes(format!("{initialized}\r\n").as_bytes())
        .await;
    pipe.write_bytes(b"\n\n\n  \n\r\n").await;
    pipe.write_bytes(format!("{}\r\n", request("2", "tools/list", "")).as_bytes())
        .await;
    assert!(
        pipe.line()
            .await
            .starts_with(r#"{"jsonrpc":"2.0","id":2,"result":"#)
    );
    // The last line has no end, and is answered all the same.
    pipe.write_bytes(request("3", "ping", "").as_bytes()).await;
    let (rest, ended) = pipe.close().await;
    assert_eq!(rest, [r#"{"jsonrpc":"2.0","id":3,"result":{}}"#]);
    ended.unwrap();
}

#[tokio::test]
async fn messages_may_come_in_pieces_or_many_at_once() {
    let (gate, _probe) = gate();
    let mut pipe = Pipe::open(&gate);
    for byte in format!("{}\n", call("1", "echo", r#"{"text":"é"}"#)).as_bytes() {
        pipe.write_bytes(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    assert!(pipe.line().await.contains(r#""text":"é""#));
    let many: String = (0..50)
        .map(|n| call(&n.to_string(), "tally_bump", "{}") + "\n")
        .collect();
    pipe.write_bytes(many.as_bytes()).await;
    for _ in 0..50 {
        assert_eq!(code(&pipe.line().await), 0);
    }
}

/// Contract: S-091, M-112.
#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_one_served() {
    const MOST: usize = 2 * 1024 * 1024;
    let (gate, probe) = gate();
    let mut pipe = Pipe::open(&gate);
    for (length, refused) in [
        (MOST, false),
        (MOST + 1, true),
        (3 * MOST, true),
        (MOST, false),
    ] {
        let bump = call("1", "tally_bump", "{}");
        let before = probe.tally.get();
        pipe.write(&format!("{bump}{}", " ".repeat(length - bump.len())))
            .await;
        let answer = pipe.line().await;
        assert_eq!(code(&answer), if refused { -32600 } else { 0 }, "{length}");
        assert_eq!(answer.contains("\"id\""), !refused, "{answer}");
        assert_eq!(
            probe.tally.get() - before,
            usize::from(!refused),
            "{length}"
        );
        assert_eq!(code(&pipe.ask(&call("2", "tally_read", "{}")).await), 0);
    }
}

/// Contract: P-90.
#[tokio::test]
async fn a_reply_is_one_line_whatever_is_in_it() {
    let operations = [
        ("object", "{\r\n\"a\":\t1,\n\"b\":\"\\n\\u2028\u{2028}\"}"),
        ("list", "[\n1,\r2\n]"),
    ];
    let mut builder = Registry::builder();
    for (name, value) in operations {
        let handler = move || async move { RawJson::parse(value) };
        builder = builder.operation(Operation::new(name).handler(handler));
    }
    let gate = Stack::new(builder.build().unwrap())
        .mode(Mode::Plain)
        .build()
        .unwrap();
    let mut pipe = Pipe::open(&gate);
    for (name, value) in operations {
        let line = pipe.ask(&call("1", name, "{}")).await;
        assert!(!line.contains(['\n', '\r']), "{line}");
        let reply: serde_json::Value = serde_json::from_str(&line).unwrap();
        let value: serde_json::Value = serde_json::from_str(value).unwrap();
        assert_eq!(reply["result"]["structuredContent"], value);
    }
}
