//! Response preflight: without it an answer is as long as an operation makes it.

use portcullis::layers::{Next, from_fn};
use portcullis::service::{Envelope, Limits, Reply};
use portcullis::transport::Stdio;
use portcullis::wire::Refusal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tower::BoxError;
use tower::layer::util::Identity;

use crate::support::message::{modern, tool};
use crate::support::soon;

use super::{Parts, Probe, Wire, call, registry};

/// What a client may get, in bytes.
const MOST: usize = 100_000;

fn parts() -> Parts {
    let limits = Limits::default().response_bytes(MOST as u64);
    Parts::standard(registry(&Probe::default()), limits, None)
}

/// Contract: S-098, S-100, case T13.
#[tokio::test]
async fn without_it_a_result_of_any_length_is_sent() {
    let long = call("write", r#"{"length":1000000}"#);
    let mut within = Wire::open(parts().http()).await;
    let bounded = within.send(&long).await;
    assert_eq!(bounded.outcome(), (200, 0));
    let result = &bounded.json()["result"];
    assert_eq!(
        result["structuredContent"]["failure"]["code"],
        "result_too_large"
    );
    assert!(
        result["isError"] == true && bounded.body.len() < 1000,
        "{bounded:?}"
    );

    let mut without = Wire::open(parts().preflight(Identity::new()).http()).await;
    let whole = without.send(&long).await;
    let text = &whole.json()["result"]["content"][0]["text"];
    assert_eq!(text.as_str().map(str::len), Some(1_000_000));
    assert!(
        whole.body.len() > 10 * MOST,
        "ten times what a response may be"
    );
}

/// There the line itself is bounded: it is not written, and the connection ends.
///
/// Contract: S-101, S-102, S-159.
#[tokio::test]
async fn without_it_the_transport_fails_over_stdio() {
    let (stack, _, _, limits) = parts().preflight(Identity::new()).frames();
    let (mut client, server) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(server);
    let running = tokio::spawn(Stdio::new(stack, limits).streams(reader, writer).run());
    for (id, length) in [("1", 900), ("2", 1_000_000)] {
        let letter = tool("write", &format!(r#"{{"length":{length}}}"#));
        let line = modern(id, "tools/call", &tool("call_tool", &letter)) + "\n";
        client.write_all(line.as_bytes()).await.unwrap();
    }
    let mut written = String::new();
    soon("the end", client.read_to_string(&mut written))
        .await
        .unwrap();
    assert!(
        written.len() < 2000 && written.ends_with("}\n"),
        "{written}"
    );
    assert_eq!(written.lines().count(), 1);
    let ended = soon("the end", running).await.unwrap();
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
}

/// A function is enough to have another ceiling with another answer.
#[tokio::test]
async fn another_can_stand_in_its_place() {
    async fn brief(call: Envelope, next: Next) -> Result<Reply, BoxError> {
        let reply = next.run(call).await?;
        match reply.members().map_or(0, <[u8]>::len) {
            0..=2000 => Ok(reply),
            _ => Ok(Reply::refused(Refusal::ResponseTooLarge).status(507)),
        }
    }

    let mut wire = Wire::open(parts().preflight(from_fn(brief)).http()).await;
    let short = wire.send(&call("write", r#"{"length":900}"#)).await;
    assert_eq!(short.outcome(), (200, 0));
    let long = wire.send(&call("write", r#"{"length":2000}"#)).await;
    assert_eq!(long.outcome(), (507, -32603));
    assert_eq!(long.json()["error"]["data"]["code"], "response_too_large");
}
