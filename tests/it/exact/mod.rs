//! Values arrive as they were sent, to the byte, and what is no JSON arrives nowhere.

mod constants;
mod corpus;
mod names;
mod suite;
mod values;

use portcullis::wire::json::{Document, MAX_DEPTH};

use crate::support::http1::{Connection, Request};
use crate::support::message::{LEGACY, derived_headers, tool};
use crate::support::stdio::Pipe;
use crate::support::{Client, Way, gate};

/// Containers that can stand inside a value: it is inside the arguments, the params and the message.
const MOST: u32 = MAX_DEPTH - 3;

/// A connection on which any bytes can be sent as an argument value.
struct Carrier {
    client: Client,
    bytes: Bytes,
}

enum Bytes {
    Http(Connection),
    Stdio(Pipe),
    /// What is JSON: nothing else reaches a stack.
    InProcess,
}

/// What came of a value.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// It came back, in the result and in the text beside it.
    Arrived,
    /// The message was refused with this code.
    Refused(i64),
}

impl Carrier {
    async fn open(way: Way) -> Self {
        let (gate, _probe) = gate();
        let client = way.open(&gate).await;
        let bytes = match way {
            Way::HttpModern | Way::HttpLegacy => {
                Bytes::Http(Connection::open(client.address()).await)
            }
            Way::StdioModern | Way::StdioLegacy => {
                let mut pipe = Pipe::open(&gate);
                if !way.is_modern() {
                    let params = crate::support::message::handshake(LEGACY);
                    let hello = crate::support::message::request("0", "initialize", &params);
                    assert!(pipe.ask(&hello).await.contains(LEGACY));
                }
                Bytes::Stdio(pipe)
            }
            Way::InProcessModern | Way::InProcessLegacy => Bytes::InProcess,
        };
        Self { client, bytes }
    }

    /// Whether this transport can carry the value at all.
    fn carries(&self, value: &[u8]) -> bool {
        match self.bytes {
            Bytes::Http(_) => true,
            // A line ends there.
            Bytes::Stdio(_) => !value.contains(&b'\n'),
            Bytes::InProcess => Document::parse(value.to_vec(), MOST).is_ok(),
        }
    }

    /// Sends a value to an operation that sends it back.
    async fn send(&mut self, value: &[u8]) -> Fate {
        const PLACE: &str = r#""the value""#;
        let arguments = format!(r#"{{"value":{PLACE}}}"#);
        let around = self
            .client
            .text("7", "tools/call", &tool("mirror", &arguments));
        let (before, after) = around.split_once(PLACE).unwrap();
        let message = [before.as_bytes(), value, after.as_bytes()].concat();
        let answer = match &mut self.bytes {
            Bytes::Http(connection) => {
                let mut request = Request::post(message);
                if self.client.way.is_modern() {
                    for (name, value) in derived_headers(&around) {
                        request = request.header(name, &value);
                    }
                } else {
                    request = request.header("MCP-Protocol-Version", LEGACY);
                }
                connection.send(&request).await.text().to_owned()
            }
            Bytes::Stdio(pipe) => {
                pipe.write_bytes(&[&*message, b"\n"].concat()).await;
                pipe.line().await
            }
            Bytes::InProcess => {
                let message = String::from_utf8(message).unwrap();
                self.client.send(&message).await.raw().to_owned()
            }
        };
        fate(value, &answer)
    }

    /// Another call is served on the same connection.
    async fn assert_healthy(&mut self) {
        assert_eq!(self.send(b"1").await, Fate::Arrived);
    }
}

fn fate(value: &[u8], answer: &str) -> Fate {
    let document = Document::parse(answer.as_bytes().to_vec(), MAX_DEPTH + 2).unwrap();
    let root = document.root();
    if let Some(error) = root.get("error") {
        let code = error.get("code").unwrap().text();
        return Fate::Refused(code.parse().unwrap());
    }
    let sent = [br#"{"value":"#, value, b"}"].concat();
    let sent = str::from_utf8(&sent).expect("only text arrives");
    let result = root.get("result").unwrap();
    let structured = result.get("structuredContent").unwrap();
    // Lines are for the transports: between tokens there are none.
    let on_a_line = sent.replace(['\n', '\r'], " ");
    assert_eq!(
        structured.text().replace(['\n', '\r'], " "),
        on_a_line,
        "{answer}"
    );
    let mut content = result.get("content").unwrap().elements();
    let copy = content.next().and_then(|it| it.get("text")).unwrap();
    assert_eq!(copy.as_str().unwrap(), sent, "{answer}");
    Fate::Arrived
}

/// A text inside a string, every character of it as an escape.
fn escaped(text: &str) -> String {
    let escape = |c: char| format!("\\u{:04x}", u32::from(c));
    text.chars().map(escape).collect::<Vec<_>>().concat()
}
