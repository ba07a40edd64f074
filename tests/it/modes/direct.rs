//! Every operation is a tool, on pages.

use portcullis::layers::Mode;
use portcullis::service::Principal;
use portcullis::testing;
use serde_json::{Value, json};

use super::{SCHEMA, gate};
use crate::support::{Client, each_transport};

async fn page(client: &Client, cursor: Option<&str>) -> Value {
    let params = cursor.map_or(String::new(), |cursor| {
        json!({"cursor": cursor}).to_string()
    });
    client.request("tools/list", &params).await.json()["result"].clone()
}

/// Contract: S-056, S-057, S-059, S-060.
#[tokio::test]
async fn every_operation_is_listed_once_on_pages_of_twenty_and_can_be_called() {
    each_transport(async |way| {
        let (gate, probe) = gate(Mode::Direct);
        let client = way.open(&gate).await;
        let (mut tools, mut lengths) = (Vec::new(), Vec::new());
        let mut cursor = None::<String>;
        loop {
            let page = page(&client, cursor.as_deref()).await;
            let listed = page["tools"].as_array().unwrap().clone();
            lengths.push(listed.len());
            tools.extend(listed);
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(lengths, [20, 20, 6]);
        let names: std::collections::BTreeSet<_> =
            tools.iter().map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names.len(), 46, "each once");

        let named = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
        let documented = named("documented");
        assert_eq!(documented["title"], "Documented");
        assert_eq!(documented["description"], "Say everything");
        assert_eq!(
            documented["inputSchema"],
            serde_json::from_str::<Value>(SCHEMA).unwrap()
        );
        assert_eq!(documented["_meta"], json!({"it/kind": "test"}));
        // One hint that is false, one that is true, and those that were not given.
        let hints = json!({"readOnlyHint": false, "openWorldHint": true});
        assert_eq!(documented["annotations"], hints);
        assert!(named("absent").get("annotations").is_none());

        assert_eq!(
            client.tool("documented", r#"{"weight":1e2}"#).await.text(),
            "done"
        );
        assert_eq!(probe.tally.get(), 1);
        assert_eq!(client.tool("nothing", "{}").await.code(), -32602);
    })
    .await;
}

/// Contract: S-058.
#[tokio::test]
async fn a_cursor_says_nothing_and_holds_for_who_got_it() {
    let (gate, _probe) = gate(Mode::Direct);
    let ada = || testing::Client::modern(&gate).principal(Principal::new("ada"));
    let bob = testing::Client::modern(&gate).principal(Principal::new("bob"));
    let first = ada().request("tools/list", "{}").await;
    let cursor = first
        .result()
        .unwrap()
        .get("nextCursor")
        .unwrap()
        .as_str()
        .unwrap()
        .into_owned();
    assert!(
        !cursor.contains("weigh") && !cursor.contains("20"),
        "{cursor}"
    );
    let list = async |client: &testing::Client, cursor: &str| {
        let params = json!({"cursor": cursor}).to_string();
        client.request("tools/list", &params).await.error_code()
    };
    assert_eq!(list(&ada(), &cursor).await, None);
    assert_eq!(list(&bob, &cursor).await, Some(-32602));
    let mut tampered = cursor.clone().into_bytes();
    tampered[0] ^= 1;
    let tampered = String::from_utf8_lossy(&tampered).into_owned();
    for bad in ["", "x", tampered.as_str()] {
        assert_eq!(list(&ada(), bad).await, Some(-32602), "{bad}");
    }
}
