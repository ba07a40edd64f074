//! The decision: whether the head of a request lets its body be read.

use http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    ORIGIN,
};
use http::{Response, StatusCode};

use crate::layers::body::Body;
use crate::layers::http_reply::{refuse, respond};
use crate::service::Outbound;
use crate::wire::json::SyntaxError;
use crate::wire::{Error, Refusal};

use super::Bounds;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    HeadersTooLarge,
    NotJson,
    Encoded,
    TooLarge { most: usize },
    TooSlow,
    Broken,
    NoRoom,
    Syntax(SyntaxError),
}

impl Bounds {
    /// The rules for the head, in the order of the module docs. The length of the body, if told.
    pub(super) fn verify(&self, headers: &HeaderMap) -> Result<Option<usize>, Rejection> {
        let told = Told::by(headers);
        // Nearly always all headers together fit, and none has to be looked at more closely.
        if told.bytes > self.protocol_headers
            && protocol_header_bytes(headers) > self.protocol_headers
        {
            return Err(Rejection::HeadersTooLarge);
        }
        if !(told.content_types == 1 && told.is_json) {
            return Err(Rejection::NotJson);
        }
        if told.is_encoded {
            return Err(Rejection::Encoded);
        }
        match told.length {
            Some(length) if length > self.message => {
                Err(Rejection::TooLarge { most: self.message })
            }
            length => Ok(length),
        }
    }
}

impl Rejection {
    pub(super) fn response(&self) -> Response<Body> {
        let (status, error) = match self {
            Self::HeadersTooLarge => (
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                Error::invalid_request("the protocol's headers are too large"),
            ),
            Self::NotJson => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                Error::invalid_request("Content-Type must be application/json"),
            ),
            Self::Encoded => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                Error::invalid_request("Content-Encoding is not accepted"),
            ),
            Self::TooLarge { most } => (
                StatusCode::PAYLOAD_TOO_LARGE,
                Error::invalid_request(format_args!("a message has at most {most} bytes")),
            ),
            Self::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                Error::invalid_request("the body did not arrive in time"),
            ),
            Self::Broken => (
                StatusCode::BAD_REQUEST,
                Error::invalid_request("the body did not arrive as a whole"),
            ),
            // Where nothing can be told apart, it is the same as too many calls.
            Self::NoRoom => {
                return respond(Outbound::error(
                    None,
                    &Error::refused(Refusal::Overloaded),
                    None,
                ));
            }
            Self::Syntax(error) => (StatusCode::BAD_REQUEST, Error::parse(error)),
        };
        refuse(status, &error)
    }
}

/// What the headers say of the body.
#[derive(Default)]
struct Told {
    /// Names and values of all headers together.
    bytes: usize,
    content_types: usize,
    is_json: bool,
    is_encoded: bool,
    length: Option<usize>,
}

impl Told {
    /// Requests have few headers: to walk over them once is quicker than to look some of them up.
    fn by(headers: &HeaderMap) -> Self {
        let mut told = Self::default();
        for (name, value) in headers {
            told.bytes += name.as_str().len() + value.len();
            if *name == CONTENT_TYPE {
                told.content_types += 1;
                told.is_json = is_json(value);
            } else if *name == CONTENT_ENCODING {
                told.is_encoded |= !is_identity(value);
            } else if *name == CONTENT_LENGTH {
                // The HTTP implementation has checked that it is a number and stands once.
                told.length = value.to_str().ok().and_then(|text| text.parse().ok());
            }
        }
        told
    }
}

/// The headers the protocol itself uses have a budget; the rest is bounded by HTTP.
fn protocol_header_bytes(headers: &HeaderMap) -> usize {
    let counted = headers.iter().filter(|(name, _)| is_protocol_header(name));
    counted
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum()
}

fn is_protocol_header(name: &HeaderName) -> bool {
    name.as_str().starts_with("mcp-")
        || [ACCEPT, CONTENT_TYPE, ORIGIN].contains(name)
        || name == "last-event-id"
}

/// JSON in UTF-8.
fn is_json(value: &HeaderValue) -> bool {
    value == "application/json" || value.to_str().is_ok_and(is_json_type)
}

fn is_json_type(value: &str) -> bool {
    let mut parts = value.split(';').map(str::trim);
    let is_json = parts
        .next()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    is_json && parts.all(is_harmless)
}

/// Parameters mean nothing for JSON, except that a character set other than UTF-8 would be a lie.
fn is_harmless(parameter: &str) -> bool {
    match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    }
}

fn is_identity(value: &HeaderValue) -> bool {
    value
        .to_str()
        .is_ok_and(|value| value.trim().eq_ignore_ascii_case("identity"))
}
