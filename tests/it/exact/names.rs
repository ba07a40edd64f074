//! Member names that `serde_json` gives a second meaning: what they would smuggle in, and that they
//! are refused.

use std::collections::BTreeMap;

use crate::support::message::{self, tool};
use crate::support::{Way, each_transport, gate};

use super::escaped;

/// A text inside an object, which for an application that decodes it is no object any more.
const SMUGGLED: &str = r#"{"$serde_json::private::RawValue":"{\"admin\":true}"}"#;

/// The reason for the refusal: whoever checked the object has not seen what the application gets.
#[test]
fn decoders_turn_these_names_into_other_values() {
    let checked: BTreeMap<String, String> = serde_json::from_str(SMUGGLED).unwrap();
    assert!(!checked.contains_key("admin"));
    let decoded: serde_json::Value = serde_json::from_str(SMUGGLED).unwrap();
    assert_eq!(decoded, serde_json::json!({"admin": true}));
}

/// Contract: P-2.
#[tokio::test]
async fn such_names_are_refused_by_name_at_every_depth_however_they_are_spelt() {
    each_transport(async |way| {
        let (gate, probe) = gate();
        let client = way.open(&gate).await;
        for name in [
            "$serde_json::private::RawValue",
            "$serde_json::private::Number",
        ] {
            let spellings = [
                name.to_owned(),
                name.replace('$', r"\u0024"),
                name.replace(':', r"\u003a"),
                escaped(name),
            ];
            for spelling in spellings {
                let hidden = format!(r#"{{"{spelling}":"1"}}"#);
                let deep = format!("{}{hidden}{}", r#"{"x":["#.repeat(40), "]}".repeat(40));
                let called = |arguments: &str| {
                    let params = tool("tally_bump", arguments);
                    client.text("4", "tools/call", &params)
                };
                let beside = called("{}");
                let messages = [
                    called(&hidden),
                    called(&format!(r#"{{"x":{hidden}}}"#)),
                    called(&deep),
                    beside.replacen('{', &format!(r#"{{"extra":{hidden},"#), 1),
                    beside.replacen('{', &format!(r#"{{"{spelling}":1,"#), 1),
                    message::request("4", "tools/list", &format!(r#"{{"_meta":{hidden}}}"#)),
                ];
                for text in messages {
                    if matches!(way, Way::InProcessModern | Way::InProcessLegacy) {
                        let parsed = portcullis::wire::Frame::parse(text.into_bytes(), 128);
                        let error = parsed.unwrap_err().to_string();
                        assert!(error.contains("reserved"), "{error}");
                        continue;
                    }
                    let answer = client.send(&text).await;
                    answer.assert_status(400);
                    assert_eq!(answer.code(), -32700, "{text}");
                    let said = answer.json()["error"]["message"].to_string();
                    assert!(said.contains("reserved member name"), "{said}");
                    assert!(said.contains("$serde_json::private::"), "{said}");
                }
            }
        }
        // As a value it is a text as any other.
        let arguments = r#"{"x":"$serde_json::private::Number"}"#;
        let mirrored = client.tool("mirror", arguments).await;
        assert!(mirrored.raw().contains(arguments), "{mirrored:?}");
        assert_eq!(probe.tally.get(), 0);
    })
    .await;
}
