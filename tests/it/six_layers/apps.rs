//! Apps shell mounting: without it the shell that `call_tool` names is nowhere.

use portcullis::layers::{Next, from_fn};
use portcullis::service::{Envelope, Limits, Reply};
use portcullis::wire::Method;
use portcullis::wire::json::RawJson;
use serde_json::json;
use tower::BoxError;
use tower::layer::util::Identity;

use super::{Parts, Probe, SHELL, Wire, read, registry, shell};
use crate::support::message::modern;

fn parts() -> Parts {
    Parts::standard(
        registry(&Probe::default()),
        Limits::default(),
        Some(shell()),
    )
}

/// Contract: S-160, S-171, S-178.
#[tokio::test]
async fn without_it_the_shell_is_not_found() {
    let mut within = Wire::open(parts().http()).await;
    let mut without = Wire::open(parts().apps(Identity::new()).http()).await;
    // The mode says where the shell is, whoever mounts it.
    for wire in [&mut within, &mut without] {
        let list = wire.send(&modern("1", "tools/list", "")).await.json();
        let call_tool = &list["result"]["tools"][2];
        assert_eq!(call_tool["_meta"]["ui"]["resourceUri"], SHELL);
    }
    let served = within.send(&read(SHELL)).await;
    assert_eq!(
        served.json()["result"]["contents"],
        json!([{
            "uri": SHELL,
            "mimeType": "text/html;profile=mcp-app",
            "text": "<!doctype html><title>six</title>",
        }])
    );
    assert_eq!(served.json()["result"]["cacheScope"], "private");
    let missing = without.send(&read(SHELL)).await;
    assert_eq!(missing.json()["error"]["code"], -32602);
    assert!(!missing.text().contains("doctype"));
}

/// A function that serves a page of its own.
#[tokio::test]
async fn another_can_stand_in_its_place() {
    async fn away(call: Envelope, next: Next) -> Result<Reply, BoxError> {
        let asked = call
            .raw_params()
            .and_then(|params| params.node().get("uri")?.as_str());
        if *call.method() != Method::RESOURCES_READ || asked.is_none_or(|uri| uri != SHELL) {
            return next.run(call).await;
        }
        let page = json!([{"uri": SHELL, "mimeType": "text/html", "text": "back soon"}]);
        Ok(Reply::object([("contents", RawJson::encode(&page)?)]))
    }

    let mut wire = Wire::open(parts().apps(from_fn(away)).http()).await;
    let served = wire.send(&read(SHELL)).await.json();
    assert_eq!(served["result"]["contents"][0]["text"], "back soon");
    assert_eq!(served["result"]["resultType"], "complete");
    let other = wire.send(&read("ui://six/other")).await.json();
    assert_eq!(other["error"]["code"], -32602);
}
