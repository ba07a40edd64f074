//! The server on its socket: how connections are shared, bounded and ended.

use std::time::Duration;

use portcullis::Stack;
use portcullis::layers::Mode;
use portcullis::service::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tower::limit::ConcurrencyLimitLayer;

use crate::support::http1::{Connection, Request};
use crate::support::message::{self, modern, tool};
use crate::support::{Server, fixture, gate, http2, soon};

fn call(name: &str, arguments: &str) -> Request {
    Request::derived(&modern("1", "tools/call", &tool(name, arguments)))
}

fn read() -> Request {
    call("tally_read", "{}")
}

/// Contract: M-119, M-120.
#[tokio::test]
async fn the_end_lets_calls_finish_and_closes_what_is_idle() {
    let (gate, probe) = gate();
    let mut server = Server::start(gate.http()).await;
    let mut idle = Connection::open(server.address).await;
    assert_eq!(idle.send(&read()).await.status(), 200);
    let mut unused = Connection::open(server.address).await;
    let mut busy = Connection::open(server.address).await;
    busy.write(&call("nap", r#"{"ms":100}"#).encode()).await;
    probe.begun.reach(1).await;
    server.end();
    assert_eq!(idle.closed().await, b"");
    let response = busy.response().await;
    assert!(
        response.text().contains("slept 100 ms"),
        "{}",
        response.text()
    );
    assert_eq!(busy.closed().await, b"");
    let address = server.address;
    server.ended().await.unwrap();
    assert_eq!(unused.closed().await, b"");
    assert!(
        tokio::net::TcpStream::connect(address).await.is_err(),
        "nobody listens"
    );
}

/// Contract: M-120.
#[tokio::test]
async fn the_end_does_not_wait_for_ever() {
    let (gate, probe) = gate();
    let limits = Limits::default().drain_ms(50);
    let mut server = Server::start_with(gate.http(), limits).await;
    let mut hanging = Connection::open(server.address).await;
    hanging.write(&call("hang", "{}").encode()).await;
    let mut streaming = Connection::open(server.address).await;
    streaming.write(&call("linger", "{}").encode()).await;
    assert!(streaming.head().await.is_stream());
    probe.begun.reach(2).await;
    server.end();
    server.ended().await.unwrap();
    probe.ended.reach(2).await;
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let (gate, _probe) = gate();
    let limits = Limits::default().header_read_ms(300);
    let server = Server::start_with(gate.http(), limits).await;
    let whole = read().encode();
    for begun in [
        &b""[..],
        b"P",
        b"PRI * HTTP/2.0\r\n",
        &whole[..whole.len() / 2],
        // The whole preface and an empty frame of settings: nothing is asked.
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    ] {
        let mut slow = Connection::open(server.address).await;
        slow.write(begun).await;
        let rest = slow.closed().await;
        assert!(!rest.starts_with(b"HTTP"), "{}", rest.escape_ascii());
        let mut quick = Connection::open(server.address).await;
        assert_eq!(quick.send(&read()).await.status(), 200);
    }
}

#[tokio::test]
async fn a_connection_that_asks_nothing_more_is_closed() {
    let (gate, _probe) = gate();
    let limits = Limits::default().header_read_ms(300);
    let server = Server::start_with(gate.http(), limits).await;
    let mut kept = Connection::open(server.address).await;
    // A call that takes longer than that is none of this.
    assert_eq!(kept.send(&call("nap", r#"{"ms":900}"#)).await.status(), 200);
    assert_eq!(kept.send(&read()).await.status(), 200);
    assert_eq!(kept.closed().await, b"");
}

#[tokio::test]
async fn connections_beyond_the_bound_wait_for_one_to_end() {
    let (gate, _probe) = gate();
    let limits = Limits::default().connections(1);
    let server = Server::start_with(gate.http(), limits).await;
    let mut first = Connection::open(server.address).await;
    assert_eq!(first.send(&read()).await.status(), 200);
    let mut second = Connection::open(server.address).await;
    second.write(&read().encode()).await;
    let early = tokio::time::timeout(Duration::from_millis(50), second.whole_response()).await;
    assert!(early.is_err(), "there are two");
    assert_eq!(first.send(&read()).await.status(), 200);
    drop(first);
    assert_eq!(second.response().await.status(), 200);
}

/// Contract: S-003, M-095.
#[tokio::test]
async fn one_connection_carries_many_requests() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    for _ in 0..20 {
        assert_eq!(
            connection.send(&call("tally_bump", "{}")).await.status(),
            200
        );
    }
    // Several at once are answered in their order, however long each takes.
    let all: Vec<_> = [30, 1, 10]
        .map(|ms| call("nap", &format!("{{\"ms\":{ms}}}")))
        .into();
    let bytes: Vec<u8> = all.iter().flat_map(Request::encode).collect();
    connection.write(&bytes).await;
    for ms in [30, 1, 10] {
        let response = connection.response().await;
        assert!(
            response.text().contains(&format!("slept {ms} ms")),
            "{}",
            response.text()
        );
    }
    let last = connection.send(&read().header("Connection", "close")).await;
    assert!(last.text().contains(r#""text":"20""#));
    assert_eq!(connection.closed().await, b"");
    assert_eq!(probe.tally.get(), 20);
}

#[tokio::test]
async fn http_2_carries_many_calls_at_once_under_the_same_limits() {
    let (registry, probe) = fixture();
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .layer(ConcurrencyLimitLayer::new(3))
        .build()
        .unwrap();
    let server = Server::start(gate.http()).await;
    let two = http2::Connection::open(server.address).await;
    let mut one = Connection::open(server.address).await;
    let text = modern("1", "tools/call", &tool("nap", r#"{"ms":20}"#));
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let (mut two, text) = (two.clone(), text.clone());
            tokio::spawn(async move {
                let request = http2::post("localhost", &text).body(text.into());
                two.send(request.unwrap()).await
            })
        })
        .collect();
    assert_eq!(one.send(&call("nap", r#"{"ms":20}"#)).await.status(), 200);
    for call in calls {
        let (status, body) = soon("an answer", call).await.unwrap();
        assert_eq!(status, 200);
        assert!(body.contains("slept 20 ms"), "{body}");
    }
    assert_eq!((probe.finished.get(), probe.peak.get()), (9, 3));
}

/// Contract: M-087, M-088.
#[tokio::test]
async fn http_2_streams_as_well_and_giving_up_a_stream_ends_its_call() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = http2::Connection::open(server.address).await;
    let meta = message::META;
    let params = format!(
        r#"{{"_meta":{{{meta},"progressToken":1}},"name":"murmur","arguments":{{"steps":1}}}}"#
    );
    let text = message::request("1", "tools/call", &params);
    let request = http2::post("localhost", &text)
        .body(text.clone().into())
        .unwrap();
    let (status, body) = connection.send(request).await;
    assert_eq!(status, 200);
    let events = crate::support::http1::events(&body);
    assert!(events[0].contains("notifications/progress") && events[1].contains("1 steps"));

    for (name, begun) in [("hang", 1), ("linger", 2)] {
        let text = modern("1", "tools/call", &tool(name, "{}"));
        let request = http2::post("localhost", &text)
            .body(text.clone().into())
            .unwrap();
        let mut clone = connection.clone();
        let given_up = tokio::spawn(async move { clone.send(request).await });
        probe.begun.reach(begun).await;
        given_up.abort();
        probe.ended.reach(begun).await;
    }
}

/// Without any timeout in the stack: the connection of a client that takes nothing is ended.
#[tokio::test]
async fn a_client_that_takes_nothing_is_given_up() {
    let (gate, probe) = gate();
    let limits = Limits::default().write_stall_ms(200);
    let server = Server::start_with(gate.http(), limits).await;
    let mut silent = Connection::open(server.address).await;
    silent.write(&call("flood", "{}").encode()).await;
    assert!(silent.head().await.is_stream());
    probe.begun.reach(1).await;
    probe.ended.reach(1).await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_of_one_stream_is_given_up() {
    let (registry, probe) = fixture();
    let limits = Limits::default().write_stall_ms(200);
    let gate = Stack::new(registry)
        .mode(Mode::Plain)
        .limits(limits)
        .build()
        .unwrap();
    let server = Server::start(gate.http()).await;
    let mut connection = http2::Connection::open(server.address).await;
    let text = modern("1", "tools/call", &tool("flood", "{}"));
    let request = http2::post("localhost", &text)
        .body(text.clone().into())
        .unwrap();
    let unread = connection.begin(request).await;
    assert_eq!(unread.status(), 200);
    probe.begun.reach(1).await;
    probe.ended.reach(1).await;
    drop(unread);
}

/// Contract: M-118.
#[tokio::test]
async fn one_gate_can_be_served_more_than_once() {
    let (gate, probe) = gate();
    let (first, second) = (
        Server::start(gate.http()).await,
        Server::start(gate.http()).await,
    );
    for server in [&first, &second, &first] {
        let mut connection = Connection::open(server.address).await;
        assert_eq!(
            connection.send(&call("tally_bump", "{}")).await.status(),
            200
        );
    }
    drop(first);
    let mut connection = Connection::open(second.address).await;
    assert!(
        connection
            .send(&read())
            .await
            .text()
            .contains(r#""text":"3""#)
    );
    assert_eq!(probe.tally.get(), 3);
}

/// How an HTTP/2 connection begins: what it wants is what there is by default.
const BEGINNING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// A connection on which a call has taken longer than what is bounded here.
async fn naps(server: &Server) -> http2::Connection {
    let authority = format!("localhost:{}", server.address.port());
    let nap = modern("1", "tools/call", &tool("nap", r#"{"ms":500}"#));
    let mut client = http2::Connection::open(server.address).await;
    let request = http2::post(&authority, &nap).body(nap.into()).unwrap();
    let (status, text) = client.send(request).await;
    assert!(status == 200 && text.contains("slept 500 ms"), "{text}");
    client
}

/// A connection that has begun and says no more ends, whether or not something was asked on it before;
/// one with a call under way does not.
#[tokio::test]
async fn an_http_2_connection_without_a_request_ends() {
    let (gate, _probe) = gate();
    let limits = Limits::default().idle_ms(100).header_read_ms(100);
    let server = Server::start_with(gate.http(), limits).await;
    let mut silent = Connection::open(server.address).await;
    silent.write(BEGINNING).await;
    let mut client = naps(&server).await;
    assert!(silent.closed().await.len() > 9, "it was said why");
    soon("the end of the other", client.closed()).await;
}

/// Nobody is there who answers no ping, whatever was asked before.
#[tokio::test]
async fn an_http_2_client_that_is_gone_is_noticed() {
    let (gate, _probe) = gate();
    let limits = Limits::default().keep_alive_ms(50).write_stall_ms(100);
    let limits = limits.header_read_ms(600_000);
    let server = Server::start_with(gate.http(), limits).await;
    let mut gone = Connection::open(server.address).await;
    gone.write(BEGINNING).await;
    let _client = naps(&server).await;
    gone.closed().await;
}

/// Streams of one connection beyond the bound are refused, whatever the client was told before.
#[tokio::test]
async fn http_2_streams_beyond_the_bound_are_refused() {
    /// `POST http://localhost/mcp` with `Content-Type: application/json`, and a body to come.
    const HEADERS: &[u8] = b"\x83\x86\x44\x04/mcp\x41\x09localhost\x5f\x10application/json";
    const RESET: u8 = 3;
    const REFUSED: [u8; 4] = [0, 0, 0, 7];
    let (gate, _probe) = gate();
    let server = Server::start_with(gate.http(), Limits::default().http2_streams(2)).await;
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    stream.write_all(BEGINNING).await.unwrap();
    for id in [1, 3, 5] {
        let length = u8::try_from(HEADERS.len()).unwrap();
        let head = [0, 0, length, 1, 4, 0, 0, 0, id];
        stream.write_all(&[&head, HEADERS].concat()).await.unwrap();
    }
    let refused = soon("a stream that is reset", async {
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).await.unwrap();
            let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
            stream.read_exact(&mut payload).await.unwrap();
            if head[3] == RESET {
                return (head[8], payload);
            }
        }
    });
    assert_eq!(refused.await, (5, REFUSED.to_vec()));
}
