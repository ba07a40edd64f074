//! A server on a socket of its own, for as long as a test holds it.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use portcullis::service::Limits;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower::{BoxError, Service};

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    running: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Serves on a port of 127.0.0.1 the system chooses.
    pub(crate) async fn start<S, B>(service: S) -> Self
    where
        S: HttpService<B>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        Self::start_with(service, Limits::default()).await
    }

    /// The same with other bounds on connections.
    pub(crate) async fn start_with<S, B>(service: S, limits: Limits) -> Self
    where
        S: HttpService<B>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (end, told) = oneshot::channel();
        let serving = portcullis::serve(listener, service)
            .limits(limits)
            .until(async {
                let _ = told.await;
            })
            .into_future();
        Self {
            address,
            end: Some(end),
            running: tokio::spawn(serving),
        }
    }

    /// Tells the server to end.
    pub(crate) fn end(&mut self) {
        drop(self.end.take());
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(self) -> io::Result<()> {
        super::soon("the end of the server", self.running)
            .await
            .unwrap()
    }
}

/// What can be served: short for its bounds.
pub(crate) trait HttpService<B>:
    Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S, B> HttpService<B> for S where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}
