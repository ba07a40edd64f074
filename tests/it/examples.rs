//! The examples start, serve what they say, and end when they are told to.

use std::path::Path;

use portcullis::{Mode, Registry, Stack};

use crate::support::example::Example;
use crate::support::http1::{Connection, Request};
use crate::support::message::{modern, request, tool};

/// Contract: M-117, M-120, P-56.
#[tokio::test]
async fn quickstart_serves_this_machine_alone_until_it_is_interrupted() {
    let mut example = Example::start("quickstart", &[]);
    let address = example.address().await;
    assert!(address.ip().is_loopback(), "{address}");
    let mut connection = Connection::open(address).await;
    // What the line it prints makes curl send.
    let add = request("1", "tools/call", &tool("add", r#"{"a":19,"b":23}"#));
    let response = connection
        .send(&Request::post(add).with("Accept", "*/*"))
        .await;
    assert_eq!(response.status(), 200);
    assert!(
        response.text().contains(r#""text":"{\"value\":42}""#),
        "{}",
        response.text()
    );
    for (method, params) in [
        ("tools/list", ""),
        ("resources/list", ""),
        ("resources/read", r#"{"uri":"calculator://about"}"#),
        ("prompts/list", ""),
        ("prompts/get", r#"{"name":"explain"}"#),
    ] {
        let response = connection
            .send(&Request::derived(&modern("1", method, params)))
            .await;
        assert_eq!(response.outcome(), (200, 0), "{method}");
    }
    assert_eq!(
        connection
            .send(&Request::post("{}").target("/other"))
            .await
            .status(),
        404
    );
    #[cfg(unix)]
    {
        example.interrupt().await;
        assert_eq!(connection.closed().await, b"");
        let (status, logged) = example.ended().await;
        assert!(status.success(), "{status}: {logged}");
    }
}

/// Contract: S-007, M-118.
#[tokio::test]
async fn axum_mount_serves_beside_another_route() {
    let mut example = Example::start("axum_mount", &[]);
    let mut connection = Connection::open(example.address().await).await;
    let other = connection.send(&Request::new("GET").target("/")).await;
    assert_eq!(
        (other.status(), other.text()),
        (200, "What the application did before.")
    );
    let greet = modern("1", "tools/call", &tool("greet", r#"{"name":"Ada"}"#));
    let response = connection.send(&Request::derived(&greet)).await;
    assert_eq!(response.status(), 200);
    assert!(
        response.text().contains("Hello, Ada!"),
        "{}",
        response.text()
    );
    // The checks come along.
    let elsewhere = Request::derived(&greet).with("Host", "evil.example");
    assert_eq!(connection.send(&elsewhere).await.status(), 403);
    assert_eq!(connection.send(&Request::new("GET")).await.status(), 405);
    assert_eq!(
        connection
            .send(&Request::new("GET").target("/else"))
            .await
            .status(),
        404
    );
}

/// Contract: S-007, S-008.
#[tokio::test]
async fn by_hand_has_a_layer_of_its_own_in_place_of_another() {
    let mut example = Example::start("by_hand", &[]);
    let mut connection = Connection::open(example.address().await).await;
    let call = request("1", "tools/call", r#"{"name":"whoami"}"#);
    assert_eq!(connection.send(&Request::post(&*call)).await.status(), 401);
    let keyed = |body: &str| Request::post(body).header("X-Key", "open sesame");
    let response = connection
        .send(&keyed(&call).with("Host", "any.example"))
        .await;
    assert_eq!(response.status(), 200);
    assert!(
        response.text().contains("You are who knows the key."),
        "{}",
        response.text()
    );
    for (body, outcome) in [
        ("{", (400, -32700)),
        ("[]", (400, -32600)),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}"#,
            (400, -32600),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"garden/prune"}"#,
            (200, -32601),
        ),
    ] {
        assert_eq!(
            connection.send(&keyed(body)).await.outcome(),
            outcome,
            "{body}"
        );
    }
}

/// What is measured is what a user gets.
#[tokio::test]
async fn the_server_that_is_measured_is_the_default_stack_in_plain_mode() {
    let stack = || Stack::new(Registry::builder().build().unwrap());
    let plain = stack().mode(Mode::Plain).build().unwrap();
    let default = stack().build().unwrap();
    for options in [&["http", "0"][..], &["--schemas", "http", "0"]] {
        let mut example = Example::start("bench_server", options);
        let described = example.logged_up_to("limits:").await;
        assert_eq!(described, plain.describe());
        let default = default.describe();
        assert_eq!(described, default.replace("mode(compact)", "mode(plain)"));
    }
}

#[test]
fn every_example_is_short_and_says_how_it_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.lines().count() <= 120, "{} is long", path.display());
        let comment: Vec<_> = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .collect();
        assert!(comment.join(" ").contains("run with"), "{}", path.display());
        count += 1;
    }
    assert!(count >= 3);
}
