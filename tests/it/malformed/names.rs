//! Member names: twice is refused however it is spelt and wherever it stands, alike is not the same.

use crate::support::message::META as MODERN;
use crate::support::{each_transport, gate};

use super::{Line, META, arguments, changed, matrix};

fn member(before: &str, member: &str) -> Line {
    changed(before, &format!("{member},{before}"))
}

/// Contract: S-033, S-093, case J10.
#[tokio::test]
async fn members_of_the_message_that_stand_twice() {
    let lines = vec![
        member(r#""jsonrpc""#, r#""jsonrpc":"2.0""#).invalid_with_id(),
        member(r#""jsonrpc""#, r#""json\u0072pc":"1.0""#).invalid_with_id(),
        member(r#""method""#, r#""method":"tools/list""#).invalid_with_id(),
        member(r#""method""#, r#""\u006dethod":"tools/list""#).invalid_with_id(),
        member(r#""params""#, r#""params":{}"#).invalid_with_id(),
        member(r#""params""#, r#""p\u0061rams":null"#).invalid_with_id(),
        // Which of two ids to answer is nobody's guess.
        member(r#""id""#, r#""id":7"#).invalid(),
        member(r#""id""#, r#""id":8"#).invalid(),
        member(r#""id""#, r#""\u0069d":null"#).invalid(),
        member(r#""id""#, r#""x":1,"x":1"#).invalid_with_id(),
    ];
    matrix(lines).await;
}

/// Contract: S-033, S-093, case J10.
#[tokio::test]
async fn members_of_params_and_meta_that_stand_twice() {
    let meta = |members: &str| changed(META, &format!("{META},{members}")).invalid_with_id();
    let lines = vec![
        member(r#""name""#, r#""name":"tally_read""#).invalid_with_id(),
        member(r#""name""#, r#""n\u0061me":"tally_read""#).invalid_with_id(),
        member(r#""name""#, r#""_meta":{}"#).invalid_with_id(),
        member(r#""name""#, r#""\u005fmeta":{}"#).invalid_with_id(),
        member(r#""arguments""#, r#""arguments":{}"#).invalid_with_id(),
        meta(r#""x":1,"x":1"#),
        meta(r#""x.example/a":{},"x.example\/a":{}"#),
        meta(r#""progressToken":1,"progress\u0054oken":2"#),
        meta(r#""x":{"y":[{"z":1,"\u007a":2}]}"#),
    ];
    matrix(lines).await;
}

/// Contract: S-033, S-093, case J10.
#[tokio::test]
async fn names_that_stand_twice_at_every_depth_and_width() {
    let pair = r#"{"q":1,"\u0071":2}"#;
    let mut lines = Vec::new();
    for depth in [0, 1, 2, 10, 60, 124] {
        let lists = format!("{{\"d\":{}{pair}{}}}", "[".repeat(depth), "]".repeat(depth));
        let objects = format!("{}{pair}{}", r#"{"d":"#.repeat(depth), "}".repeat(depth));
        lines.push(
            arguments(&lists)
                .named(format!("below {depth} lists"))
                .invalid_with_id(),
        );
        lines.push(
            arguments(&objects)
                .named(format!("below {depth} objects"))
                .invalid_with_id(),
        );
    }
    for width in [2, 16, 17, 18, 1000] {
        let members: Vec<_> = (0..width).map(|n| format!("\"name{n}\":{n},")).collect();
        let members = members.concat();
        for (at, twice) in [("first", "name0"), ("last", &format!("name{}", width - 1))] {
            let wide = format!(
                "{{{members}\"{}\":0}}",
                twice.replace("na", r"\u006e\u0061")
            );
            let name = format!("the {at} of {width} again");
            lines.push(arguments(&wide).named(name).invalid_with_id());
        }
        let wide = format!("{{{members}\"more\":0}}");
        lines.push(arguments(&wide).named(format!("{width} names")).runs("7"));
    }
    matrix(lines).await;
}

/// Contract: S-033, S-093, S-094, case J10.
#[tokio::test]
async fn spellings_of_one_name_and_names_that_look_alike() {
    let same = [
        r#"{"":1,"":2}"#,
        r#"{"a":1,"a":1}"#,
        r#"{"é":1,"\u00e9":2}"#,
        r#"{"\u00e9":1,"\u00E9":2}"#,
        r#"{"🚀":1,"\ud83d\ude80":2}"#,
        r#"{"a/b":1,"a\/b":2}"#,
        r#"{"\n":1,"\u000a":2}"#,
        r#"{"\u0000":1,"\u0000":2}"#,
        r#"{"\"":1,"\u0022":2}"#,
        r#"{"__proto__":1,"__pr\u006fto__":2}"#,
    ];
    let other = [
        r#"{"a":1,"A":2}"#,
        r#"{"\u00e9":1,"e\u0301":2}"#,
        r#"{"":1," ":2}"#,
        r#"{"":1,"\u0000":2,"\u0000\u0000":3}"#,
        r#"{"x":{"q":1},"y":{"q":2},"q":3}"#,
        r#"{"a":1,"a\u200b":2}"#,
        r#"{"1":1,"01":2,"1.0":3}"#,
        r#"{"ſ":1,"s":2,"S":3,"ß":4,"ss":5}"#,
        r#"{"\\u0061":1,"a":2}"#,
    ];
    let mut lines: Vec<_> = same.map(|json| arguments(json).invalid_with_id()).into();
    lines.extend(other.map(|json| arguments(json).runs("7")));
    matrix(lines).await;
}

/// Contract: S-094, S-152, case J10.
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

/// Nothing of `_meta` is taken for what a call is about, or put there: the handler gets the arguments
/// as they were sent, and the answer has no members but its own.
///
/// Contract: S-152, S-153, S-154.
#[tokio::test]
async fn nothing_is_kept_in_meta_between_the_wire_and_the_handler() {
    let own = [
        "arguments",
        "name",
        "params",
        "result",
        "x.example/snapshot",
        "portcullis/raw",
        "__raw",
        "$raw",
    ];
    let members = own.map(|name| format!(r#","{name}":"{{\"stolen\":1}}""#));
    let members = members.concat();
    each_transport(async |way| {
        let (gate, _probe) = gate();
        let client = way.open(&gate).await;
        let arguments = r#"{ "_meta":{"arguments":{"n":1.50}}, "n" : 1e2 }"#;
        let era = if way.is_modern() {
            MODERN
        } else {
            r#""era":1"#
        };
        let params =
            format!(r#"{{"name":"mirror","_meta":{{{era}{members}}},"arguments":{arguments}}}"#);
        let answer = client.request("tools/call", &params).await;
        let copy = format!(r#""structuredContent":{arguments}"#);
        assert!(answer.raw().contains(&copy), "{answer:?}");
        assert!(!answer.raw().contains("stolen"), "{answer:?}");
        let meta = &answer.json()["result"]["_meta"];
        let members = meta.as_object().map_or(0, serde_json::Map::len);
        assert_eq!(members, usize::from(way.is_modern()), "{meta}");
    })
    .await;
}
