//! What a handler receives.

use std::borrow::Cow;
use std::future::Future;
use std::sync::LazyLock;

use crate::service::context::{Envelope, Extensions, Peer, Principal, Session};
use crate::wire::json::RawJson;
use crate::wire::{ClientCapabilities, Features};

use super::progress::{Progress, report};

/// Everything a handler can know and do besides its arguments: who calls, what with, how far it is.
///
/// Cloning it is cheap, and a clone may outlive the call; nothing it sends arrives then.
#[derive(Clone, Debug)]
pub struct CallContext {
    envelope: Envelope,
    subject: RawJson,
    arguments: RawJson,
    state: Extensions,
}

impl CallContext {
    /// The call `envelope` makes of `subject`, the JSON string that names what is called.
    pub(crate) fn new(
        envelope: Envelope,
        subject: RawJson,
        arguments: Option<RawJson>,
        state: Extensions,
    ) -> Self {
        Self {
            envelope,
            subject,
            arguments: arguments.unwrap_or_else(no_arguments),
            state,
        }
    }

    /// What is called: the name of the operation or prompt, or the URI of the resource.
    pub fn subject(&self) -> Cow<'_, str> {
        self.subject.node().as_str().unwrap_or_default()
    }

    /// The arguments exactly as they were sent: an object, empty if there were none. For a resource
    /// behind a template these are the values of its variables.
    pub fn arguments(&self) -> &RawJson {
        &self.arguments
    }

    /// Who is calling, if anything in front found out.
    pub fn principal(&self) -> Option<&Principal> {
        self.envelope.caller()
    }

    /// The conversation this belongs to; none for callers without one.
    pub fn session(&self) -> Option<&Session> {
        self.envelope.session()
    }

    /// What the caller's version permits.
    pub fn features(&self) -> Features {
        self.envelope.features()
    }

    /// What the client can do.
    pub fn capabilities(&self) -> &ClientCapabilities {
        self.envelope.capabilities()
    }

    /// What layers found out. Over HTTP the request's `http::request::Parts` are here.
    pub fn extensions(&self) -> &Extensions {
        self.envelope.extensions()
    }

    /// The caller, for messages of the application's own.
    pub fn peer(&self) -> Peer {
        self.envelope.peer()
    }

    /// Whether the caller has given up.
    pub fn is_cancelled(&self) -> bool {
        self.envelope.cancellation().is_cancelled()
    }

    /// Waits until the caller gives up.
    ///
    /// A handler's future is dropped when its caller gives up, so only work that was moved
    /// elsewhere needs this.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        self.envelope.cancellation().cancelled()
    }

    /// Tells the caller how far the call is, if it asked to be told.
    ///
    /// An update is left out if it does not go forward, comes less than 100 ms after the last one,
    /// or is longer than 8 KiB encoded. Waits while the caller is slow to read.
    pub async fn progress(&self, progress: Progress) {
        if let Some(token) = self.envelope.progress_token() {
            report(&self.envelope.link, &token, progress).await;
        }
    }

    /// Whether the caller asked to be told how far the call is.
    pub fn wants_progress(&self) -> bool {
        self.envelope.progress_token().is_some()
    }

    pub(super) fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.state.get()
    }
}

/// The arguments of a call that gives none.
pub(crate) fn no_arguments() -> RawJson {
    static EMPTY: LazyLock<RawJson> = LazyLock::new(|| {
        RawJson::parse("{}").unwrap_or_else(|_| unreachable!("an empty object is JSON"))
    });
    EMPTY.clone()
}
