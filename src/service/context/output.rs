//! What an operation gives back, and how that is written for the wire.

use crate::wire::json::{Kind, ObjectWriter, RawJson, escaped_len, exceed, push_str};
use crate::wire::{Content, Features, StructuredContent};

use super::failure::Failure;
use super::members::Members;

/// The result of an operation: content for the model, a structured value for programs, or both.
///
/// Most handlers return something simpler that becomes one of these.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Most outputs are one block: no list is made for it.
    first: Option<Content>,
    rest: Vec<Content>,
    structured: Option<RawJson>,
    meta: Option<RawJson>,
}

/// How the outcome of an operation is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// As the operation gave it.
    #[default]
    Plain,
    /// Inside `{"value":…}` or `{"failure":…}`.
    Wrapped,
}

impl Output {
    /// No content yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a block of content.
    #[must_use]
    pub fn content(mut self, content: impl Into<Content>) -> Self {
        if self.first.is_none() {
            self.first = Some(content.into());
        } else {
            self.rest.push(content.into());
        }
        self
    }

    /// The structured value; `null` is a value.
    #[must_use]
    pub fn structured(mut self, value: RawJson) -> Self {
        self.structured = Some(value);
        self
    }

    /// The member `_meta` of the result: an object.
    #[must_use]
    pub fn meta(mut self, meta: RawJson) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The blocks of content.
    pub fn blocks(&self) -> impl Iterator<Item = &Content> + Clone {
        self.first.iter().chain(&self.rest)
    }

    /// The structured value, if there is one.
    pub fn value(&self) -> Option<&RawJson> {
        self.structured.as_ref()
    }

    pub(crate) fn take_meta(&mut self) -> Option<RawJson> {
        self.meta.take()
    }

    /// Writes the members of the result.
    pub(crate) fn encode(&self, shape: Shape, features: Features) -> Members {
        Members::write(self.size_hint(), |out| self.push(out, shape, features))
    }

    fn push(&self, out: &mut Vec<u8>, shape: Shape, features: Features) {
        let mut object = ObjectWriter::members(out);
        let value = self.structured.as_ref().map(|value| match shape {
            Shape::Plain => value.text().into(),
            Shape::Wrapped => {
                let mut wrapped = Vec::with_capacity(value.text().len() + 12);
                ObjectWriter::new(&mut wrapped)
                    .raw("value", value.text())
                    .end();
                std::borrow::Cow::Owned(text(wrapped))
            }
        });
        let copy = value
            .as_deref()
            .filter(|value| shape == Shape::Wrapped || self.needs_copy(value));
        push_content(object.value("content"), self.blocks(), copy, features);
        if let Some(value) = &value {
            let is_object = shape == Shape::Wrapped
                || self
                    .structured
                    .as_ref()
                    .is_some_and(|value| value.node().kind() == Kind::Object);
            push_structured(&mut object, value, is_object, features);
        }
    }

    /// Whether the members take more than `most` bytes, as far as that can be told without writing
    /// them.
    pub(crate) fn exceeds(&self, most: usize, features: Features) -> bool {
        let value = self.structured.as_ref().map(RawJson::text);
        let copy = value.filter(|value| self.needs_copy(value));
        let texts = self.blocks().map(Content::bulk).chain(copy);
        let shown = value.filter(|value| is_shown(value.starts_with('{'), features));
        match most.checked_sub(shown.map_or(0, str::len)) {
            Some(most) => exceed(most, texts),
            None => true,
        }
    }

    /// Whether clients that do not know structured values would miss this one.
    fn needs_copy(&self, value: &str) -> bool {
        let mut texts = self.blocks().filter_map(Content::as_text).peekable();
        let is_object = value.starts_with('{');
        texts.peek().is_none() || (!is_object && !texts.any(|text| text == value))
    }

    fn size_hint(&self) -> usize {
        // Exact for one block of text that needs no escapes: the buffer is then full, and needs no
        // record of how large it is.
        let content = |block: &Content| block.as_text().map_or(256, |text| text.len() + 25);
        let structured = self
            .structured
            .as_ref()
            .map_or(0, |value| value.text().len() + copied(value.text()) + 64);
        let commas = self.rest.len();
        let room = 12 + self.blocks().map(content).sum::<usize>() + commas + structured;
        // What follows the members of a long result must not move it.
        if room < LONG { room } else { room + TAIL }
    }
}

/// Room for a value as a text. That of a long one is exact: to find out costs less than to move it.
fn copied(value: &str) -> usize {
    if value.len() < LONG {
        value.len()
    } else {
        escaped_len(value)
    }
}

/// A value that is not moved if it can be helped, in bytes.
const LONG: usize = 64 * 1024;
/// What follows the members of nearly every result, in bytes.
const TAIL: usize = 512;

impl Failure {
    /// Writes the members of the result.
    ///
    /// A plain failure is text; clients check structured values against the output schema the tool
    /// declares, so the envelope is there only if it declares none.
    pub(crate) fn encode(
        &self,
        shape: Shape,
        declares_output: bool,
        features: Features,
    ) -> Members {
        Members::write(256, |out| self.push(out, shape, declares_output, features))
    }

    fn push(&self, out: &mut Vec<u8>, shape: Shape, declares_output: bool, features: Features) {
        let mut object = ObjectWriter::members(out);
        let mut envelope = Vec::with_capacity(128);
        self.push_envelope(&mut envelope);
        let envelope = text(envelope);
        let copy = match shape {
            Shape::Plain => self.message(),
            Shape::Wrapped => &envelope,
        };
        push_content(
            object.value("content"),
            self.blocks().iter(),
            Some(copy),
            features,
        );
        if shape == Shape::Wrapped || !declares_output {
            push_structured(&mut object, &envelope, true, features);
        }
        object.boolean("isError", true);
    }
}

fn push_content<'a>(
    out: &mut Vec<u8>,
    blocks: impl Iterator<Item = &'a Content>,
    copy: Option<&str>,
    features: Features,
) {
    out.push(b'[');
    let mut comma = false;
    for block in blocks {
        if std::mem::replace(&mut comma, true) {
            out.push(b',');
        }
        block.push(out, features);
    }
    if let Some(copy) = copy {
        if comma {
            out.push(b',');
        }
        let mut object = ObjectWriter::new(out);
        push_str(object.raw("type", "\"text\"").value("text"), copy);
        object.end();
    }
    out.push(b']');
}

fn push_structured(
    object: &mut ObjectWriter<'_>,
    value: &str,
    is_object: bool,
    features: Features,
) {
    if is_shown(is_object, features) {
        object.raw("structuredContent", value);
    }
}

/// Whether the version knows such a structured value.
fn is_shown(is_object: bool, features: Features) -> bool {
    match features.structured_content() {
        StructuredContent::Absent => false,
        StructuredContent::Objects => is_object,
        StructuredContent::Anything => true,
    }
}

/// What the writers write is UTF-8.
fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ProtocolVersion;

    fn plain(output: &Output, version: ProtocolVersion) -> String {
        shown(&output.encode(Shape::Plain, version.features()))
    }

    fn shown(members: &Members) -> String {
        text(members.as_slice().to_vec())
    }

    fn value(json: &str) -> RawJson {
        RawJson::parse(json).unwrap()
    }

    #[test]
    fn structured_values_are_copied_into_text_where_no_text_is() {
        let latest = ProtocolVersion::July2026;
        let bare = Output::new().structured(value(r#"{"n": 1e400}"#));
        assert_eq!(
            plain(&bare, latest),
            r#""content":[{"type":"text","text":"{\"n\": 1e400}"}],"structuredContent":{"n": 1e400}"#
        );
        let told = Output::new().content("one").structured(value(r#"{"n":1}"#));
        assert_eq!(
            plain(&told, latest),
            r#""content":[{"type":"text","text":"one"}],"structuredContent":{"n":1}"#
        );
        // Clients that know only objects must find an array in the text.
        let array = Output::new().content("one").structured(value("[]"));
        let encoded = plain(&array, ProtocolVersion::November2025);
        assert_eq!(
            encoded,
            r#""content":[{"type":"text","text":"one"},{"type":"text","text":"[]"}]"#
        );
    }

    /// What is told without writing is never more than what is written, and nearly as much.
    ///
    /// Contract: S-105.
    #[test]
    fn what_is_too_large_is_told_without_writing_it() {
        let quotes = "\\\"".repeat(1000);
        let outputs = [
            Output::new().content("\u{1}".repeat(1000)),
            Output::new()
                .content("x".repeat(1000))
                .content("\"".repeat(1000)),
            Output::new().content(Content::image([7; 1000], "image/png")),
            Output::new().structured(value(&format!("[{}1]", "\"\",".repeat(1000)))),
            Output::new().structured(value(&format!("{{\"a\":\"{quotes}\"}}"))),
        ];
        for output in outputs {
            for version in ProtocolVersion::ALL {
                let features = version.features();
                for shape in [Shape::Plain, Shape::Wrapped] {
                    let length = output.encode(shape, features).len();
                    assert!(!output.exceeds(length, features), "{length} {output:?}");
                }
                let length = output.encode(Shape::Plain, features).len();
                assert!(
                    output.exceeds(length - 200, features),
                    "{length} {output:?}"
                );
            }
        }
    }

    /// Contract: S-040, S-041.
    #[test]
    fn null_is_a_value_and_nothing_is_not() {
        let latest = ProtocolVersion::July2026;
        let null = Output::new().structured(value("null"));
        assert!(plain(&null, latest).ends_with(r#""structuredContent":null"#));
        let wrapped = shown(&null.encode(Shape::Wrapped, latest.features()));
        assert!(wrapped.ends_with(r#""structuredContent":{"value":null}"#));
        assert_eq!(plain(&Output::new(), latest), r#""content":[]"#);
    }

    #[test]
    fn failures_are_text_and_an_envelope() {
        let features = ProtocolVersion::July2026.features();
        let failure = Failure::new("gone", "it is gone").content("partial");
        let encoded = shown(&failure.encode(Shape::Plain, true, features));
        assert_eq!(
            encoded,
            r#""content":[{"type":"text","text":"partial"},{"type":"text","text":"it is gone"}],"isError":true"#
        );
        let encoded = shown(&failure.encode(Shape::Wrapped, true, features));
        assert!(encoded.contains(r#""structuredContent":{"failure":{"code":"gone","message":"it is gone","retryable":false}}"#));
    }
}
