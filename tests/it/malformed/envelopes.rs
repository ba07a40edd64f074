//! What stands around a call: version, method, parameters, and whether it is one message at all.

use super::{CALL, Line, changed, matrix, message};

fn method(json: &str) -> Line {
    changed(r#""method":"tools/call""#, &format!(r#""method":{json}"#))
}

fn version(json: &str) -> Line {
    changed(r#""jsonrpc":"2.0""#, &format!(r#""jsonrpc":{json}"#))
}

/// The proper call with one more member before the others.
fn with_member(member: &str) -> Line {
    changed(r#"{"jsonrpc""#, &format!(r#"{{{member},"jsonrpc""#))
}

/// Contract: P-1, P-17, S-034, S-096, case J07.
#[tokio::test]
async fn the_version_is_two_and_a_string() {
    let mut lines: Vec<_> = [
        "2.0",
        "2",
        "null",
        "true",
        r#""2""#,
        r#""1.0""#,
        r#""2.00""#,
        r#""2.0 ""#,
        r#"["2.0"]"#,
        r#"{"2.0":1}"#,
        r#""""#,
    ]
    .map(|json| version(json).invalid_with_id())
    .into();
    lines.push(changed(r#""jsonrpc":"2.0","#, "").invalid_with_id());
    lines.push(changed(r#""jsonrpc""#, r#""JSONRPC""#).invalid_with_id());
    lines.push(changed(r#""jsonrpc""#, r#""jsonrpc ""#).invalid_with_id());
    lines.push(version(r#""\u0032.0""#).runs("7"));
    lines.push(changed(r#""jsonrpc""#, r#""json\u0072pc""#).runs("7"));
    matrix(lines).await;
}

/// Contract: P-16, P-17, S-034, S-096, case J07.
#[tokio::test]
async fn the_method_is_a_string_and_one_there_is() {
    let mut lines: Vec<_> = [
        "17",
        "null",
        "true",
        "[]",
        "{}",
        r#"["tools/call"]"#,
        r#"{"tools/call":1}"#,
    ]
    .map(|json| method(json).invalid_with_id())
    .into();
    lines.push(changed(r#""method":"tools/call","#, "").invalid_with_id());
    lines.push(changed(r#""method""#, r#""Method""#).invalid_with_id());
    let of_length = |length: usize| "m".repeat(length);
    lines.push(
        method(&format!("\"{}\"", of_length(255)))
            .named("257 bytes")
            .invalid_with_id(),
    );
    lines.push(
        method(&format!("\"{}\"", of_length(1_000_000)))
            .named("a megabyte")
            .invalid_with_id(),
    );
    let longest = of_length(254);
    for unknown in [
        "",
        " ",
        "tools/Call",
        "TOOLS/CALL",
        "tools/call ",
        "tools/call/",
        "tools",
        &longest,
    ] {
        let line = method(&format!("\"{unknown}\"")).with("Mcp-Method", unknown);
        // What is around a header is not part of it.
        if unknown.trim() == unknown {
            lines.push(line.refused(404, -32601, Some("7")).legacy_status(200));
        }
    }
    lines.push(method(r#""tools\/call""#).runs("7"));
    lines.push(method(r#""\u0074ools/\u0063all""#).runs("7"));
    lines.push(changed(r#""method""#, r#""\u006dethod""#).runs("7"));
    matrix(lines).await;
}

/// Contract: P-17, S-034.
#[tokio::test]
async fn params_are_an_object() {
    let call = |params: &str| {
        let (before, _) = CALL.split_once("{\"_meta\"").expect("params");
        message(
            format!("params are {params}"),
            format!("{before}{params}}}"),
        )
    };
    let mut lines: Vec<_> = [
        "[]",
        "[1]",
        r#"["tally_bump"]"#,
        r#""tally_bump""#,
        "null",
        "0",
        "-1.5e3",
        "true",
        "false",
    ]
    .map(|params| call(params).invalid_with_id())
    .into();
    lines.push(
        changed(r#""params""#, r#""Params""#)
            .refused(400, -32602, Some("7"))
            .legacy_status(200),
    );
    matrix(lines).await;
}

/// Contract: P-17, S-034.
#[tokio::test]
async fn a_request_is_no_answer_as_well() {
    let lines = vec![
        with_member(r#""result":{}"#).invalid_with_id(),
        with_member(r#""error":{"code":1,"message":""}"#).invalid_with_id(),
        with_member(r#""result":null"#).invalid_with_id(),
        with_member(r#""Result":{}"#).runs("7"),
        with_member(r#""unknown":{"result":1}"#).runs("7"),
        changed(r#""id":7,"#, r#""result":{},"#)
            .invalid()
            .silent_on_stdio(),
    ];
    matrix(lines).await;
}

/// Answers nobody waits for, and what could be one.
///
/// Contract: case H23.
#[tokio::test]
async fn answers_nobody_asked_for_are_not_answered() {
    let answer = |members: &str| message(members, format!(r#"{{"jsonrpc":"2.0",{members}}}"#));
    let lines = vec![
        answer(r#""id":"srv-404","result":{}"#)
            .invalid()
            .silent_on_stdio(),
        answer(r#""id":7,"error":{"code":1,"message":""}"#)
            .invalid()
            .silent_on_stdio(),
        answer(r#""id":7,"result":{},"error":{}"#)
            .invalid_with_id()
            .silent_on_stdio(),
        answer(r#""id":null,"error":{"code":1,"message":""}"#)
            .invalid()
            .silent_on_stdio(),
        answer(r#""result":{}"#).invalid().silent_on_stdio(),
        answer(r#""id":7"#).invalid_with_id(),
        answer(r#""id":7,"params":{}"#).invalid_with_id(),
    ];
    matrix(lines).await;
}

/// Contract: P-17, S-034, S-092, M-112, case J09.
#[tokio::test]
async fn batches_are_refused_as_a_whole() {
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"it","version":"0"}}}"#;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let batches = [
        "[]".to_owned(),
        " [ ] ".to_owned(),
        "[[]]".to_owned(),
        "[1]".to_owned(),
        "[null]".to_owned(),
        format!("[{CALL}]"),
        format!("[{CALL},{list}]"),
        format!("[{CALL},{CALL}]"),
        format!("[[{CALL}]]"),
        format!("[{notification}]"),
        format!("[{hello}]"),
        format!("[{}{list}]", format!("{list},").repeat(1000)),
    ];
    let lines = batches
        .map(|batch| message(batch.get(..40).unwrap_or("a short batch"), batch.clone()).invalid());
    matrix(lines.into()).await;
}

/// Contract: P-17, S-034.
#[tokio::test]
async fn a_message_is_an_object() {
    let roots = [
        "42",
        "-0.5",
        "null",
        "true",
        "false",
        r#""""#,
        r#""tools/call""#,
        "{}",
        r#"{"id":{}}"#,
    ];
    matrix(roots.map(|root| message(root, root).invalid()).into()).await;
}
