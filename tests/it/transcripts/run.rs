//! Playing a recorded conversation over one transport.

use http::{Request, Response};
use hyper::body::Incoming;
use portcullis::Gate;
use portcullis::layers::Body;
use portcullis::service::{Inbound, Session};
use portcullis::transport::HttpCore;
use portcullis::wire::Frame;
use serde_json::Value;
use tower::{BoxError, Layer, Service, ServiceExt as _};

use crate::support::http1::{self, Connection};
use crate::support::message::derived_headers;
use crate::support::stdio::Pipe;
use crate::support::{HttpPlane, Server, soon};

use super::{Exchange, Transcript};

/// Over what a conversation is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    InProcess,
    Stdio,
    Http,
}

impl Transport {
    pub(super) const ALL: [Self; 3] = [Self::Http, Self::InProcess, Self::Stdio];

    /// The transports in a list of names.
    pub(super) fn named(list: &str) -> Vec<Self> {
        let named = |name: &str| match name.trim() {
            "in-process" => Self::InProcess,
            "stdio" => Self::Stdio,
            "http" => Self::Http,
            other => panic!("no transport is called {other}"),
        };
        list.split(',').map(named).collect()
    }

    /// Plays a conversation; what the server answered.
    pub(super) async fn play<H>(self, gate: &Gate<H>, transcript: &Transcript) -> Vec<Exchange>
    where
        H: Layer<HttpCore, Service: HttpPlane>,
        <H::Service as Service<Request<Incoming>>>::Future: Send,
    {
        match self {
            Self::InProcess => in_process(gate, transcript).await,
            Self::Stdio => stdio(gate, transcript).await,
            Self::Http => http(gate, transcript).await,
        }
    }
}

/// Frames go straight into the stack, all of one session.
async fn in_process<H>(gate: &Gate<H>, transcript: &Transcript) -> Vec<Exchange> {
    let session = Session::new();
    let mut exchanges = Vec::new();
    for Exchange { sent, .. } in &transcript.exchanges {
        let frame = Frame::parse(sent.clone().into_bytes(), 128).unwrap();
        let mut inbound = Inbound::new(frame);
        inbound.session = Some(session.clone());
        let Ok(outbound) = soon("an answer", gate.frames().oneshot(inbound)).await;
        let payload = outbound
            .payload
            .map(|payload| payload.into_bytes().to_vec());
        let answered = payload.map(|bytes| String::from_utf8(bytes).unwrap());
        exchanges.push(Exchange {
            sent: sent.clone(),
            answered: answered.into_iter().collect(),
        });
    }
    exchanges
}

/// One line after the other; what the recording says is answered has to come.
async fn stdio<H>(gate: &Gate<H>, transcript: &Transcript) -> Vec<Exchange> {
    let mut pipe = Pipe::open(gate);
    let mut exchanges = Vec::new();
    for Exchange { sent, answered } in &transcript.exchanges {
        pipe.write(sent).await;
        let mut lines = Vec::new();
        for _ in answered {
            lines.push(pipe.line().await);
        }
        exchanges.push(Exchange {
            sent: sent.clone(),
            answered: lines,
        });
    }
    let (rest, ended) = pipe.close().await;
    assert_eq!(rest, [""; 0], "{}: said unasked", transcript.path.display());
    ended.unwrap();
    exchanges
}

/// Each line is posted, with the headers a client of its era adds, on one connection.
async fn http<H>(gate: &Gate<H>, transcript: &Transcript) -> Vec<Exchange>
where
    H: Layer<HttpCore>,
    H::Service: Service<Request<Incoming>, Response = Response<Body>, Error: Into<BoxError>>
        + Clone
        + Send
        + Sync
        + 'static,
    <H::Service as Service<Request<Incoming>>>::Future: Send,
{
    let server = Server::start(gate.http()).await;
    let mut connection = Connection::open(server.address).await;
    let mut exchanges = Vec::new();
    for Exchange { sent, .. } in &transcript.exchanges {
        let request = posted(sent, &transcript.version);
        let response = connection.send(&request).await;
        exchanges.push(Exchange {
            sent: sent.clone(),
            answered: response.messages(),
        });
    }
    exchanges
}

fn posted(text: &str, version: &str) -> http1::Request {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    if !derived_headers(text).is_empty() {
        http1::Request::derived(text)
    } else if message["method"] == "initialize" {
        http1::Request::post(text)
    } else {
        http1::Request::legacy(text, version)
    }
}
