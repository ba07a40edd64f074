//! Answers of layers on the HTTP plane: a status and, where it helps, a JSON-RPC error.

use http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use crate::service::{Outbound, Payload};
use crate::wire::{Error, Refusal};

use super::body::Body;
use super::rescue::{FromRefusal, Rescuable};

/// A refusal without an id: nothing of the request was read, or nothing that counts.
pub(super) fn refuse(status: StatusCode, error: &Error) -> Response<Body> {
    let outbound = Outbound::error(None, error, None).status(status.as_u16());
    respond(outbound)
}

/// 405, with the methods there are.
pub(super) fn method_not_allowed(allowed: &'static str) -> Response<Body> {
    let error = Error::invalid_request("this endpoint takes messages by POST");
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, &error);
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// An answer of the frame plane as JSON; none is an accepted notification.
pub(super) fn respond(outbound: Outbound) -> Response<Body> {
    match outbound.payload {
        Some(payload) => with_body(outbound.hints, payload, JSON),
        None => {
            let mut response = Response::new(Body::empty());
            apply(&mut response, outbound.hints);
            response
        }
    }
}

/// A message with its content type.
pub(super) fn with_body(
    hints: crate::service::Hints,
    payload: Payload,
    content_type: HeaderValue,
) -> Response<Body> {
    let mut response = Response::new(Body::from(payload));
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    apply(&mut response, hints);
    response
}

fn apply(response: &mut Response<Body>, hints: crate::service::Hints) {
    *response.status_mut() = StatusCode::from_u16(hints.status).unwrap_or(StatusCode::OK);
    for (name, value) in hints.headers {
        match HeaderValue::try_from(value) {
            Ok(value) => {
                _ = response
                    .headers_mut()
                    .insert(HeaderName::from_static(name), value);
            }
            Err(_) => tracing::warn!(target: "portcullis::http", name, "a header cannot be sent"),
        }
    }
}

/// On the HTTP plane nothing of the message is known yet.
impl<B> Rescuable for http::Request<B> {
    type Context = ();

    fn context(&self) {}
}

impl FromRefusal<()> for Response<Body> {
    fn from_refusal(refusal: Refusal, (): ()) -> Self {
        let outbound = Outbound::error(None, &Error::refused(refusal), None);
        let status = match outbound.hints.status {
            200 if refusal == Refusal::Timeout => 504,
            200 => 500,
            status => status,
        };
        respond(outbound.status(status))
    }
}

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
