//! What errors repeat of a message is cut.

use crate::support::message::tool;
use crate::support::{Way, each_transport, gate};

/// Contract: S-194, case T02.
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
