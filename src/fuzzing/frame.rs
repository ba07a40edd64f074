//! The scan and its index against `serde_json`: what is accepted, and what every value is.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::wire::json::{Document, Kind, MAX_DEPTH, Node, SyntaxErrorKind, quote};
use crate::wire::{Frame, Message, RequestId};

use super::tokens::Tokens;

/// We accept what `serde_json` accepts, apart from the refusals we state, and read the same in it.
pub fn frame(data: &[u8]) {
    let ours = Document::parse(data.to_vec(), MAX_DEPTH);
    let Ok(theirs) = serde_json::from_slice::<&RawValue>(data) else {
        let error = ours.expect_err("serde_json refuses it");
        assert!(error.offset() <= data.len(), "{error}");
        return;
    };
    let text = std::str::from_utf8(data).expect("serde_json accepts it");
    let tokens = Tokens::of(text);
    let refusals = [
        (SyntaxErrorKind::TooDeep, tokens.depth > MAX_DEPTH),
        (SyntaxErrorKind::LoneSurrogate, tokens.has_lone_surrogate),
        (SyntaxErrorKind::ReservedName, tokens.has_reserved_name),
    ];
    match ours {
        Ok(document) => {
            for (kind, holds) in refusals {
                assert!(!holds, "accepted in spite of {kind}");
            }
            let mut repeated = None;
            let texts = Texts {
                ours: document.text(),
                theirs: text,
            };
            same(document.root(), theirs, texts, &mut repeated);
            let found = document.duplicate().map(|duplicate| duplicate.offset);
            assert_eq!(found, repeated, "the first name that stands twice");
            depth_is_exact(data, tokens.depth);
            message(data, repeated.is_some());
        }
        Err(error) => {
            let stated = refusals
                .iter()
                .any(|(kind, holds)| *kind == error.kind() && *holds);
            assert!(stated, "{error}");
        }
    }
}

/// The two copies of the text that offsets are counted from.
#[derive(Clone, Copy)]
struct Texts<'a> {
    ours: &'a str,
    theirs: &'a str,
}

impl Texts<'_> {
    /// Where a part of our text stands in it.
    fn our_offset(self, part: &str) -> usize {
        part.as_ptr() as usize - self.ours.as_ptr() as usize
    }

    /// Where a part of their text stands in it.
    fn their_offset(self, part: &str) -> usize {
        part.as_ptr() as usize - self.theirs.as_ptr() as usize
    }
}

/// Compares a value of ours with theirs, and all there is in it. Notes the first repeated name.
fn same(node: Node<'_>, raw: &RawValue, texts: Texts<'_>, repeated: &mut Option<usize>) {
    let text = raw.get();
    assert_eq!(node.text(), text);
    assert_eq!(texts.our_offset(node.text()), texts.their_offset(text));
    let kind = match text.as_bytes()[0] {
        b'n' => Kind::Null,
        b'f' => Kind::False,
        b't' => Kind::True,
        b'"' => Kind::String,
        b'[' => Kind::Array,
        b'{' => Kind::Object,
        _ => Kind::Number,
    };
    assert_eq!(node.kind(), kind, "{text}");
    assert_eq!(node.is_null(), kind == Kind::Null);
    assert_eq!(node.as_number(), (kind == Kind::Number).then_some(text));
    let is_flag = matches!(kind, Kind::True | Kind::False);
    assert_eq!(node.as_bool(), is_flag.then_some(kind == Kind::True));
    match kind {
        Kind::Number => {
            let plain = !text.contains(['.', 'e', 'E']);
            assert_eq!(node.is_written_as_integer(), plain, "{text}");
        }
        Kind::String => {
            let theirs: String = serde_json::from_str(text).expect("a string");
            assert_eq!(node.as_str().as_deref(), Some(&*theirs), "{text}");
            assert_eq!(
                quote(&theirs),
                serde_json::to_string(&theirs).expect("a string")
            );
        }
        Kind::Array => {
            let theirs: Vec<&RawValue> = serde_json::from_str(text).expect("an array");
            assert_eq!(node.len(), theirs.len(), "{text}");
            assert_eq!(node.elements().len(), theirs.len(), "{text}");
            for (element, raw) in node.elements().zip(theirs) {
                same(element, raw, texts, repeated);
            }
        }
        Kind::Object => members(node, raw, texts, repeated),
        Kind::Null | Kind::False | Kind::True => {}
    }
    if kind != Kind::Object {
        assert!(node.get("").is_none() && node.members().next().is_none());
    }
    if kind != Kind::Array {
        assert!(node.elements().next().is_none());
    }
}

fn members(node: Node<'_>, raw: &RawValue, texts: Texts<'_>, repeated: &mut Option<usize>) {
    let text = raw.get();
    let Pairs(theirs) = serde_json::from_str(text).expect("an object");
    assert_eq!(node.len(), theirs.len(), "{text}");
    assert_eq!(node.members().len(), theirs.len(), "{text}");
    let mut first: HashMap<String, &str> = HashMap::new();
    for ((name, value), (raw_name, raw_value)) in node.members().zip(theirs) {
        let their_name: String = serde_json::from_str(raw_name.get()).expect("a name");
        assert_eq!(name, their_name, "{text}");
        if first.contains_key(&their_name) {
            let at = texts.their_offset(raw_name.get());
            *repeated = Some(repeated.map_or(at, |earlier| earlier.min(at)));
        }
        first.entry(their_name).or_insert(raw_value.get());
        same(value, raw_value, texts, repeated);
    }
    for name in first.keys() {
        let [longer, shorter] = [format!("{name}\u{1}"), name.chars().skip(1).collect()];
        for name in [name, &longer, &shorter] {
            let found = node.get(name).map(|found| texts.our_offset(found.text()));
            let expected = first.get(name).map(|value| texts.their_offset(value));
            assert_eq!(found, expected, "{name:?} in {text}");
        }
    }
}

/// An object as it is written: all its members, in their order.
struct Pairs<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}

/// The bound on nesting is exactly the depth there is.
fn depth_is_exact(data: &[u8], depth: u32) {
    assert!(Document::parse(data.to_vec(), depth).is_ok());
    if let Some(less) = depth.checked_sub(1) {
        let error = Document::parse(data.to_vec(), less).expect_err("it nests deeper");
        assert_eq!(error.kind(), SyntaxErrorKind::TooDeep);
    }
}

/// What the text is as a message follows from its members alone.
fn message(data: &[u8], has_duplicate: bool) {
    let frame = Frame::parse(data.to_vec(), MAX_DEPTH).expect("it was accepted");
    let root = Document::parse(data.to_vec(), MAX_DEPTH).expect("it was accepted");
    let root = root.root();
    assert_eq!(frame.text().as_bytes(), data);
    assert_eq!(frame.duplicate().is_some(), has_duplicate);
    let method = root.get("method").and_then(Node::as_str);
    assert_eq!(frame.method(), method);
    match frame.message() {
        Message::Request(call) => {
            assert!(
                root.is_object()
                    && root.get("jsonrpc").and_then(Node::as_str).as_deref() == Some("2.0")
            );
            let id = call.id.as_ref().map(RequestId::text);
            assert_eq!(id, root.get("id").map(Node::text));
            assert_eq!(method.as_deref(), Some(call.method.name()));
        }
        Message::Notification(call) => {
            assert!(call.id.is_none() && root.get("id").is_none());
            assert_eq!(method.as_deref(), Some(call.method.name()));
        }
        Message::Response(id) => {
            assert_eq!(Some(id.text()), root.get("id").map(Node::text));
            assert!(root.get("result").is_some() != root.get("error").is_some());
        }
        Message::Batch => assert_eq!(root.kind(), Kind::Array),
        Message::Invalid { id, .. } => {
            let text = root.get("id").map(Node::text);
            assert!(id.is_none_or(|id| Some(id.text()) == text));
        }
    }
}
