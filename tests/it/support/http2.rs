//! HTTP/2 with prior knowledge: one connection, as hyper's client speaks it.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use super::message::derived_headers;

/// One connection. Cloning opens another stream on it.
#[derive(Clone, Debug)]
pub(crate) struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(async {
            let _ = connection.await;
        });
        Self(sender)
    }

    /// Sends a request; the response up to its body.
    pub(crate) async fn begin(&mut self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        super::soon("a response", self.0.send_request(request))
            .await
            .unwrap()
    }

    /// Waits until the server has closed.
    pub(crate) async fn closed(&mut self) {
        while self.0.ready().await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Sends a request; status and body.
    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> (u16, String) {
        let response = self.begin(request).await;
        super::soon("a body", async {
            let status = response.status().as_u16();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            (status, String::from_utf8(body.to_vec()).unwrap())
        })
        .await
    }
}

/// A message for an authority, with what a modern client derives from it.
pub(crate) fn post(authority: &str, text: &str) -> http::request::Builder {
    let mut request = Request::post(format!("http://{authority}/mcp"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in derived_headers(text) {
        request = request.header(name, value);
    }
    request
}
