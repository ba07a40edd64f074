//! What the message plane answers.

use std::sync::Arc;

use crate::wire::{Error, Refusal, ToolDefinition};

use super::failure::Failure;
use super::members::Members;
use super::output::{Output, Shape};
use super::page::OperationPage;
use crate::wire::Features;
use crate::wire::json::{ObjectWriter, RawJson};

/// The answer to an envelope: nothing, a result or an error, with hints for the transport.
#[derive(Debug)]
pub struct Reply {
    pub(crate) outcome: Outcome,
    /// How to send it. The status is set only by layers that insist on one.
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

/// The kinds of answers.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A notification was taken.
    Accepted,
    /// An encoded result.
    Result(ResultBody),
    /// An error.
    Error(Error),
    /// An operation ran; how that is shown is for the mode to say.
    Invoked(Box<Invoked>),
    /// There is no such operation for this caller: absent and hidden look the same.
    UnknownOperation,
    /// Operations that match a query, the best first.
    Found(Vec<Arc<ToolDefinition>>),
    /// The definition of one operation.
    Inspected(Arc<ToolDefinition>),
    /// A page of operations.
    Browsed(OperationPage),
}

/// How an operation ended.
#[derive(Debug)]
pub(crate) struct Invoked {
    pub(crate) outcome: Result<Output, Failure>,
    /// Whether the operation declares an output schema.
    pub(crate) declares_output: bool,
}

/// The members of a result, and what the encoder adds where the version wants it.
#[derive(Debug)]
pub(crate) struct ResultBody {
    /// Encoded members, without braces and without `_meta`.
    pub(crate) members: Members,
    /// The result's own `_meta`: an object.
    pub(crate) meta: Option<RawJson>,
    /// How long the result may be kept, where that is said at all.
    pub(crate) cache: Option<CacheHint>,
}

/// How long a result may be kept and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheHint {
    /// Milliseconds; zero means it is stale at once.
    pub ttl_ms: u64,
    /// Who may share it.
    pub scope: CacheScope,
}

/// Who may share a cached result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheScope {
    /// Everybody.
    Public,
    /// Only whoever asked.
    Private,
}

impl CacheHint {
    /// Stale at once and for nobody else.
    pub const NONE: Self = Self {
        ttl_ms: 0,
        scope: CacheScope::Private,
    };
}

impl CacheScope {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

impl Reply {
    /// A result with these members, for layers that answer on their own account.
    ///
    /// What a version wants besides (`resultType`, who the server is) is added when the reply is
    /// encoded; a `_meta` is kept.
    ///
    /// ```
    /// use portcullis::service::Reply;
    /// use portcullis::wire::json::RawJson;
    ///
    /// let reply = Reply::object([("tools", RawJson::parse("[]")?)]);
    /// assert_eq!(reply.members(), Some(&br#""tools":[]"#[..]));
    /// # Ok::<(), portcullis::wire::json::SyntaxError>(())
    /// ```
    pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, RawJson)>) -> Self {
        let (mut out, mut meta) = (Vec::new(), None);
        let mut object = ObjectWriter::members(&mut out);
        for (name, value) in members {
            match name {
                "_meta" => meta = Some(value),
                "resultType" => {}
                name => {
                    object.raw(name, value.text());
                }
            }
        }
        let mut reply = Self::result(out);
        if let Outcome::Result(body) = &mut reply.outcome {
            body.meta = meta;
        }
        reply
    }

    /// A result given by the members of its object: `"a":1,"b":2`.
    pub(crate) fn result(members: impl Into<Members>) -> Self {
        Self::new(Outcome::Result(ResultBody {
            members: members.into(),
            meta: None,
            cache: None,
        }))
    }

    /// A result that says how long it may be kept.
    pub(crate) fn cacheable(members: impl Into<Members>, cache: CacheHint) -> Self {
        Self::new(Outcome::Result(ResultBody {
            members: members.into(),
            meta: None,
            cache: Some(cache),
        }))
    }

    /// The result of `tools/call`.
    pub(crate) fn tool(invoked: Invoked, shape: Shape, features: Features) -> Self {
        let (members, meta) = match invoked.outcome {
            Ok(mut output) => (output.encode(shape, features), output.take_meta()),
            Err(failure) => (
                failure.encode(shape, invoked.declares_output, features),
                None,
            ),
        };
        Self::new(Outcome::Result(ResultBody {
            members,
            meta,
            cache: None,
        }))
    }

    pub(crate) fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            status: None,
            headers: Vec::new(),
        }
    }

    /// A notification was taken.
    pub fn accepted() -> Self {
        Self::new(Outcome::Accepted)
    }

    /// A request that is refused although it was well formed.
    pub fn refused(refusal: Refusal) -> Self {
        Error::refused(refusal).into()
    }

    /// Insists on an HTTP status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds an HTTP header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The error, if this is one.
    pub fn error(&self) -> Option<&Error> {
        match &self.outcome {
            Outcome::Error(error) => Some(error),
            _ => None,
        }
    }

    /// The failure, where an operation failed. Above the mode layer it is encoded already.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.outcome {
            Outcome::Invoked(invoked) => invoked.outcome.as_ref().err(),
            _ => None,
        }
    }

    /// The members of an encoded result: `"a":1,"b":2`.
    pub fn members(&self) -> Option<&[u8]> {
        match &self.outcome {
            Outcome::Result(body) => Some(body.members.as_slice()),
            _ => None,
        }
    }
}

impl From<Invoked> for Reply {
    fn from(invoked: Invoked) -> Self {
        Self::new(Outcome::Invoked(Box::new(invoked)))
    }
}

impl From<Error> for Reply {
    fn from(error: Error) -> Self {
        Self::new(Outcome::Error(error))
    }
}
