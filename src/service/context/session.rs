//! A conversation that opened with a handshake.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::wire::{ClientCapabilities, ProtocolVersion};

/// What client and server agreed on with `initialize`, for as long as the conversation lasts.
///
/// One stdio connection is one session. Over HTTP there is one only where sessions are on.
#[derive(Clone, Default)]
pub struct Session(Arc<OnceLock<Negotiated>>);

/// The outcome of a handshake.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Negotiated {
    /// The version both speak.
    pub version: ProtocolVersion,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
}

impl Session {
    /// A session that nothing was negotiated for yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was negotiated, once it was.
    pub fn negotiated(&self) -> Option<&Negotiated> {
        self.0.get()
    }

    /// Records a handshake. False if there was one before: then nothing changes.
    pub(crate) fn negotiate(
        &self,
        version: ProtocolVersion,
        capabilities: ClientCapabilities,
    ) -> bool {
        self.0
            .set(Negotiated {
                version,
                capabilities,
            })
            .is_ok()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.negotiated()).finish()
    }
}
