//! A client for tests: it drives the very stack a server runs, without a socket.
//!
//! ```
//! use portcullis::service::handler::Text;
//! use portcullis::testing::Client;
//! use portcullis::{Mode, Operation, Registry, Stack};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let registry = Registry::builder()
//!     .operation(Operation::new("hi").handler(|| async { Text("hello".into()) }))
//!     .build()?;
//! let gate = Stack::new(registry).mode(Mode::Plain).build()?;
//! let client = Client::modern(&gate);
//!
//! let answer = client.call_tool("hi", "{}").await;
//! assert_eq!(answer.text(), "hello");
//! let answer = client.call_tool("no_such_tool", "{}").await;
//! assert_eq!(answer.error_code(), Some(-32602));
//! # Ok::<(), portcullis::ConfigError>(())
//! # }).unwrap();
//! ```

use std::sync::atomic::{AtomicI64, Ordering};

use tokio::time::Duration;
use tower::ServiceExt as _;

use crate::layers::Erased;
use crate::service::{CallLink, Inbound, Principal, Session};
use crate::stack::Gate;
use crate::wire::json::{Document, MAX_DEPTH, Node, ObjectWriter, RawJson, push_str};
use crate::wire::{Frame, ProtocolVersion, RequestId};

/// A client in the process of the server.
#[derive(Debug)]
pub struct Client {
    stack: Erased,
    principal: Option<Principal>,
    era: Era,
    last_id: AtomicI64,
}

#[derive(Debug)]
enum Era {
    /// Says in each request what it can: a JSON object of capabilities.
    Modern { capabilities: String },
    /// Has opened with a handshake.
    Legacy { session: Session },
}

/// What came back for one message.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status a transport would have used.
    pub status: u16,
    /// Messages sent before the reply, each a JSON text.
    pub messages: Vec<String>,
    /// The reply as it was encoded; none for a notification.
    pub raw: Option<String>,
    reply: Option<RawJson>,
}

impl Client {
    /// A client that speaks the newest version and can do nothing besides.
    pub fn modern<H>(gate: &Gate<H>) -> Self {
        Self::modern_with(gate, "{}")
    }

    /// A client that speaks the newest version and declares these capabilities: a JSON object.
    pub fn modern_with<H>(gate: &Gate<H>, capabilities: &str) -> Self {
        let capabilities = capabilities.to_owned();
        Self::new(gate, Era::Modern { capabilities })
    }

    /// A client that opens with a handshake for a version.
    ///
    /// # Panics
    ///
    /// If the server does not answer the handshake with that version.
    pub async fn legacy<H>(gate: &Gate<H>, version: ProtocolVersion) -> Self {
        let session = Session::new();
        let client = Self::new(gate, Era::Legacy { session });
        let params = format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"test","version":"0"}}}}"#
        );
        let answer = client.request("initialize", &params).await;
        let spoken = answer
            .result()
            .and_then(|result| result.get("protocolVersion"));
        let spoken = spoken.and_then(Node::as_str);
        assert_eq!(
            spoken.as_deref(),
            Some(version.as_str()),
            "handshake: {answer:?}"
        );
        client.notify("notifications/initialized", "{}").await;
        client
    }

    fn new<H>(gate: &Gate<H>, era: Era) -> Self {
        Self {
            stack: gate.frames(),
            principal: None,
            era,
            last_id: AtomicI64::new(0),
        }
    }

    /// Calls as somebody.
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = Some(principal);
        self
    }

    /// Calls a tool; `arguments` is JSON.
    pub async fn call_tool(&self, name: &str, arguments: &str) -> Answer {
        let mut params = Vec::new();
        let mut object = ObjectWriter::new(&mut params);
        object.string("name", name);
        object.raw("arguments", arguments);
        object.end();
        self.request("tools/call", &String::from_utf8_lossy(&params))
            .await
    }

    /// Sends a request; `params` is a JSON object. A modern client adds its `_meta`, unless there is
    /// one.
    ///
    /// # Panics
    ///
    /// If `params` is not a JSON object.
    pub async fn request(&self, method: &str, params: &str) -> Answer {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        self.send(&self.message(Some(&id.into()), method, params))
            .await
    }

    /// Sends a notification; `params` is a JSON object.
    ///
    /// # Panics
    ///
    /// If `params` is not a JSON object.
    pub async fn notify(&self, method: &str, params: &str) -> Answer {
        self.send(&self.message(None, method, params)).await
    }

    /// Sends any message as it is.
    ///
    /// # Panics
    ///
    /// If it is not JSON: what is not JSON never reaches a stack.
    pub async fn send(&self, message: &str) -> Answer {
        let frame = Frame::parse(message.as_bytes().to_vec(), MAX_DEPTH)
            .unwrap_or_else(|error| panic!("{error}: {message}"));
        let link = CallLink::streaming(PATIENCE);
        let mut inbound = Inbound::linked(frame, link.clone());
        inbound.principal = self.principal.clone();
        if let Era::Legacy { session } = &self.era {
            inbound.session = Some(session.clone());
        }
        let cancel = link.clone().cancel_on_drop();
        let mut call = std::pin::pin!(self.stack.clone().oneshot(inbound));
        let mut messages = Vec::new();
        let mut stream = None;
        let outbound = loop {
            tokio::select! {
                biased;
                opened = std::future::poll_fn(|cx| link.poll_stream(cx)), if stream.is_none() => stream = Some(opened),
                Some(message) = next(&mut stream) => messages.push(message.into_bytes()),
                Ok(outbound) = &mut call => break outbound,
            }
        };
        stream = stream.or_else(|| link.take_stream());
        while let Some(Ok(message)) = stream.as_mut().map(tokio::sync::mpsc::Receiver::try_recv) {
            messages.push(message.into_bytes());
        }
        cancel.disarm();
        let raw = outbound
            .payload
            .map(|payload| payload.into_bytes().to_vec());
        let reply = raw
            .clone()
            .and_then(|bytes| Document::parse(bytes, MAX_DEPTH).ok());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Answer {
            status: outbound.hints.status,
            messages: messages.iter().map(|message| text(message)).collect(),
            raw: raw.as_deref().map(text),
            reply: reply.map(RawJson::from),
        }
    }

    fn message(&self, id: Option<&RequestId>, method: &str, params: &str) -> String {
        let params = RawJson::parse(params).unwrap_or_else(|error| panic!("{error}: {params}"));
        assert!(params.node().is_object(), "params are an object: {params}");
        let mut out = Vec::new();
        let mut object = ObjectWriter::new(&mut out);
        object.raw("jsonrpc", "\"2.0\"");
        object.optional_raw("id", id.map(RequestId::text));
        push_str(object.value("method"), method);
        object.object("params", |object| {
            for (name, value) in params.node().members() {
                object.raw(&name, value.text());
            }
            if let (Era::Modern { capabilities }, None) = (&self.era, params.get("_meta")) {
                object.object("_meta", |meta| {
                    let version = ProtocolVersion::ALL[0].as_str();
                    meta.string("io.modelcontextprotocol/protocolVersion", version);
                    meta.raw("io.modelcontextprotocol/clientCapabilities", capabilities);
                });
            }
        });
        object.end();
        String::from_utf8_lossy(&out).into_owned()
    }
}

async fn next(stream: &mut Option<crate::service::Messages>) -> Option<crate::service::Payload> {
    match stream {
        Some(stream) => stream.recv().await,
        None => std::future::pending().await,
    }
}

impl Answer {
    /// The `result`, if the request succeeded.
    pub fn result(&self) -> Option<Node<'_>> {
        self.reply.as_ref()?.node().get("result")
    }

    /// The code of the error, if it did not.
    pub fn error_code(&self) -> Option<i64> {
        self.error()?.get("code")?.as_number()?.parse().ok()
    }

    /// The error, if the request did not succeed.
    pub fn error(&self) -> Option<Node<'_>> {
        self.reply.as_ref()?.node().get("error")
    }

    /// The text blocks of a tool's result, joined by line breaks.
    pub fn text(&self) -> String {
        let content = self.result().and_then(|result| result.get("content"));
        let blocks = content.into_iter().flat_map(Node::elements);
        let texts: Vec<_> = blocks
            .filter_map(|block| block.get("text")?.as_str())
            .collect();
        texts.join("\n")
    }

    /// Whether a tool reported a failure.
    pub fn is_error(&self) -> bool {
        let flag = self.result().and_then(|result| result.get("isError"));
        flag.and_then(Node::as_bool) == Some(true)
    }

    /// The structured value of a tool's result, as it was encoded.
    pub fn structured(&self) -> Option<&str> {
        Some(self.result()?.get("structuredContent")?.text())
    }
}

/// Everything is read at once here, so nothing waits this long.
const PATIENCE: Duration = Duration::from_secs(60);
