//! The decision: whether the head of a request lets its body be read.

use http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    ORIGIN,
};
use http::{Response, StatusCode};

use crate::layers::body::Body;
use crate::layers::http_reply::refuse;
use crate::wire::Error;
use crate::wire::json::SyntaxError;

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
    Syntax(SyntaxError),
}

impl Bounds {
    /// The rules for the head, in the order of the module docs. The length of the body, if told.
    pub(super) fn verify(&self, headers: &HeaderMap) -> Result<Option<usize>, Rejection> {
        if !fit(headers, self.protocol_headers) {
            return Err(Rejection::HeadersTooLarge);
        }
        if !is_json(headers) {
            return Err(Rejection::NotJson);
        }
        if headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .any(|value| !is_identity(value))
        {
            return Err(Rejection::Encoded);
        }
        // The HTTP implementation has checked that it is a number and stands once.
        let length = headers
            .get(CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok());
        let length = length.and_then(|length| length.parse::<usize>().ok());
        match length {
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
            Self::Syntax(error) => (StatusCode::BAD_REQUEST, Error::parse(error)),
        };
        refuse(status, &error)
    }
}

/// Whether the headers the protocol itself uses fit their budget; the rest is bounded by HTTP.
fn fit(headers: &HeaderMap, budget: usize) -> bool {
    // Nearly always all headers together do, and none has to be looked at more closely.
    let most: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    most <= budget || protocol_header_bytes(headers) <= budget
}

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

/// Exactly one content type, which is JSON in UTF-8.
fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().is_ok_and(is_json_type),
        _ => false,
    }
}

fn is_json_type(value: &str) -> bool {
    if value == "application/json" {
        return true;
    }
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
