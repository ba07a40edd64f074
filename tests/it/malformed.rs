//! Messages that are none: each is refused before anything runs, and the connection serves the next.

use crate::support::message::{self, tool};
use crate::support::{Client, Probe, Way, each_transport, gate, over};

/// A message that is refused, with the id the refusal carries.
struct Hostile {
    text: String,
    id: Option<&'static str>,
    code: i64,
}

/// Refused as something that is no request.
fn invalid(text: impl Into<String>, id: Option<&'static str>) -> Hostile {
    Hostile {
        text: text.into(),
        id,
        code: -32600,
    }
}

/// Refused as something that is no JSON.
fn unparsable(text: impl Into<String>) -> Hostile {
    Hostile {
        text: text.into(),
        id: None,
        code: -32700,
    }
}

/// Sends all of it: nothing may run, and a healthy call succeeds after each on the same connection.
async fn refuses(way: Way, hostile: impl AsyncFnOnce(&Client) -> Vec<Hostile>) {
    let (gate, probe) = gate();
    let client = way.open(&gate).await;
    for Hostile { text, id, code } in hostile(&client).await {
        let shown: String = text.chars().take(200).collect();
        let answer = client.send(&text).await;
        answer.assert_status(400);
        assert_eq!(answer.code(), code, "{shown}: {answer:?}");
        let expected = id.map(|id| format!(r#""id":{id},"#));
        match expected {
            Some(id) => assert!(answer.raw().contains(&id), "{shown}: {answer:?}"),
            None => assert!(answer.json().get("id").is_none(), "{shown}: {answer:?}"),
        }
        healthy(&client, &probe).await;
    }
    assert_eq!(client.connections(), 1, "the connection was kept");
}

/// A call is served, and nothing else was.
async fn healthy(client: &Client, probe: &Probe) {
    assert_eq!(client.tool("tally_read", "{}").await.text(), "0");
    assert_eq!(probe.tally.get(), 0);
}

/// `tools/call` of the counting tool in this era, with these members before and after its method.
fn bump(client: &Client, members: &str) -> String {
    let text = client.text("0", "tools/call", &tool("tally_bump", "{}"));
    text.replacen(r#""id":0"#, members, 1)
}

/// Contract: P-5, P-9, S-095, case J03.
#[tokio::test]
async fn illegal_ids_never_run_anything() {
    each_transport(async |way| {
        refuses(way, async |client| {
            let long = format!("\"{}\"", "x".repeat(300));
            let ids = ["null", "3.5", "1e2", "true", "[1]", r#"{"n":1}"#, &long];
            ids.map(|id| invalid(bump(client, &format!("\"id\":{id}")), None))
                .into()
        })
        .await;
    })
    .await;
}

/// Contract: P-17, S-096, case J07.
#[tokio::test]
async fn requests_without_a_proper_method_or_version_are_refused_with_their_id() {
    each_transport(async |way| {
        refuses(way, async |client| {
            let long = "m".repeat(255);
            vec![
                invalid(r#"{"jsonrpc":"2.0","id":4}"#, Some("4")),
                invalid(r#"{"jsonrpc":"2.0","id":5,"method":17}"#, Some("5")),
                invalid(bump(client, r#""id":6"#).replace("2.0", "1.0"), Some("6")),
                invalid(
                    bump(client, r#""id":7"#).replace(r#""jsonrpc":"2.0","#, ""),
                    Some("7"),
                ),
                invalid(
                    bump(client, r#""id":8"#).replace(r#""2.0""#, "2.0"),
                    Some("8"),
                ),
                invalid(
                    format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{long}"}}"#),
                    Some("9"),
                ),
                invalid("42", None),
                invalid(r#""tools/call""#, None),
                invalid("null", None),
            ]
        })
        .await;
    })
    .await;
}

/// Contract: S-093, case J10.
#[tokio::test]
async fn names_that_stand_twice_are_refused_however_they_are_spelt() {
    each_transport(async |way| {
        refuses(way, async |client| {
            let call = |arguments: &str| client.text("4", "tools/call", &tool("mirror", arguments));
            vec![
                invalid(
                    bump(client, r#""id":1,"\u006dethod":"tools/list""#),
                    Some("1"),
                ),
                invalid(bump(client, r#""id":2,"id":3"#), None),
                invalid(call(r#"{"amount":1,"a\u006dount":900}"#), Some("4")),
                invalid(call(r#"{"x":[{"q":1,"\u0071":2}]}"#), Some("4")),
                invalid(call(r#"{"":1,"":2}"#), Some("4")),
                invalid(
                    bump(client, r#""id":5,"extra":{"a":{},"\u0061":{}}"#),
                    Some("5"),
                ),
                invalid(
                    message::request("6", "tools/list", r#"{"_meta":{"a":1,"\u0061":2}}"#),
                    Some("6"),
                ),
            ]
        })
        .await;
    })
    .await;
}

/// Contract: S-094, case J10.
#[tokio::test]
async fn names_that_only_look_alike_pass_and_arguments_arrive_to_the_byte() {
    let deep = format!("{{\"d\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    let arguments = [
        r#"{"a":1,"A":2}"#,
        r#"{"\u00e9":1,"e\u0301":2}"#,
        r#"{"":1," ":2}"#,
        r#"{"x":{"q":1},"y":{"q":2}}"#,
        r#"{ "n" : [ 1.0 , 1e2, -0, 123456789012345678901234567890 ] }"#,
        r#"{"s":"\u0041\/\ud83d\ude80\u2028"}"#,
        &deep,
    ];
    each_transport(async |way| {
        let (gate, _probe) = gate();
        let client = way.open(&gate).await;
        for arguments in arguments {
            let answer = client.tool("mirror", arguments).await;
            let copy = format!(r#""structuredContent":{arguments}"#);
            assert!(answer.raw().contains(&copy), "{arguments}: {answer:?}");
        }
    })
    .await;
}

/// Contract: P-17, S-092, M-112.
#[tokio::test]
async fn batches_are_refused_as_a_whole() {
    each_transport(async |way| {
        refuses(way, async |client| {
            let bump = bump(client, r#""id":1"#);
            let batches = [
                "[]".to_owned(),
                "[1]".to_owned(),
                format!("[{bump}]"),
                format!("[{bump},{bump}]"),
            ];
            batches.map(|batch| invalid(batch, None)).into()
        })
        .await;
    })
    .await;
}

/// Contract: P-17, M-112, case J13.
#[tokio::test]
async fn what_is_not_json_is_refused_and_half_of_it_does_not_run() {
    over(&Way::BYTES, async |way| {
        refuses(way, async |client| {
            let bump = bump(client, r#""id":1"#);
            let half = &bump[..bump.len() / 2];
            let mut all = vec![
                unparsable(format!("{bump}{bump}")),
                unparsable(format!("{bump} junk")),
                unparsable(half),
                unparsable(format!("{bump},")),
                unparsable("\u{feff}\u{feff}{}"),
            ];
            for value in [
                "NaN", "+1", "01", ".5", "1.", "0x10", "'q'", "1,", "1//", "\"\t\"",
            ] {
                let arguments = format!("{{\"a\":{value}}}");
                all.push(unparsable(message::request(
                    "1",
                    "tools/call",
                    &tool("tally_bump", &arguments),
                )));
            }
            all
        })
        .await;
    })
    .await;
}

/// Contract: P-2.
#[tokio::test]
async fn what_is_not_utf_8_is_refused() {
    let (gate, probe) = gate();
    let body = |bytes: &[u8]| [br#"{"jsonrpc":"2.0","id":1,"method":""#, bytes, br#""}"#].concat();
    let broken: [&[u8]; 4] = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xe2\x82"];
    let mut pipe = crate::support::stdio::Pipe::open(&gate);
    let client = Way::HttpLegacy.open(&gate).await;
    let mut connection = crate::support::http1::Connection::open(client.address()).await;
    for broken in broken {
        let response = connection
            .send(&crate::support::http1::Request::post(body(broken)))
            .await;
        assert_eq!(response.outcome(), (400, -32700));
        pipe.write_bytes(&[&*body(broken), b"\n"].concat()).await;
        assert!(pipe.line().await.contains("-32700"));
    }
    healthy(&client, &probe).await;
    let served = pipe
        .ask(&message::modern(
            "1",
            "tools/call",
            &tool("tally_read", "{}"),
        ))
        .await;
    assert!(served.contains(r#""text":"0""#), "{served}");
}

/// Contract: case J15.
#[tokio::test]
async fn what_nests_too_deep_is_refused_wherever_it_stands() {
    const LEVELS: usize = 10_000;
    over(&Way::BYTES, async |way| {
        refuses(way, async |client| {
            let lists = format!("{}1{}", "[".repeat(LEVELS), "]".repeat(LEVELS));
            let objects = format!("{}1{}", r#"{"k":"#.repeat(LEVELS), "}".repeat(LEVELS));
            let mut all = Vec::new();
            for deep in [lists, objects] {
                let arguments = tool("tally_bump", &format!("{{\"d\":{deep}}}"));
                all.push(unparsable(client.text("1", "tools/call", &arguments)));
                all.push(unparsable(bump(
                    client,
                    &format!("\"id\":1,\"extra\":{deep}"),
                )));
                let meta = format!(r#"{{"_meta":{{"x.example/y":{deep}}}}}"#);
                all.push(unparsable(message::request("1", "tools/list", &meta)));
            }
            all
        })
        .await;
    })
    .await;
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
        healthy(&client, &probe).await;
    })
    .await;
}

/// Contract: P-5, case J01, case J02.
#[tokio::test]
async fn ids_come_back_as_they_were_written() {
    let ids = [
        "0",
        r#""""#,
        "-1",
        "7",
        r#""7""#,
        "9007199254740993",
        "18446744073709551616",
        r#""Zürich-\u00e9\ud83d\ude80""#,
        r#""a\/b\u0022""#,
    ];
    each_transport(async |way| {
        let (gate, _probe) = gate();
        let client = way.open(&gate).await;
        for id in ids {
            // Twice: once it is answered an id may be used again.
            for _ in 0..2 {
                let answer = client.send(&client.text(id, "tools/list", "")).await;
                let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
                assert!(answer.raw().starts_with(&start), "{id}: {answer:?}");
            }
        }
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

/// Contract: case T02.
#[tokio::test]
async fn errors_stay_small_whatever_they_could_repeat() {
    let long = "x".repeat(1_000_000);
    each_transport(async |way| {
        let (gate, _probe) = gate();
        let client = way.open(&gate).await;
        let mut cases = vec![
            (
                "tools/call",
                tool("needs_q", &format!("{{\"q\":\"\",\"{long}\":1}}")),
            ),
            (
                "tools/call",
                tool("needs_q", &format!("{{\"q\":[\"{long}\"]}}")),
            ),
            (
                "prompts/get",
                format!(r#"{{"name":"review","arguments":{{"{long}":7}}}}"#),
            ),
            (
                "completion/complete",
                format!(r#"{{"ref":{{"type":"{long}"}}}}"#),
            ),
            ("tools/list", format!(r#"{{"cursor":"{long}"}}"#)),
        ];
        if way != Way::HttpModern {
            // There it would stand in a header as well, and be too long for one.
            cases.push(("tools/call", tool(&long, "{}")));
            cases.push(("resources/read", format!(r#"{{"uri":"note://{long}"}}"#)));
            cases.push(("prompts/get", format!(r#"{{"name":"{long}"}}"#)));
        }
        for (method, params) in cases {
            let answer = client.request(method, &params).await;
            assert!(answer.code() < 0 || answer.is_error(), "{method}");
            let length = answer.raw().len();
            assert!(length < 20_000, "{method}: {length} bytes");
        }
    })
    .await;
}
