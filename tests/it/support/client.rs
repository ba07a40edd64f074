//! One client for every way to reach a server, so that a test is written once.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::{Request, Response};
use hyper::body::Incoming;
use portcullis::Gate;
use portcullis::layers::Body;
use portcullis::testing;
use portcullis::transport::HttpCore;
use portcullis::wire::ProtocolVersion;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncWriteExt as _, DuplexStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower::{BoxError, Layer, Service};

use super::http1::{self, Connection};
use super::message::{self, LEGACY};
use super::stdio::{Lines, Pipe};
use super::{Server, soon};

/// A transport and an era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    HttpModern,
    HttpLegacy,
    StdioModern,
    StdioLegacy,
    InProcessModern,
    InProcessLegacy,
}

impl Way {
    pub(crate) const ALL: [Self; 6] = [
        Self::HttpModern,
        Self::HttpLegacy,
        Self::StdioModern,
        Self::StdioLegacy,
        Self::InProcessModern,
        Self::InProcessLegacy,
    ];
    pub(crate) const HTTP: [Self; 2] = [Self::HttpModern, Self::HttpLegacy];
    pub(crate) const STDIO: [Self; 2] = [Self::StdioModern, Self::StdioLegacy];

    pub(crate) fn is_modern(self) -> bool {
        matches!(
            self,
            Self::HttpModern | Self::StdioModern | Self::InProcessModern
        )
    }

    pub(crate) fn is_http(self) -> bool {
        Self::HTTP.contains(&self)
    }

    /// Connects, and shakes hands where the era does.
    pub(crate) async fn open<H>(self, gate: &Gate<H>) -> Client
    where
        H: Layer<HttpCore, Service: HttpPlane>,
        <H::Service as Service<Request<Incoming>>>::Future: Send,
    {
        let inner = match self {
            Self::HttpModern | Self::HttpLegacy => Inner::Http(Http {
                server: Server::start(gate.http()).await,
                idle: Mutex::default(),
                opened: AtomicUsize::new(0),
            }),
            Self::StdioModern | Self::StdioLegacy => Inner::Stdio(Stdio::open(gate)),
            Self::InProcessModern => Inner::InProcess(testing::Client::modern(gate)),
            Self::InProcessLegacy => Inner::InProcess(
                testing::Client::legacy(gate, ProtocolVersion::LATEST_LEGACY).await,
            ),
        };
        let client = Client {
            way: self,
            last_id: Arc::default(),
            inner: Arc::new(inner),
        };
        if matches!(self, Self::HttpLegacy | Self::StdioLegacy) {
            let answer = client
                .request("initialize", &message::handshake(LEGACY))
                .await;
            assert_eq!(answer.json()["result"]["protocolVersion"], LEGACY);
            client.notify("notifications/initialized", "").await;
        }
        client
    }
}

/// What stands on the HTTP plane: short for its bounds.
pub(crate) trait HttpPlane:
    Service<Request<Incoming>, Response = Response<Body>, Error: Into<BoxError>, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> HttpPlane for S where
    S: Service<Request<Incoming>, Response = Response<Body>, Error: Into<BoxError>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Runs the same test over every transport and in both eras.
pub(crate) async fn each_transport(test: impl AsyncFn(Way)) {
    over(&Way::ALL, test).await;
}

/// Runs the same test over some of them.
pub(crate) async fn over(ways: &[Way], test: impl AsyncFn(Way)) {
    for way in ways {
        // Shown when the test fails.
        eprintln!("over {way:?}:");
        test(*way).await;
    }
}

/// A client. Cloning shares the connection.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) way: Way,
    last_id: Arc<AtomicI64>,
    inner: Arc<Inner>,
}

#[derive(Debug)]
enum Inner {
    Http(Http),
    Stdio(Stdio),
    InProcess(testing::Client),
}

impl Client {
    /// Calls a tool; `arguments` is JSON.
    pub(crate) async fn tool(&self, name: &str, arguments: &str) -> Answer {
        self.request("tools/call", &message::tool(name, arguments))
            .await
    }

    /// Sends a request; `params` is an object, or empty for none.
    pub(crate) async fn request(&self, method: &str, params: &str) -> Answer {
        self.send(&self.text(&self.next_id(), method, params)).await
    }

    /// A request of this client's era.
    pub(crate) fn text(&self, id: &str, method: &str, params: &str) -> String {
        if self.way.is_modern() {
            message::modern(id, method, params)
        } else {
            message::request(id, method, params)
        }
    }

    /// Sends a notification; `params` is an object, or empty for none.
    pub(crate) async fn notify(&self, method: &str, params: &str) -> Answer {
        self.send(&message::notification(method, params)).await
    }

    /// Sends any message as it is, and waits for its answer if there can be one.
    pub(crate) async fn send(&self, text: &str) -> Answer {
        soon("an answer", self.send_patiently(text)).await
    }

    /// Starts a call of a tool.
    pub(crate) fn start(&self, name: &str, arguments: &str) -> Pending {
        let id = self.next_id();
        let text = self.text(&id, "tools/call", &message::tool(name, arguments));
        let client = self.clone();
        let call = tokio::spawn(async move { client.send_patiently(&text).await });
        Pending {
            id,
            call,
            client: self.clone(),
        }
    }

    /// The address, of a server that has one.
    pub(crate) fn address(&self) -> std::net::SocketAddr {
        match &*self.inner {
            Inner::Http(http) => http.server.address,
            _ => panic!("{:?} has no address", self.way),
        }
    }

    /// How many connections it took so far.
    pub(crate) fn connections(&self) -> usize {
        match &*self.inner {
            Inner::Http(http) => http.opened.load(Ordering::Relaxed),
            Inner::Stdio(_) | Inner::InProcess(_) => 1,
        }
    }

    fn next_id(&self) -> String {
        (self.last_id.fetch_add(1, Ordering::Relaxed) + 1).to_string()
    }

    async fn send_patiently(&self, text: &str) -> Answer {
        match &*self.inner {
            Inner::Http(http) => http.send(text, self.way).await,
            Inner::Stdio(stdio) => stdio.send(text).await,
            Inner::InProcess(client) => {
                let answer = client.send(text).await;
                Answer {
                    status: Some(answer.status),
                    headers: Vec::new(),
                    messages: answer.messages,
                    reply: answer.raw,
                }
            }
        }
    }
}

/// A call under way.
#[derive(Debug)]
pub(crate) struct Pending {
    id: String,
    call: JoinHandle<Answer>,
    client: Client,
}

impl Pending {
    pub(crate) fn is_done(&self) -> bool {
        self.call.is_finished()
    }

    pub(crate) async fn answer(self) -> Answer {
        soon("an answer", self.call).await.unwrap()
    }

    /// Gives the call up, as this transport does: by a notification, or by going away.
    pub(crate) async fn cancel(self) {
        if Way::STDIO.contains(&self.client.way) {
            let params = format!(r#"{{"requestId":{}}}"#, self.id);
            self.client.notify("notifications/cancelled", &params).await;
        }
        self.call.abort();
    }
}

/// What came back for one message.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The HTTP status; none on stdio.
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    /// Messages before the reply.
    pub(crate) messages: Vec<String>,
    /// The reply to the byte.
    pub(crate) reply: Option<String>,
}

impl Answer {
    pub(crate) fn raw(&self) -> &str {
        self.reply
            .as_deref()
            .unwrap_or_else(|| panic!("no reply: {self:?}"))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.raw()).unwrap()
    }

    /// The code of the error; zero for no error.
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or(0)
    }

    /// The text of a tool's result.
    pub(crate) fn text(&self) -> String {
        let json = self.json();
        let text = json["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text: {json}")).to_owned()
    }

    pub(crate) fn is_error(&self) -> bool {
        self.json()["result"]["isError"] == true
    }

    /// The status must be this, where there is one.
    pub(crate) fn assert_status(&self, status: u16) {
        if let Some(found) = self.status {
            assert_eq!(found, status, "{self:?}");
        }
    }
}

/// Over HTTP: a connection for each call at a time, kept for the next one.
#[derive(Debug)]
struct Http {
    server: Server,
    idle: Mutex<Vec<Connection>>,
    opened: AtomicUsize,
}

impl Http {
    async fn send(&self, text: &str, way: Way) -> Answer {
        let request = if way.is_modern() {
            http1::Request::derived(text)
        } else {
            http1::Request::legacy(text, LEGACY)
        };
        let idle = self.idle.lock().unwrap().pop();
        let mut connection = if let Some(connection) = idle {
            connection
        } else {
            self.opened.fetch_add(1, Ordering::Relaxed);
            Connection::open(self.server.address).await
        };
        connection.write(&request.encode()).await;
        let response = connection.whole_response().await;
        if response.header("connection") != Some("close") {
            self.idle.lock().unwrap().push(connection);
        }
        let mut messages = response.messages();
        Answer {
            status: Some(response.status()),
            reply: messages.pop(),
            messages,
            headers: response.head.headers,
        }
    }
}

/// Over stdio: lines are handed to whoever asked.
struct Stdio {
    input: tokio::sync::Mutex<DuplexStream>,
    waiting: Arc<Mutex<Waiting>>,
    _reading: JoinHandle<()>,
}

#[derive(Default)]
struct Waiting {
    by_id: HashMap<String, oneshot::Sender<Answer>>,
    /// Whoever waits for an answer that can have no id.
    for_any: Option<oneshot::Sender<Answer>>,
    messages: Vec<String>,
}

impl Stdio {
    fn open<H>(gate: &Gate<H>) -> Self {
        let pipe = Pipe::open(gate);
        let waiting: Arc<Mutex<Waiting>> = Arc::default();
        Self {
            input: tokio::sync::Mutex::new(pipe.input),
            _reading: tokio::spawn(read(pipe.output, Arc::clone(&waiting))),
            waiting,
        }
    }

    async fn send(&self, text: &str) -> Answer {
        let (sender, receiver) = oneshot::channel();
        let message = message::members(text).unwrap_or_default();
        {
            let mut waiting = self.waiting.lock().unwrap();
            let id = message.get("id").map(|id| id.get().to_owned());
            let is_text = |it: &RawValue| it.get().starts_with('"');
            if let Some(id) = id.clone().filter(|id| can_be_id(id)) {
                waiting.by_id.insert(id, sender);
            } else if id.is_none() && message.get("method").is_some_and(|it| is_text(it)) {
                let _ = sender.send(Answer::none());
            } else {
                waiting.for_any = Some(sender);
            }
        }
        let line = format!("{text}\n");
        self.input
            .lock()
            .await
            .write_all(line.as_bytes())
            .await
            .unwrap();
        receiver.await.expect("the server still runs")
    }
}

/// Whether it is a text or a number.
fn can_be_id(id: &str) -> bool {
    id.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
}

async fn read(mut output: Lines, waiting: Arc<Mutex<Waiting>>) {
    while let Some(line) = output.wait().await {
        let message = message::members(&line).expect("nothing but JSON");
        let mut waiting = waiting.lock().unwrap();
        if message.contains_key("method") {
            waiting.messages.push(line);
            continue;
        }
        let asked = match message.get("id") {
            Some(id) => waiting.by_id.remove(id.get()),
            None => waiting.for_any.take().or_else(|| waiting.only_one()),
        };
        let answer = Answer {
            messages: std::mem::take(&mut waiting.messages),
            reply: Some(line),
            ..Answer::none()
        };
        let asked = asked.unwrap_or_else(|| panic!("nobody asked for {answer:?}"));
        let _ = asked.send(answer);
    }
}

impl Waiting {
    /// An answer without an id is for the only one who waits: its id could not be read.
    fn only_one(&mut self) -> Option<oneshot::Sender<Answer>> {
        assert_eq!(self.by_id.len(), 1, "whose answer is this?");
        let id = self.by_id.keys().next()?.clone();
        self.by_id.remove(&id)
    }
}

impl Answer {
    fn none() -> Self {
        Self {
            status: None,
            headers: Vec::new(),
            messages: Vec::new(),
            reply: None,
        }
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stdio")
    }
}
