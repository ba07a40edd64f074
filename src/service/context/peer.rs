//! The other side of a call, for sending it messages.

use crate::wire::json::{ObjectWriter, RawJson, push_str};

use super::link::{Outlet, Unreachable};
use super::payload::Payload;

/// The caller, reachable while its call runs.
#[derive(Clone, Debug)]
pub struct Peer {
    outlet: Outlet,
}

impl Peer {
    pub(crate) fn new(outlet: Outlet) -> Self {
        Self { outlet }
    }

    /// Sends a notification about this call. Waits while the caller is slow to read.
    ///
    /// # Errors
    ///
    /// [`Unreachable`] if the caller went away, was answered, or cannot take notifications.
    pub async fn notify(&self, method: &str, params: &RawJson) -> Result<(), Unreachable> {
        let message = notification(method, |out| {
            out.extend_from_slice(params.text().as_bytes());
        });
        self.outlet.send(message).await
    }

    /// Whether a notification may arrive.
    pub fn is_reachable(&self) -> bool {
        self.outlet.is_open()
    }
}

/// An encoded notification whose params `write` writes.
pub(crate) fn notification(method: &str, write: impl FnOnce(&mut Vec<u8>)) -> Payload {
    let mut out = Vec::with_capacity(192);
    let mut object = ObjectWriter::new(&mut out);
    object.raw("jsonrpc", "\"2.0\"");
    push_str(object.value("method"), method);
    write(object.value("params"));
    object.end();
    out.into()
}
