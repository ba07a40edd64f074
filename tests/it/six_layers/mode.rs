//! Mode selection: without it there are operations, and nothing that shows them as tools.

use portcullis::layers::{Next, from_fn};
use portcullis::service::{Envelope, Reply};
use portcullis::wire::json::RawJson;
use portcullis::wire::{Error, Method};
use serde_json::json;
use tower::BoxError;
use tower::layer::util::Identity;

use super::{Wire, call, standard};
use crate::support::message::{modern, tool};

/// Contract: S-022, S-029.
#[tokio::test]
async fn without_it_there_are_no_tools_to_list_and_none_to_call() {
    let list = modern("1", "tools/list", "");
    let direct = modern("2", "tools/call", &tool("open_gate", "{}"));

    let (parts, probe) = standard();
    let mut within = Wire::open(parts.http()).await;
    assert_eq!(within.send(&list).await.outcome(), (200, 0));
    assert_eq!(
        within.send(&call("open_gate", "{}")).await.outcome(),
        (200, 0)
    );
    assert_eq!(probe.tally.get(), 1);

    let (parts, probe) = standard();
    let mut without = Wire::open(parts.mode(Identity::new()).http()).await;
    for message in [&list, &direct, &call("open_gate", "{}")] {
        assert_eq!(without.send(message).await.outcome(), (404, -32601));
    }
    assert_eq!(probe.tally.get(), 0);
    // Everything else is as it was.
    let discovered = without.send(&modern("3", "server/discover", "")).await;
    assert_eq!(discovered.outcome(), (200, 0));
}

/// Shows one tool, whatever operations there are, and says that it is closed.
#[tokio::test]
async fn another_can_stand_in_its_place() {
    async fn closed(call: Envelope, next: Next) -> Result<Reply, BoxError> {
        match *call.method() {
            Method::TOOLS_LIST => {
                let tools = json!([{"name": "closed", "inputSchema": {"type": "object"}}]);
                Ok(Reply::object([("tools", RawJson::encode(&tools)?)]))
            }
            Method::TOOLS_CALL => Ok(Error::invalid_params("we are closed").into()),
            _ => next.run(call).await,
        }
    }

    let (parts, probe) = standard();
    let mut wire = Wire::open(parts.mode(from_fn(closed)).http()).await;
    let list = wire.send(&modern("1", "tools/list", "")).await.json();
    assert_eq!(list["result"]["tools"][0]["name"], "closed");
    let called = wire.send(&call("open_gate", "{}")).await;
    assert_eq!(called.outcome().1, -32602);
    assert!(called.text().contains("we are closed"));
    assert_eq!(probe.tally.get(), 0);
    assert_eq!(
        wire.send(&modern("2", "server/discover", ""))
            .await
            .outcome(),
        (200, 0)
    );
}
