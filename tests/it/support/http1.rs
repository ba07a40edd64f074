//! HTTP/1.1 by hand: bytes are written, and what comes back is read as the standard says.

use std::fmt::Write as _;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::message::derived_headers;

/// A request that can be made wrong on purpose.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// Any method, with a `Host`.
    pub(crate) fn new(method: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: "/mcp".to_owned(),
            headers: vec![("Host".to_owned(), "localhost".to_owned())],
            body: Vec::new(),
        }
    }

    /// A message with what every client sends beside it.
    pub(crate) fn post(body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let length = body.len().to_string();
        let request = Self {
            body,
            ..Self::new("POST")
        };
        request
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Length", &length)
    }

    /// A message with what a modern client derives from it besides.
    pub(crate) fn derived(text: &str) -> Self {
        let headers = derived_headers(text);
        let add = |request: Self, (name, value): (&str, String)| request.header(name, &value);
        headers.into_iter().fold(Self::post(text), add)
    }

    /// A message of a client that has agreed on a version.
    pub(crate) fn legacy(text: &str, version: &str) -> Self {
        Self::post(text).header("MCP-Protocol-Version", version)
    }

    pub(crate) fn target(mut self, target: &str) -> Self {
        target.clone_into(&mut self.target);
        self
    }

    /// Adds a header line.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves out all lines of a header.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Has one line of a header instead of others.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            let _ = write!(out, "{name}: {value}\r\n");
        }
        out.push_str("\r\n");
        let mut out = out.into_bytes();
        out.extend_from_slice(&self.body);
        out
    }
}

/// The start of a response.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    /// The only line of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self
            .headers
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let first = lines.next().map(|(_, value)| value.as_str());
        assert!(lines.next().is_none(), "{name} stands twice: {self:?}");
        first
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding") == Some("chunked")
    }
}

/// A whole response.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        let text = self.text();
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Status and error code; zero for no error.
    pub(crate) fn outcome(&self) -> (u16, i64) {
        let code = self.messages().last().map_or(0, |last| {
            let reply: serde_json::Value = serde_json::from_str(last).expect("JSON");
            reply["error"]["code"].as_i64().unwrap_or(0)
        });
        (self.status(), code)
    }

    /// The messages in it: of a stream its events, else the body unless it is empty.
    pub(crate) fn messages(&self) -> Vec<String> {
        if self.head.is_stream() {
            return events(self.text());
        }
        let body = self.text();
        if body.is_empty() {
            Vec::new()
        } else {
            vec![body.to_owned()]
        }
    }
}

/// The data of the events in a stream, which consists of nothing else but comments.
pub(crate) fn events(stream: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in stream.lines() {
        match line.split_once(':') {
            Some(("data", data)) => found.push(data.trim_start().to_owned()),
            Some(("", _)) => {}
            _ => assert_eq!(line, "", "neither data nor a comment"),
        }
    }
    found
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            read: Vec::new(),
        }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Writes as much as the server takes before it answers and closes.
    pub(crate) async fn write_until_refused(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// Sends a request and reads the response.
    pub(crate) async fn send(&mut self, request: &Request) -> Response {
        self.write(&request.encode()).await;
        self.response().await
    }

    /// The next response.
    pub(crate) async fn response(&mut self) -> Response {
        super::soon("a response", self.whole_response()).await
    }

    /// The next response, however long it takes.
    pub(crate) async fn whole_response(&mut self) -> Response {
        let head = self.head().await;
        let body = self.body(&head).await;
        Response { head, body }
    }

    /// The next response, up to its body.
    pub(crate) async fn head(&mut self) -> Head {
        let end = loop {
            if let Some(at) = find(&self.read, b"\r\n\r\n") {
                break at;
            }
            assert!(
                self.fill().await,
                "closed instead of a response: {:?}",
                self.seen()
            );
        };
        let text = String::from_utf8(self.read.drain(..end + 4).collect()).unwrap();
        let mut lines = text.trim_end().split("\r\n");
        let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 "));
        let status = status
            .and_then(|rest| rest.get(..3))
            .expect("a status line");
        let header = |line: &str| {
            let (name, value) = line.split_once(':').expect("a header line");
            (name.to_owned(), value.trim().to_owned())
        };
        Head {
            status: status.parse().unwrap(),
            headers: lines.map(header).collect(),
        }
    }

    async fn body(&mut self, head: &Head) -> Vec<u8> {
        if head.is_chunked() {
            let mut body = Vec::new();
            while let Some(chunk) = self.chunk().await {
                body.extend_from_slice(&chunk);
            }
            return body;
        }
        let length = head
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        self.exactly(length).await
    }

    /// The next chunk of a chunked body; none at its end.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = self.line().await;
        let size = usize::from_str_radix(&size, 16).expect("a chunk size");
        let chunk = self.exactly(size).await;
        assert_eq!(self.line().await, "", "a chunk ends with a line break");
        (size > 0).then_some(chunk)
    }

    /// The next event of a stream whose head was read.
    pub(crate) async fn event(&mut self) -> String {
        let mut text = String::new();
        while !text.ends_with("\n\n") {
            let chunk = super::soon("a chunk", self.chunk())
                .await
                .expect("an event");
            text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        let mut events = events(&text);
        assert_eq!(events.len(), 1, "{text}");
        events.remove(0)
    }

    /// Waits until the server closes, and returns whatever it still sent.
    pub(crate) async fn closed(&mut self) -> Vec<u8> {
        super::soon("the end of the connection", async {
            while self.fill().await {}
        })
        .await;
        std::mem::take(&mut self.read)
    }

    async fn line(&mut self) -> String {
        loop {
            if let Some(at) = find(&self.read, b"\r\n") {
                let line = self.read.drain(..at + 2).collect::<Vec<_>>();
                return String::from_utf8_lossy(&line[..at]).into_owned();
            }
            assert!(self.fill().await, "closed within a line");
        }
    }

    async fn exactly(&mut self, length: usize) -> Vec<u8> {
        while self.read.len() < length {
            assert!(self.fill().await, "closed within a body");
        }
        self.read.drain(..length).collect()
    }

    /// Reads something; false if there is nothing more.
    async fn fill(&mut self) -> bool {
        // A connection that is reset has ended as well.
        self.stream.read_buf(&mut self.read).await.unwrap_or(0) > 0
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.read).into_owned()
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
