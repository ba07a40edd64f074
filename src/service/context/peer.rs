//! The other side of a call, for sending it messages.

use crate::wire::json::{ObjectWriter, RawJson, push_str};

use super::link::{Outlet, Unreachable};
use super::payload::Payload;

/// Why a notification was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// The caller went away, was answered, or cannot take notifications.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// The notification is longer than 1 MiB.
    #[error("a notification has at most 1 MiB")]
    TooLong,
}

/// The caller, reachable while its call runs.
#[derive(Clone, Debug)]
pub struct Peer {
    outlet: Outlet,
}

impl Peer {
    pub(crate) fn new(outlet: Outlet) -> Self {
        Self { outlet }
    }

    /// Sends a notification about this call, of at most 1 MiB. Waits while the caller is slow to read.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if it cannot arrive, or is too long.
    pub async fn notify(&self, method: &str, params: &RawJson) -> Result<(), NotSent> {
        if method.len() + params.text().len() > LONGEST {
            return Err(NotSent::TooLong);
        }
        let message = notification(method, |out| {
            out.extend_from_slice(params.text().as_bytes());
        });
        Ok(self.outlet.send(message).await?)
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

/// Method and params of a notification together, in bytes.
const LONGEST: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use crate::service::context::CallLink;

    use super::*;

    #[tokio::test]
    async fn a_notification_is_bounded_on_both_sides() {
        let (queue, mut sent) = mpsc::channel(2);
        let link = CallLink::shared(queue);
        let peer = Peer::new(link.outlet());
        let params = |length: usize| {
            let text = format!("{{\"x\":\"{}\"}}", "x".repeat(length - 8));
            RawJson::parse(text).unwrap()
        };
        let room = LONGEST - "n/x".len();
        assert_eq!(
            peer.notify("n/x", &params(room + 1)).await,
            Err(NotSent::TooLong)
        );
        assert_eq!(peer.notify("n/x", &params(room)).await, Ok(()));
        assert!(sent.try_recv().unwrap().len() > room);
        link.end();
        let gone = peer.notify("n/x", &params(10)).await;
        assert_eq!(gone, Err(NotSent::Unreachable(Unreachable)));
        assert!(sent.try_recv().is_err());
    }
}
