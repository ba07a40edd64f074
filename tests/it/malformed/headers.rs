//! What stands in the head of a request: each line is sent over both versions of HTTP.

use super::{CALL, Line, changed, matrix, message};

/// A proper call whose head is changed.
fn call(name: &str) -> Line {
    message(name, CALL)
}

fn head(name: &'static str, value: &str) -> Line {
    call(&format!("{name}: {value}")).with(name, value)
}

/// Contract: M-086.
#[tokio::test]
async fn media_types_and_encodings() {
    let types = [
        "text/plain",
        "text/json",
        "application/jsonp",
        "application/json-rpc",
        "application/json, text/plain",
        "application/json; charset=latin1",
        "application/json; charset=utf-16",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application",
        "*/*",
        "json",
    ];
    let mut lines: Vec<_> = types
        .map(|kind| head("Content-Type", kind).refused(415, -32600, None))
        .into();
    lines.push(
        call("no media type")
            .without("Content-Type")
            .refused(415, -32600, None),
    );
    for encoding in [
        "gzip",
        "br",
        "deflate",
        "zstd",
        "gzip, identity",
        "identity, gzip",
        "x",
        "chunked",
    ] {
        lines.push(head("Content-Encoding", encoding).refused(415, -32600, None));
    }
    for kind in [
        "Application/JSON",
        "application/json;charset=utf-8",
        "application/json; charset=\"UTF-8\"; x=y",
    ] {
        lines.push(head("Content-Type", kind).runs("7"));
    }
    lines.push(head("Content-Encoding", "identity").runs("7"));
    matrix(lines).await;
}

/// Contract: P-60, M-087, case H01.
#[tokio::test]
async fn accepted_answers() {
    let none = [
        "text/html",
        "application/jsonp, text/event-streaming",
        "application/json;q=0, text/event-stream;q=0",
        "application/json;q=0.0, */*;q=0",
        "*/*;q=0",
        "image/*",
        "json",
        ",",
    ];
    let mut lines: Vec<_> = none
        .map(|accept| head("Accept", accept).refused(406, -32600, None))
        .into();
    for accept in [
        "application/json",
        "text/event-stream, application/json",
        "application/json,text/event-stream",
        "*/*",
        "application/*;q=0.8, text/*",
        "APPLICATION/JSON, Text/Event-Stream;charset=utf-8",
        "text/html, */*;q=0.1",
    ] {
        lines.push(head("Accept", accept).runs("7"));
    }
    lines.push(call("nothing said").without("Accept").runs("7"));
    matrix(lines).await;
}

/// Contract: S-097, P-88.
#[tokio::test]
async fn the_budget_of_the_protocols_headers() {
    let long = "x".repeat(8 * 1024);
    let lines = [
        "Accept",
        "Content-Type",
        "Mcp-Param-Long",
        "Mcp-Session-Id",
        "Mcp-Whatever",
        "Last-Event-ID",
    ]
    .map(|name| call(name).with(name, &*long).refused(431, -32600, None));
    let mut lines: Vec<Line> = lines.into();
    lines.push(call("another's").with("Cookie", long).runs("7"));
    lines.push(
        call("less")
            .with("Mcp-Param-Long", "x".repeat(7 * 1024))
            .runs("7"),
    );
    matrix(lines).await;
}

/// Contract: P-67, P-68, P-70, P-71, P-72, P-73, case H07.
#[tokio::test]
async fn headers_that_contradict_the_message() {
    let mut lines = Vec::new();
    for (name, values) in [
        (
            "MCP-Protocol-Version",
            &[
                "2025-11-25",
                "2025-03-26",
                "1900-01-01",
                "2026-07-29",
                "",
                "latest",
            ][..],
        ),
        (
            "Mcp-Method",
            &[
                "tools/list",
                "TOOLS/CALL",
                "tools",
                "",
                "=?base64?dG9vbHMvY2FsbA==?=",
            ],
        ),
        (
            "Mcp-Name",
            &[
                "tally_read",
                "TALLY_BUMP",
                "tally_bump,tally_bump",
                "",
                "tally\tbump",
            ],
        ),
    ] {
        for value in values {
            lines.push(
                head(name, value)
                    .refused(400, -32020, Some("7"))
                    .modern_only(),
            );
        }
        lines.push(
            call(name)
                .without(name)
                .refused(400, -32020, Some("7"))
                .modern_only(),
        );
    }
    matrix(lines).await;
}

/// Contract: P-68, P-83, P-85, P-86.
#[tokio::test]
async fn headers_that_say_what_there_is_not() {
    let mut lines = Vec::new();
    // Both say the same of a tool there is not, or of a version.
    lines.push(
        changed("tally_bump", "tally")
            .with("Mcp-Name", "tally")
            .refused(200, -32602, Some("7")),
    );
    for version in ["1900-01-01", "2026-07-29", "", "2025-11-25, 2025-06-18"] {
        let line = head("MCP-Protocol-Version", version);
        lines.push(line.refused(400, -32022, Some("7")).legacy_only());
    }
    // The legacy era knows no such headers.
    lines.push(
        head("Mcp-Name", "else")
            .with("Mcp-Method", "else")
            .runs("7")
            .legacy_only(),
    );
    lines.push(head("Mcp-Param-Unknown", "=?base64?*?=").runs("7"));
    lines.push(
        head("Mcp-Session-Id", "gone")
            .with("Last-Event-ID", "x")
            .runs("7"),
    );
    matrix(lines).await;
}

/// Contract: P-74, P-75, P-76, P-77, case H07.
#[tokio::test]
async fn encoded_names() {
    // Broken padding, another alphabet, other markers, spaces, nothing, not UTF-8, another name.
    let broken = [
        "=?base64?dGFsbHlfYnVtcA=?=",
        "=?base64?dGFsbHlfYnVtcA?=",
        "=?base64?dGFsbHlfYnVtcA===?=",
        "=?base64?dGFsbHlf*nVtcA==?=",
        "=?base64?dGFsbHlf-nVtcA==?=",
        "=?base64? dGFsbHlfYnVtcA== ?=",
        "=?base64?dGFsbHlf YnVtcA==?=",
        "=?BASE64?dGFsbHlfYnVtcA==?=",
        "=?base64?dGFsbHlfYnVtcA==",
        "base64?dGFsbHlfYnVtcA==?=",
        "=?base64??=",
        "=?base64?=",
        "=?base64?/////w==?=",
        "=?base64?dGFsbHlfcmVhZA==?=",
        "=?utf-8?B?dGFsbHlfYnVtcA==?=",
        "dGFsbHlfYnVtcA==",
    ];
    let lines = broken.map(|value| {
        head("Mcp-Name", value)
            .refused(400, -32020, Some("7"))
            .modern_only()
    });
    let mut lines: Vec<_> = lines.into();
    lines.push(head("Mcp-Name", "=?base64?dGFsbHlfYnVtcA==?=").runs("7"));
    lines.push(head("Mcp-Name", "tally_bump").runs("7"));
    matrix(lines).await;
}

/// A call of the tool that wants its arguments in headers as well; it counts, too.
fn route(arguments: &str, headers: &[(&'static str, &str)]) -> Line {
    let text = CALL.replace("tally_bump", "route_parcel");
    let text = text.replace(r#""arguments":{}"#, &format!(r#""arguments":{arguments}"#));
    let line =
        message(format!("{arguments} with {headers:?}"), text).with("Mcp-Name", "route_parcel");
    let add = |line: Line, (name, value): &(&'static str, &str)| line.with(name, *value);
    headers.iter().fold(line, add).modern_only()
}

/// Contract: P-78, P-79, P-80, P-81, P-82, P-83, case H09.
#[tokio::test]
async fn arguments_that_are_mirrored_in_headers() {
    const ZONE: &str = "Mcp-Param-Zone";
    const SLOT: &str = "Mcp-Param-Slot";
    const RUSH: &str = "Mcp-Param-Rush";
    const DEPTH: &str = "Mcp-Param-Depth";
    let all = r#"{"zone":"n1","slot":42,"rush":true}"#;
    let runs = [
        route(all, &[(ZONE, "n1"), (SLOT, "42"), (RUSH, "true")]),
        route(
            all,
            &[(ZONE, "=?base64?bjE=?="), (SLOT, "42.0"), (RUSH, "true")],
        ),
        route(r#"{"slot":42.0}"#, &[(SLOT, "42")]),
        route(
            r#"{"slot":9007199254740993}"#,
            &[(SLOT, "9007199254740993")],
        ),
        route("{}", &[]),
        route(r#"{"zone":""}"#, &[(ZONE, "")]),
        route(r#"{"zone":" n1 "}"#, &[(ZONE, "=?base64?IG4xIA==?=")]),
        route(r#"{"zone":"=?base64?"}"#, &[(ZONE, "=?base64?")]),
        route(r#"{"box":{"depth":3}}"#, &[(DEPTH, "3")]),
        route("{}", &[("Mcp-Param-Other", "x")]),
    ];
    let refused = [
        route(all, &[(ZONE, "n1"), (SLOT, "43"), (RUSH, "true")]),
        route(all, &[(ZONE, "n1"), (SLOT, "42"), (RUSH, "True")]),
        route(all, &[(ZONE, "n1"), (SLOT, "42"), (RUSH, "1")]),
        route(all, &[(ZONE, "N1"), (SLOT, "42"), (RUSH, "true")]),
        route(all, &[(ZONE, "n1"), (SLOT, "42")]),
        route(all, &[(SLOT, "42"), (RUSH, "true")]),
        route(
            r#"{"slot":9007199254740993}"#,
            &[(SLOT, "9007199254740992")],
        ),
        route(r#"{"slot":42}"#, &[(SLOT, "42x")]),
        route(r#"{"slot":42}"#, &[(SLOT, "")]),
        route("{}", &[(ZONE, "n1")]),
        route(r#"{"zone":null}"#, &[(ZONE, "null")]),
        route("{}", &[(SLOT, "42")]),
        route(r#"{"zone":" n1 "}"#, &[(ZONE, "n1")]),
        route(r#"{"zone":"n1"}"#, &[(ZONE, "=?base64?bjE?=")]),
        route(r#"{"zone":"n1"}"#, &[(ZONE, "=?base64?bj*=?=")]),
        route(r#"{"zone":"n1"}"#, &[(ZONE, "=?base64?bjI=?=")]),
        route(r#"{"box":{"depth":3}}"#, &[]),
        route(r#"{"box":{"depth":3}}"#, &[(DEPTH, "4")]),
    ];
    let mut lines: Vec<_> = runs.map(|line| line.runs("7")).into();
    lines.extend(refused.map(|line| line.refused(400, -32020, Some("7"))));
    matrix(lines).await;
}
