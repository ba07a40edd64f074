//! Errors a peer may see: code, message, data.

use std::borrow::Cow;
use std::fmt;

use super::capability::Capability;
use super::json::{ObjectWriter, RawJson, quote};
use super::version::{Features, Versions};

/// An error reply.
///
/// The encoded error is bounded: what does not fit [`Error::LONGEST`] is cut or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: i32,
    message: Cow<'static, str>,
    data: Option<Box<str>>,
    refusal: Option<Refusal>,
}

/// Why a request was refused although it was well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// Too much work at once.
    Overloaded,
    /// It took too long.
    Timeout,
    /// Too many requests in too short a time.
    RateLimited,
    /// The server is about to stop.
    ShuttingDown,
    /// The answer does not fit the response ceiling.
    ResponseTooLarge,
    /// Something the request needs is away.
    Unavailable,
    /// A fault of the server.
    Internal,
}

impl Error {
    /// The longest message and data together, in bytes.
    pub const LONGEST: usize = 8 * 1024;

    /// The text is not JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// The JSON is not a request.
    pub const INVALID_REQUEST: i32 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i32 = -32602;
    /// A fault of the server.
    pub const INTERNAL_ERROR: i32 = -32603;
    /// There is no such resource; versions with a handshake only.
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// A header is missing or contradicts the message.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The request needs something the client did not declare.
    pub const MISSING_CAPABILITY: i32 = -32021;
    /// The version is not spoken here; those that are stand in the data.
    pub const UNSUPPORTED_VERSION: i32 = -32022;

    /// An error with a code of the caller's.
    pub fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        let mut message = message.into();
        if message.len() > LONGEST_MESSAGE {
            let mut end = LONGEST_MESSAGE;
            while !message.is_char_boundary(end) {
                end -= 1;
            }
            message = Cow::Owned(format!("{}…", &message[..end]));
        }
        Self {
            code,
            message,
            data: None,
            refusal: None,
        }
    }

    /// The text is not JSON, or nests too deep.
    pub fn parse(cause: impl fmt::Display) -> Self {
        Self::new(Self::PARSE_ERROR, format!("parse error: {cause}"))
    }

    /// The JSON is not a request.
    pub fn invalid_request(cause: impl fmt::Display) -> Self {
        Self::new(Self::INVALID_REQUEST, format!("invalid request: {cause}"))
    }

    /// There is no such method for this caller.
    pub fn method_not_found() -> Self {
        Self::new(Self::METHOD_NOT_FOUND, "method not found")
    }

    /// The method belongs to something the server does not offer.
    pub fn not_offered(capability: Capability) -> Self {
        let name = capability.name();
        Self::new(Self::METHOD_NOT_FOUND, format!("{name} are not offered")).data_object(|data| {
            _ = data.string("reason", &format!("{name} capability not offered"));
        })
    }

    /// The parameters do not fit the method.
    pub fn invalid_params(cause: impl fmt::Display) -> Self {
        Self::new(Self::INVALID_PARAMS, format!("invalid params: {cause}"))
    }

    /// A header is missing or contradicts the message.
    pub fn header_mismatch(cause: impl fmt::Display) -> Self {
        Self::new(Self::HEADER_MISMATCH, format!("header mismatch: {cause}"))
    }

    /// The request needs a capability the client did not declare; `required` is a JSON object in
    /// the shape of client capabilities.
    pub fn missing_capability(required: &str) -> Self {
        Self::new(
            Self::MISSING_CAPABILITY,
            "the client did not declare a capability this needs",
        )
        .data_object(|data| _ = data.raw("requiredCapabilities", required))
    }

    /// The version is not spoken here; those that are stand in the data.
    pub fn unsupported_version(requested: &str, supported: Versions) -> Self {
        Self::new(Self::UNSUPPORTED_VERSION, "unsupported protocol version").data_object(|data| {
            data.array("supported", supported.iter(), |out, version| {
                out.extend_from_slice(quote(version.as_str()).as_bytes());
            });
            if requested.len() <= 64 {
                data.string("requested", requested);
            }
        })
    }

    /// There is no such resource for this caller: absent, hidden and invalid look the same.
    ///
    /// In the modern era the data is the URI alone, which is how clients recognise this error among
    /// others with its code.
    pub fn resource_not_found(uri: &str, features: Features) -> Self {
        let told = (uri.len() <= LONGEST_MESSAGE).then_some(uri);
        if features.is_modern() {
            return Self::new(Self::INVALID_PARAMS, NOT_FOUND)
                .data_object(|data| _ = data.optional_string("uri", told));
        }
        Self::new(Self::RESOURCE_NOT_FOUND, NOT_FOUND).data_object(|data| {
            data.string("code", "unavailable");
            data.string("message", NOT_FOUND);
            data.boolean("retryable", false);
            data.optional_string("uri", told);
        })
    }

    /// A well-formed request that is refused.
    pub fn refused(refusal: Refusal) -> Self {
        let error = Self::new(Self::INTERNAL_ERROR, refusal.message())
            .data_object(|data| _ = data.string("code", refusal.code()));
        Self {
            refusal: Some(refusal),
            ..error
        }
    }

    /// Adds the data. Data that is too long is left out.
    #[must_use]
    pub fn with_data(mut self, data: &RawJson) -> Self {
        if data.text().len() + self.message.len() <= Self::LONGEST {
            self.data = Some(data.text().into());
        }
        self
    }

    /// Adds the data: an object whose members `write` writes. Data that is too long is left out.
    #[must_use]
    pub(crate) fn data_object(mut self, write: impl FnOnce(&mut ObjectWriter<'_>)) -> Self {
        let mut out = Vec::new();
        let mut object = ObjectWriter::new(&mut out);
        write(&mut object);
        object.end();
        if out.len() + self.message.len() <= Self::LONGEST {
            self.data = String::from_utf8(out).ok().map(String::into_boxed_str);
        }
        self
    }

    /// The code.
    pub fn code(&self) -> i32 {
        self.code
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The data: JSON text.
    pub fn data(&self) -> Option<&str> {
        self.data.as_deref()
    }

    /// Why a well-formed request was refused, if it was.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// The HTTP status a caller with these features expects with the error.
    pub(crate) fn status(&self, features: Option<Features>) -> u16 {
        match self.code {
            Self::PARSE_ERROR
            | Self::INVALID_REQUEST
            | Self::HEADER_MISMATCH
            | Self::MISSING_CAPABILITY
            | Self::UNSUPPORTED_VERSION => 400,
            Self::METHOD_NOT_FOUND if features.is_some_and(Features::is_modern) => 404,
            _ => self.refusal.map_or(200, Refusal::status),
        }
    }

    /// Appends the error object.
    pub(crate) fn push(&self, out: &mut Vec<u8>) {
        ObjectWriter::new(out)
            .number("code", self.code)
            .string("message", &self.message)
            .optional_raw("data", self.data())
            .end();
    }
}

impl Refusal {
    /// The code in the data of the error, or of the failure.
    pub fn code(self) -> &'static str {
        match self {
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::RateLimited => "rate_limited",
            Self::ShuttingDown => "shutting_down",
            Self::ResponseTooLarge => "response_too_large",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    fn status(self) -> u16 {
        match self {
            Self::Overloaded | Self::ShuttingDown | Self::Unavailable => 503,
            Self::RateLimited => 429,
            Self::Timeout | Self::ResponseTooLarge | Self::Internal => 200,
        }
    }

    /// What the peer reads.
    pub fn message(self) -> &'static str {
        match self {
            Self::Overloaded => "the server has too much to do; try again later",
            Self::Timeout => "the request took too long",
            Self::RateLimited => "too many requests; try again later",
            Self::ShuttingDown => "the server is shutting down",
            Self::ResponseTooLarge => "the response is too large",
            Self::Unavailable => "something the request needs is unavailable; try again later",
            Self::Internal => "internal error",
        }
    }
}

const LONGEST_MESSAGE: usize = 2 * 1024;
const NOT_FOUND: &str = "resource not found";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ProtocolVersion;

    #[test]
    fn errors_are_bounded_whatever_they_repeat() {
        let long = "é".repeat(100_000);
        let features = ProtocolVersion::July2026.features();
        for error in [
            Error::parse(&long),
            Error::invalid_params(&long),
            Error::unsupported_version(&long, Versions::default()),
            Error::resource_not_found(&long, features),
            Error::new(1, long.clone()),
        ] {
            let mut out = Vec::new();
            error.push(&mut out);
            assert!(out.len() < Error::LONGEST, "{}", out.len());
            assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok());
        }
    }

    /// Contract: P-12, P-13.
    #[test]
    fn codes_of_our_own_stay_out_of_reserved_ranges() {
        let modern = ProtocolVersion::July2026.features();
        let refusals = [
            Refusal::Overloaded,
            Refusal::Timeout,
            Refusal::RateLimited,
            Refusal::ShuttingDown,
            Refusal::ResponseTooLarge,
            Refusal::Unavailable,
            Refusal::Internal,
        ];
        let mut errors: Vec<_> = refusals.map(Error::refused).into();
        errors.extend([
            Error::parse(""),
            Error::invalid_request(""),
            Error::method_not_found(),
            Error::invalid_params(""),
            Error::header_mismatch(""),
            Error::missing_capability("{}"),
            Error::unsupported_version("", Versions::default()),
            Error::resource_not_found("", modern),
        ]);
        let defined = [
            -32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022,
        ];
        for error in errors {
            assert!(defined.contains(&error.code()), "{}", error.code());
        }
    }
}
