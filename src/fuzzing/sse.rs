//! Events: what is encoded as one is read back as it was, whatever stands around it.

use bytes::Bytes;

use crate::layers::streamable_http::{comment, event};
use crate::service::Payload;
use crate::wire::json::{Document, MAX_DEPTH};

use super::events::events;
use super::halves;

/// The first line says where messages are cut into pieces and where comments stand; all lines from
/// there on are messages, in which `\r` and `\f` stand for line breaks.
pub fn sse(data: &[u8]) {
    let (cuts, rest) = halves(data);
    let mut stream = Vec::new();
    let mut sent = Vec::new();
    for (at, line) in rest.split(|b| *b == b'\n').enumerate() {
        let Ok(text) = String::from_utf8(line.to_vec()) else {
            continue;
        };
        let text = text.replace('\u{c}', "\n");
        let Ok(document) = Document::parse(text.clone().into_bytes(), MAX_DEPTH) else {
            continue;
        };
        let cut = usize::from(cuts.get(at).copied().unwrap_or(0));
        if cut % 3 == 0 {
            stream.extend_from_slice(&comment());
        }
        let message = event(pieces(&text, cut));
        assert_eq!(message.len(), message.clone().into_bytes().len());
        stream.extend_from_slice(&message.into_bytes());
        sent.push(document);
    }
    let received = events(&stream);
    assert_eq!(received.len(), sent.len(), "one event for each message");
    for (received, sent) in received.iter().zip(&sent) {
        // Line breaks stand between tokens alone, and are blanks for that matter.
        let expected = sent.text().replace(['\r', '\n'], " ");
        assert_eq!(*received, expected);
        let read = serde_json::from_str::<&serde_json::value::RawValue>(received);
        assert!(read.is_ok(), "{received}");
    }
}

/// A message in pieces of this length.
fn pieces(text: &str, length: usize) -> Payload {
    let mut payload = Payload::default();
    for piece in text.as_bytes().chunks(length.max(1)) {
        payload.push(Bytes::copy_from_slice(piece));
    }
    payload
}
