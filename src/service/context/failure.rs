//! What a handler reports when it cannot do what it was asked.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use tower::BoxError;

use crate::wire::json::{ObjectWriter, RawJson};
use crate::wire::{Content, Refusal};

/// A failed operation: a code and a message the peer may read, and a cause it never sees.
///
/// Any error becomes a failure by `?`, with a generic message: what it says is for the log. What
/// the model or the person should know is said explicitly, with [`Failure::new`].
///
/// ```
/// use portcullis::service::Failure;
///
/// fn parse(text: &str) -> Result<i64, Failure> {
///     if text.is_empty() {
///         return Err(Failure::new("empty", "there is nothing to parse"));
///     }
///     Ok(text.parse::<i64>()?)
/// }
/// assert_eq!(parse("").unwrap_err().code(), "empty");
/// assert_eq!(parse("secret").unwrap_err().message(), "the operation failed");
/// ```
pub struct Failure(Box<Inner>);

struct Inner {
    code: Cow<'static, str>,
    message: Cow<'static, str>,
    retryable: bool,
    diagnostics: Option<RawJson>,
    content: Vec<Content>,
    cause: Option<BoxError>,
}

impl Failure {
    /// A failure with a code for programs and a message for people.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            code: code.into(),
            message: message.into(),
            retryable: false,
            diagnostics: None,
            content: Vec::new(),
            cause: None,
        }))
    }

    /// A failure for a reason the server itself has.
    pub(crate) fn refused(refusal: Refusal) -> Self {
        let transient = matches!(
            refusal,
            Refusal::Overloaded | Refusal::RateLimited | Refusal::Timeout | Refusal::Unavailable
        );
        Self::new(refusal.code(), refusal.message()).retryable(transient)
    }

    /// A result that is longer than a response may be.
    pub(crate) fn too_large() -> Self {
        let message = "the result is larger than this server may send";
        Self::new("result_too_large", message)
    }

    /// Arguments that do not match the schema; `diagnostics` tells where.
    pub(crate) fn invalid_arguments(message: String, diagnostics: RawJson) -> Self {
        Self::new("invalid_arguments", message).diagnostics(diagnostics)
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.0.retryable = retryable;
        self
    }

    /// Details for programs.
    #[must_use]
    pub fn diagnostics(mut self, diagnostics: RawJson) -> Self {
        self.0.diagnostics = Some(diagnostics);
        self
    }

    /// Adds content that is valid all the same.
    #[must_use]
    pub fn content(mut self, content: impl Into<Content>) -> Self {
        self.0.content.push(content.into());
        self
    }

    /// Why it happened: logged, never sent.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<BoxError>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The code.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// Details for programs, if there are any.
    pub fn details(&self) -> Option<&RawJson> {
        self.0.diagnostics.as_ref()
    }

    pub(super) fn blocks(&self) -> &[Content] {
        &self.0.content
    }

    /// Why it happened, for the log.
    pub(crate) fn source(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.0.cause.as_deref()
    }

    /// Appends `{"failure":{…}}`.
    pub(super) fn push_envelope(&self, out: &mut Vec<u8>) {
        let mut object = ObjectWriter::new(out);
        object.object("failure", |failure| {
            failure.string("code", self.code());
            failure.string("message", self.message());
            failure.boolean("retryable", self.is_retryable());
            failure.optional_raw("diagnostics", self.details().map(RawJson::text));
        });
        object.end();
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Failure {
    fn from(cause: E) -> Self {
        Self::new("internal", "the operation failed").cause(cause)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("code", &self.0.code)
            .field("message", &self.0.message)
            .field("cause", &self.0.cause)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}
