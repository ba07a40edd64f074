//! Names for the services of the two inner planes.

use std::future::Future;

use tower::{BoxError, Service};

use super::context::{Envelope, Inbound, Outbound, Reply};

/// A service on the message plane that can be shared and sent between threads.
pub trait MessageService:
    Service<Envelope, Response = Reply, Error: Into<BoxError>, Future: Future + Send + 'static>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> MessageService for S where
    S: Service<Envelope, Response = Reply, Error: Into<BoxError>, Future: Send + 'static>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A service on the frame plane that can be shared and sent between threads.
pub trait FrameService:
    Service<Inbound, Response = Outbound, Error: Into<BoxError>, Future: Future + Send + 'static>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> FrameService for S where
    S: Service<Inbound, Response = Outbound, Error: Into<BoxError>, Future: Send + 'static>
        + Clone
        + Send
        + Sync
        + 'static
{
}
