//! Messages that end before they are whole: none of them runs, and others are served.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::http1::{Connection, Request};
use crate::support::stdio::Pipe;
use crate::support::{Server, gate, soon};

use super::{CALL, Era};

/// Sends these bytes and closes this side; what comes back until the server closes the other.
async fn send_and_close(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    soon("the end", async {
        while stream.read_buf(&mut answer).await.unwrap_or(0) > 0 {}
    })
    .await;
    String::from_utf8(answer).unwrap()
}

/// Contract: P-17, S-034.
#[tokio::test]
async fn bodies_that_end_too_early() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    for era in [Era::Modern, Era::Legacy] {
        let body = era.fill(CALL.as_bytes());
        let head = |request: Request| {
            let head = era.head().into_iter();
            head.fold(request, |request, (name, value)| {
                request.header(name, value)
            })
            .encode()
        };
        let mut cut = Vec::new();
        // Shorter than was told, although it would be a whole message.
        for (told, sent) in [
            (body.len() + 1, body.len()),
            (body.len(), body.len() - 1),
            (body.len(), 0),
        ] {
            let bytes =
                head(Request::post(&body[..sent]).with("Content-Length", &told.to_string()));
            cut.push(bytes);
        }
        let size = format!("{:x}\r\n", body.len());
        let whole = [size.as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
        let chunked = head(
            Request::post("")
                .without("Content-Length")
                .header("Transfer-Encoding", "chunked"),
        );
        for length in [
            0,
            1,
            size.len(),
            size.len() + body.len() - 1,
            size.len() + body.len(),
            whole.len() - 5,
        ] {
            cut.push([&*chunked, &whole[..length]].concat());
        }
        for broken in [
            &b"zz\r\n"[..],
            b"-1\r\n",
            b"ffffffffffffffffff\r\n",
            b"5\r\n{}\r\n",
            b"\r\n\r\n",
        ] {
            cut.push([&*chunked, broken, &whole].concat());
        }
        for bytes in cut {
            let answer = send_and_close(&server, &bytes).await;
            let shown = bytes.escape_ascii();
            assert!(
                answer.is_empty() || answer.starts_with("HTTP/1.1 400 "),
                "{shown}: {answer}"
            );
            assert_eq!(probe.tally.get(), 0, "{shown}");
        }
    }
    let mut connection = Connection::open(server.address).await;
    let healthy = Request::derived(&Era::Modern.healthy());
    assert_eq!(connection.send(&healthy).await.outcome(), (200, 0));
}

/// Contract: P-17, S-034, case S01.
#[tokio::test]
async fn a_last_line_that_is_cut_is_refused_once() {
    let body = Era::Modern.fill(CALL.as_bytes());
    let cut = (1..body.len())
        .step_by(7)
        .map(|length| body[..length].to_vec());
    let in_a_character = [&body[..20], b"\xe2\x82"].concat();
    for line in cut.chain([in_a_character]) {
        let (gate, probe) = gate();
        let mut pipe = Pipe::open(&gate);
        assert!(pipe.ask(&Era::Modern.healthy()).await.contains("result"));
        pipe.write_bytes(&line).await;
        let (rest, ended) = pipe.close().await;
        let [refusal] = &*rest else {
            panic!("{rest:?}")
        };
        assert!(
            refusal.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32700,"#),
            "{refusal}"
        );
        ended.unwrap();
        assert_eq!(probe.tally.get(), 0);
    }
}
