//! One message has at most two mebibytes, however it is framed and whatever it is filled with.

use bytes::Bytes;
use http_body_util::Full;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::http1::{Connection, Request};
use crate::support::message::{LEGACY, handshake, request};
use crate::support::stdio::Pipe;
use crate::support::{Server, gate, http2, soon};

use super::{CALL, Era};

const MOST: usize = 2 * 1024 * 1024;

/// What a message is filled up with: text in an argument, or blanks around everything.
const FILLINGS: [char; 2] = ['A', ' '];

/// A proper call of exactly this length.
fn call_of(era: Era, length: usize, filling: char) -> Vec<u8> {
    let text = String::from_utf8(era.fill(CALL.as_bytes())).unwrap();
    let (place, more) = match filling {
        ' ' => (text.len() - 1, String::new()),
        _ => (text.len() - 3, r#""p":"""#.to_owned()),
    };
    let fill = filling.to_string().repeat(length - text.len() - more.len());
    let more = if filling == ' ' {
        fill
    } else {
        format!(r#""p":"{fill}""#)
    };
    let text = format!("{}{more}{}", &text[..place], &text[place..]);
    assert_eq!(text.len(), length);
    text.into_bytes()
}

fn post(era: Era, body: Vec<u8>) -> Request {
    let head = era.head().into_iter();
    head.fold(Request::post(body), |request, (name, value)| {
        request.header(name, value)
    })
}

/// Contract: S-091, S-156, P-17, case J17.
#[tokio::test]
async fn over_http_1_with_a_length_and_without() {
    for era in [Era::Modern, Era::Legacy] {
        let (gate, probe) = gate();
        let server = Server::start(gate.http()).await;
        let mut ran = 0;
        for filling in FILLINGS {
            for (length, told) in [
                (MOST, true),
                (MOST, false),
                (MOST + 1, true),
                (MOST + 1, false),
            ] {
                let mut connection = Connection::open(server.address).await;
                let body = call_of(era, length, filling);
                if told {
                    connection
                        .write_until_refused(&post(era, body).encode())
                        .await;
                } else {
                    let head = post(era, Vec::new()).without("Content-Length");
                    let head = head.header("Transfer-Encoding", "chunked").encode();
                    connection.write(&head).await;
                    for part in body.chunks(100_000) {
                        let size = format!("{:x}\r\n", part.len());
                        let chunk = [size.as_bytes(), part, b"\r\n"].concat();
                        connection.write_until_refused(&chunk).await;
                    }
                    connection.write_until_refused(b"0\r\n\r\n").await;
                }
                let response = connection.response().await;
                let fits = length == MOST;
                let expected = if fits { (200, 0) } else { (413, -32600) };
                assert_eq!(response.outcome(), expected, "{era:?}, {length}, {told}");
                assert_eq!(response.json().get("id").is_some(), fits);
                ran += usize::from(fits);
                assert_eq!(probe.tally.get(), ran);
            }
        }
    }
}

/// Contract: S-091, S-156, case J17.
#[tokio::test]
async fn over_http_2_where_the_connection_is_kept() {
    for era in [Era::Modern, Era::Legacy] {
        let (gate, probe) = gate();
        let server = Server::start(gate.http()).await;
        let mut connection = http2::Connection::open(server.address).await;
        let authority = format!("localhost:{}", server.address.port());
        let mut ran = 0;
        for length in [MOST, MOST + 1, 3 * MOST, MOST] {
            for filling in FILLINGS {
                let mut request = http2::post(&authority, "");
                for (name, value) in era.head() {
                    request = request.header(name, value);
                }
                let body = Full::new(Bytes::from(call_of(era, length, filling)));
                let (status, text) = connection.send(request.body(body).unwrap()).await;
                let fits = length == MOST;
                assert_eq!(
                    status,
                    if fits { 200 } else { 413 },
                    "{era:?}, {length}: {text}"
                );
                assert_eq!(text.contains(r#""id":7"#), fits, "{text}");
                assert_eq!(text.contains("-32600"), !fits, "{text}");
                ran += usize::from(fits);
                assert_eq!(probe.tally.get(), ran);
            }
        }
    }
}

/// Contract: S-091, S-156, M-112, case J17.
#[tokio::test]
async fn over_stdio_where_the_next_line_is_served() {
    for era in [Era::Modern, Era::Legacy] {
        let (gate, probe) = gate();
        let mut pipe = Pipe::open(&gate);
        if era == Era::Legacy {
            pipe.ask(&request("0", "initialize", &handshake(LEGACY)))
                .await;
        }
        let mut ran = 0;
        for length in [MOST, MOST + 1, 3 * MOST, MOST] {
            for filling in FILLINGS {
                for end in ["\n", "\r\n"] {
                    pipe.write_bytes(&call_of(era, length, filling)).await;
                    pipe.write_bytes(end.as_bytes()).await;
                    let line = pipe.line().await;
                    let fits = length == MOST;
                    let start = if fits {
                        r#"{"jsonrpc":"2.0","id":7,"result":"#
                    } else {
                        r#"{"jsonrpc":"2.0","error":{"code":-32600,"#
                    };
                    assert!(line.starts_with(start), "{era:?}, {length}: {line}");
                    ran += usize::from(fits);
                    assert_eq!(probe.tally.get(), ran);
                }
            }
        }
        // Fifty megabytes without an end are one line, and refused once.
        for _ in 0..50 {
            pipe.write_bytes(&vec![b'x'; 1_000_000]).await;
        }
        assert!(pipe.line().await.contains("-32600"));
        pipe.write("").await;
        let served = pipe.ask(&era.healthy()).await;
        assert!(served.contains(&format!(r#""text":"{ran}""#)), "{served}");
    }
}

/// The answer reaches a client that is still sending, and does not wait for the rest.
///
/// Contract: case J17.
#[tokio::test]
async fn a_client_that_does_not_stop_sending_learns_why_it_should() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let endless = post(Era::Legacy, Vec::new()).without("Content-Length");
    let endless = endless.header("Transfer-Encoding", "chunked").encode();
    let told = |length: u64| {
        post(Era::Legacy, Vec::new())
            .with("Content-Length", &length.to_string())
            .encode()
    };
    let chunk = [&b"10000\r\n"[..], &*vec![b' '; 0x10000], b"\r\n"].concat();
    let cases = [
        (endless, chunk),
        (told(4 << 30), vec![b' '; 0x10000]),
        // Nothing of it is sent.
        (told(4 << 30), Vec::new()),
    ];
    for (head, part) in cases {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (mut reader, mut writer) = stream.into_split();
        writer.write_all(&head).await.unwrap();
        let sending = tokio::spawn(async move {
            while !part.is_empty() && writer.write_all(&part).await.is_ok() {}
            writer
        });
        let mut response = Vec::new();
        soon("the answer", async {
            while !response.ends_with(b"}}") {
                assert!(
                    reader.read_buf(&mut response).await.unwrap() > 0,
                    "no answer"
                );
            }
        })
        .await;
        let text = String::from_utf8(response).unwrap();
        assert!(
            text.starts_with("HTTP/1.1 413 ") && text.contains("-32600"),
            "{text}"
        );
        drop(reader);
        soon("the end of sending", sending).await.unwrap();
    }
    assert_eq!(probe.tally.get(), 0);
}

/// What is behind the length that was told is no part of the message, and no request either.
///
/// Contract: case J17.
#[tokio::test]
async fn what_is_behind_the_told_length_does_not_run() {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let body = Era::Legacy.fill(CALL.as_bytes());
    for told in [0, 10, body.len() - 1] {
        let mut connection = Connection::open(server.address).await;
        let request = post(Era::Legacy, body.clone()).with("Content-Length", &told.to_string());
        connection.write(&request.encode()).await;
        assert_eq!(
            connection.response().await.outcome(),
            (400, -32700),
            "{told}"
        );
        let rest = connection.closed().await;
        let rest = String::from_utf8_lossy(&rest);
        assert!(
            rest.is_empty() || rest.starts_with("HTTP/1.1 400 "),
            "{rest}"
        );
    }
    assert_eq!(probe.tally.get(), 0);
}
