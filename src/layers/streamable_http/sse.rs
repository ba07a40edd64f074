//! Messages as server-sent events: one message, one event, one line of data.

use bytes::Bytes;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, Response};

use crate::layers::body::Body;
use crate::service::Payload;

/// A message as an event.
pub(crate) fn event(message: Payload) -> Payload {
    let mut event = Payload::from(Bytes::from_static(b"data: "));
    let message = message.on_one_line();
    message.pieces().for_each(|piece| event.push(piece.clone()));
    event.push(Bytes::from_static(b"\n\n"));
    event
}

/// What keeps a silent stream alive.
pub(crate) fn comment() -> Bytes {
    Bytes::from_static(b":\n\n")
}

/// A response whose body is a stream of events.
pub(super) fn response(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    mark(response.headers_mut());
    response
}

fn mark(headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that buffer would hold back events until many have come.
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_of_data() {
        let message = Payload::from(b"{\n\"a\":\r\n\"b\\nc\"}".to_vec());
        assert_eq!(
            event(message).into_bytes(),
            "data: { \"a\":  \"b\\nc\"}\n\n"
        );
    }
}
