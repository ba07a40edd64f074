//! How much a request may be, on both sides of each edge, and that others are served meanwhile.

use portcullis::Stack;
use portcullis::layers::Mode;
use portcullis::service::Limits;

use crate::support::http1::{Connection, Request};
use crate::support::message::{self, tool};
use crate::support::{Server, fixture, gate, soon};

const MOST: usize = 2 * 1024 * 1024;

/// A healthy request of exactly this length.
fn request_of(length: usize) -> String {
    let call = message::request("1", "tools/call", &tool("tally_read", "{}"));
    format!("{call}{}", " ".repeat(length - call.len()))
}

/// Contract: S-091, P-17.
#[tokio::test]
async fn one_message_has_at_most_two_mebibytes() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let response = connection.send(&Request::post(request_of(MOST))).await;
    assert_eq!(response.outcome(), (200, 0));

    // A length that is told is refused before anything of the body has come.
    let told = Request::post("").with("Content-Length", &(MOST + 1).to_string());
    let response = connection.send(&told).await;
    assert_eq!(response.outcome(), (413, -32600));
    assert!(response.json().get("id").is_none());

    // One that is not told, when it is exceeded.
    for (length, outcome) in [(MOST, (200, 0)), (MOST + 1, (413, -32600))] {
        let mut connection = Connection::open(server.address).await;
        let head = Request::post("")
            .without("Content-Length")
            .header("Transfer-Encoding", "chunked");
        connection.write(&head.encode()).await;
        let body = request_of(length);
        for part in body.as_bytes().chunks(100_000) {
            let chunk = [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat();
            connection.write(&chunk).await;
        }
        if length == MOST {
            connection.write(b"0\r\n\r\n").await;
        }
        assert_eq!(connection.response().await.outcome(), outcome, "{length}");
    }
    assert_eq!(probe.tally.get(), 0);
    let mut connection = Connection::open(server.address).await;
    assert_eq!(
        connection
            .send(&Request::post(request_of(100)))
            .await
            .outcome(),
        (200, 0)
    );
}

/// Contract: S-097.
#[tokio::test]
async fn the_protocols_headers_share_a_budget_and_others_have_their_own() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let text = request_of(100);
    let spent = "content-type".len() + "application/json".len() + "accept".len();
    let spent = spent + "application/json, text/event-stream".len() + "mcp-param-x".len();
    let with = |value: usize, name: &str| Request::post(&*text).header(name, &"x".repeat(value));
    let room = 8 * 1024 - spent;
    assert_eq!(
        connection.send(&with(room, "Mcp-Param-X")).await.outcome(),
        (200, 0)
    );
    let response = connection.send(&with(room + 1, "Mcp-Param-X")).await;
    assert_eq!(response.outcome(), (431, -32600));
    assert_eq!(
        connection.send(&with(16 * 1024, "Cookie")).await.outcome(),
        (200, 0)
    );
    let many = (0..90).fold(Request::post(&*text), |request, n| {
        request.header(&format!("MCP-Param-{n}"), &"x".repeat(90))
    });
    assert_eq!(connection.send(&many).await.outcome(), (431, -32600));
    assert_eq!(
        connection.send(&Request::post(text)).await.outcome(),
        (200, 0)
    );
}

#[tokio::test]
async fn a_body_that_would_be_refused_is_not_asked_for() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let text = request_of(100);
    for (request, statuses) in [
        (Request::post(&*text), &[100, 200][..]),
        (
            Request::post(&*text).with("Content-Length", "3000000"),
            &[413],
        ),
        (
            Request::post(&*text).with("Content-Type", "text/plain"),
            &[415],
        ),
        (Request::post(&*text).with("Host", "evil.example"), &[403]),
    ] {
        let bytes = request.header("Expect", "100-continue").encode();
        let mut connection = Connection::open(server.address).await;
        connection.write(&bytes[..bytes.len() - text.len()]).await;
        for status in statuses {
            assert_eq!(connection.head().await.status, *status);
            if *status == 100 {
                connection.write(text.as_bytes()).await;
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up_and_keeps_no_place() {
    let (registry, probe) = fixture();
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .limits(Limits::default().body_read_ms(100).calls(1))
        .layer(tower::limit::ConcurrencyLimitLayer::new(1))
        .build()
        .unwrap();
    let server = Server::start(gate.http()).await;
    let text = request_of(100);
    let mut slow = Connection::open(server.address).await;
    let bytes = Request::post(&*text).encode();
    slow.write(&bytes[..bytes.len() - 10]).await;
    let mut quick = Connection::open(server.address).await;
    assert_eq!(quick.send(&Request::post(&*text)).await.outcome(), (200, 0));
    assert_eq!(slow.response().await.outcome(), (408, -32600));

    // A body that ends too early is one that did not arrive.
    let mut broken = Connection::open(server.address).await;
    broken.write(&bytes[..bytes.len() - 10]).await;
    drop(broken);
    assert_eq!(quick.send(&Request::post(text)).await.outcome(), (200, 0));
    assert_eq!(probe.tally.get(), 0);
}

/// Contract: case J15.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deep_messages_from_twenty_connections_harm_nobody() {
    let (gate, _probe) = gate();
    let server = Server::start(gate.http()).await;
    let address = server.address;
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let hostile = message::request(
        "1",
        "tools/call",
        &tool("mirror", &format!("{{\"d\":{deep}}}")),
    );
    let calls = (0..20).map(|_| {
        let hostile = hostile.clone();
        tokio::spawn(async move {
            let mut connection = Connection::open(address).await;
            let refused = connection.send(&Request::post(hostile)).await.outcome();
            let served = connection
                .send(&Request::post(request_of(100)))
                .await
                .outcome();
            (refused, served)
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let outcomes = soon("both answers", call).await.unwrap();
        assert_eq!(outcomes, ((400, -32700), (200, 0)));
    }
}
