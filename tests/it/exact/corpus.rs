//! Texts of our own that are JSON and texts that are not, on the scanner and through the stack.

use portcullis::wire::json::{Document, MAX_DEPTH};

use crate::support::each_transport;

use super::{Carrier, Fate, MOST};

const JSON: &[&[u8]] = &[
    b"null",
    b"true",
    b" \t\r false ",
    b"0",
    b"-0",
    b"-0.0e-0",
    b"1E+2",
    b"12.50e-007",
    b"123456789012345678901234567890.000000000000000000000000000001",
    b"1e400",
    b"-1e-400",
    b"9e999999999999999999999",
    br#""""#,
    "\"gr\u{fc}n \u{2028}\u{2029} \u{1f680} \u{7f} \u{ffff}\"".as_bytes(),
    br#""\"\\\/\b\f\n\r\t\u0000\u001f\u2028\uD83D\uDE80\uffff""#,
    b"[]",
    b"[ ]",
    b"[[[[]]],{},[{}]]",
    br#"{"":{" ":{"a":[1,"1",null]}}}"#,
    br#"{ "a" : 1 , "A" : 2 , "\u0041b" : 3 }"#,
    b"[1,1.0,1e0,true,\"true\"]",
];

const NO_JSON: &[&[u8]] = &[
    b"",
    b" ",
    b"nul",
    b"True",
    b"NULL",
    b"NaN",
    b"-Infinity",
    b"undefined",
    b"+1",
    b"01",
    b"-01",
    b"-",
    b".5",
    b"1.",
    b"1.e1",
    b"1e",
    b"1e+",
    b"1 000",
    b"1_000",
    b"0x1F",
    b"1f",
    b"'a'",
    b"\"a",
    b"\"a\nb\"",
    b"\"a\tb\"",
    b"\"\0\"",
    br#""\x41""#,
    br#""\u12""#,
    br#""\u00G0""#,
    br#""\ud83d""#,
    br#""\ude80\ud83d""#,
    br#""\ud83d\u0041""#,
    b"\"\xff\"",
    b"\"\xc0\xaf\"",
    b"\"\xed\xa0\x80\"",
    b"\"\xf4\x90\x80\x80\"",
    b"\"\xe2\x82\"",
    b"\xef\xbb\xbf1",
    b"\xc2\xa01",
    b"\x0b1",
    b"[1,]",
    b"[,1]",
    b"[1,,2]",
    b"[1 2]",
    b"[1",
    b"[1}",
    b"{1:2}",
    b"{a:1}",
    br#"{"a"}"#,
    br#"{"a":}"#,
    br#"{"a":1,}"#,
    br#"{"a":1 "b":2}"#,
    br#"{"a":1"#,
    b"1 // one",
    b"/* one */ 1",
    b"1 2",
    b"[]]",
    b"{}}",
];

/// Contract: S-036.
#[tokio::test]
async fn what_is_json_arrives_to_the_byte_and_the_rest_nowhere() {
    let cases = JSON.iter().map(|text| (*text, true));
    let cases: Vec<_> = cases.chain(NO_JSON.iter().map(|it| (*it, false))).collect();
    for (text, good) in &cases {
        let scanned = Document::parse(text.to_vec(), MAX_DEPTH);
        assert_eq!(scanned.is_ok(), *good, "{scanned:?}");
    }
    each_transport(async |way| {
        let mut carrier = Carrier::open(way).await;
        for (text, good) in &cases {
            if !carrier.carries(text) {
                continue;
            }
            let fate = carrier.send(text).await;
            let expected = if *good {
                Fate::Arrived
            } else {
                Fate::Refused(-32700)
            };
            assert_eq!(fate, expected, "{}", String::from_utf8_lossy(text));
            if !good {
                carrier.assert_healthy().await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn nesting_is_counted_from_the_message_on() {
    let nested = |depth: u32| {
        let depth = depth as usize;
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    };
    each_transport(async |way| {
        let mut carrier = Carrier::open(way).await;
        assert_eq!(carrier.send(nested(MOST).as_bytes()).await, Fate::Arrived);
        let deeper = nested(MOST + 1);
        if carrier.carries(deeper.as_bytes()) {
            assert_eq!(carrier.send(deeper.as_bytes()).await, Fate::Refused(-32700));
            carrier.assert_healthy().await;
        }
    })
    .await;
}
