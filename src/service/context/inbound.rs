//! What the frame plane passes on: a frame with what its transport knows, and encoded bytes.

use std::any::Any;
use std::sync::Arc;

use crate::wire::json::ObjectWriter;
use crate::wire::{Error, Features, Frame, RequestId};

use super::extensions::Extensions;
use super::link::CallLink;
use super::payload::Payload;
use super::principal::Principal;
use super::session::Session;

/// A message on its way in: the request type of the frame plane.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inbound {
    /// The message.
    pub frame: Frame,
    /// Who sent it.
    pub principal: Option<Principal>,
    /// The conversation it belongs to.
    pub session: Option<Session>,
    /// What was declared beside the message.
    pub declared: Option<Arc<dyn Declared>>,
    /// Whatever layers found out.
    pub extensions: Extensions,
    /// Where messages back go, and whether the caller still waits.
    pub link: CallLink,
}

/// What a transport carries beside a message: the headers of HTTP, in terms of the protocol.
pub trait Declared: Any + Send + Sync + std::fmt::Debug {
    /// A field by its name in lower case.
    fn field(&self, name: &str) -> Field<'_>;
}

/// A field beside a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// There is none.
    Absent,
    /// Its bytes, which need not be text.
    One(&'a [u8]),
    /// There are several, so none can be trusted.
    Several,
}

/// An encoded answer: the response type of the frame plane.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outbound {
    /// The encoded message; none for an accepted notification.
    pub payload: Option<Payload>,
    /// How to send it.
    pub hints: Hints,
}

/// What a transport may need to know about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints {
    /// The HTTP status.
    pub status: u16,
    /// Further HTTP headers.
    pub headers: Vec<(&'static str, String)>,
}

impl Inbound {
    /// A message that nothing is known about.
    pub fn new(frame: Frame) -> Self {
        Self::linked(frame, CallLink::detached())
    }

    /// A message of a call that this links to its caller.
    pub(crate) fn linked(frame: Frame, link: CallLink) -> Self {
        Self {
            frame,
            principal: None,
            session: None,
            declared: None,
            extensions: Extensions::default(),
            link,
        }
    }
}

impl Outbound {
    /// An encoded message.
    pub fn new(payload: Payload) -> Self {
        Self {
            payload: Some(payload),
            hints: Hints::default(),
        }
    }

    /// No message: a notification was accepted.
    pub fn accepted() -> Self {
        Self {
            payload: None,
            hints: Hints {
                status: 202,
                ..Hints::default()
            },
        }
    }

    /// An error reply. Errors that cannot be tied to a request have no id.
    pub fn error(id: Option<&RequestId>, error: &Error, features: Option<Features>) -> Self {
        let mut out = Vec::with_capacity(192);
        let mut object = ObjectWriter::new(&mut out);
        object.raw("jsonrpc", "\"2.0\"");
        object.optional_raw("id", id.map(RequestId::text));
        error.push(object.value("error"));
        object.end();
        let mut outbound = Self::new(out.into()).status(error.status(features));
        if matches!(outbound.hints.status, 429 | 503) {
            outbound.hints.headers.push(("retry-after", "1".to_owned()));
        }
        outbound
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.hints.status = status;
        self
    }
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
        }
    }
}
