//! The Apps shell over every transport.

use portcullis::layers::Mode;
use portcullis::service::Apps;
use serde_json::json;

use super::{SHELL, stack};
use crate::support::{Client, Probe, each_transport};

const PAGE: &str = "<!doctype html>\r\n<p>\u{fc}\u{2028}\u{1f600} \"quoted\" <\\/p>\t";

async fn read(client: &Client, uri: &str) -> serde_json::Value {
    let params = json!({"uri": uri}).to_string();
    client.request("resources/read", &params).await.json()
}

/// What clients are told at the beginning.
async fn announced(client: &Client) -> serde_json::Value {
    let greeting = if client.way.is_modern() {
        client.request("server/discover", "").await
    } else {
        // A connection that has shaken hands does not do it again.
        return json!(null);
    };
    greeting.json()["result"]["capabilities"]["extensions"].clone()
}

/// Contract: S-160, S-161, S-169, S-170, S-171, S-172, S-178.
#[tokio::test]
async fn one_static_page_stands_above_whatever_has_its_uri() {
    each_transport(async |way| {
        // What the page was made of may change afterwards.
        let (mut uri, mut page) = (SHELL.to_owned(), PAGE.to_owned());
        let apps = Apps::new(&uri, &page).unwrap();
        let stack = stack(&Probe::default(), Mode::default()).apps(apps);
        uri.push_str("/changed");
        page.clear();
        let client = way.open(&stack.build().unwrap()).await;

        let list = client.request("tools/list", "").await.json();
        let tools = &list["result"]["tools"];
        assert_eq!(tools[2]["_meta"]["ui"]["resourceUri"], SHELL);
        assert!(tools[0].get("_meta").is_none() && tools[1].get("_meta").is_none());
        if way.is_modern() {
            assert_eq!(
                announced(&client).await,
                json!({"io.modelcontextprotocol/ui": {}})
            );
        }

        // The catalogue has a resource of this URI, which is no mistake and is never seen.
        let shell = read(&client, SHELL).await;
        let contents =
            json!([{"uri": SHELL, "mimeType": "text/html;profile=mcp-app", "text": PAGE}]);
        assert_eq!(shell["result"]["contents"], contents);
        if way.is_modern() {
            assert_eq!(shell["result"]["cacheScope"], "private");
            assert_eq!(shell["result"]["ttlMs"], 0);
        }
        for other in [
            "ui://it/Shell",
            "ui://it/shell/",
            "ui://it/%73hell",
            "UI://it/shell",
            &uri,
        ] {
            assert!(read(&client, other).await.get("error").is_some(), "{other}");
        }

        // The shell is in no list. What the application lists, it still does.
        let listed = client.request("resources/list", "").await;
        assert!(!listed.raw().contains("profile=mcp-app"));
        let names: Vec<_> = listed.json()["result"]["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|resource| resource["name"].clone())
            .collect();
        assert_eq!(names, ["First note", "Hidden by the shell"]);
        let note = read(&client, "note://pad/1").await;
        assert_eq!(note["result"]["contents"][0]["text"], "remember");
    })
    .await;
}

/// Contract: S-163.
#[tokio::test]
async fn without_the_setting_there_is_no_shell() {
    each_transport(async |way| {
        let gate = stack(&Probe::default(), Mode::default()).build().unwrap();
        let client = way.open(&gate).await;
        let list = client.request("tools/list", "").await;
        assert!(!list.raw().contains("\"ui\""), "{list:?}");
        assert_eq!(announced(&client).await, json!(null));
        let own = read(&client, SHELL).await;
        assert_eq!(own["result"]["contents"][0]["text"], "what nobody sees");
    })
    .await;
}
