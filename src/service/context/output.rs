//! What an operation gives back, and how that is written for the wire.

use crate::wire::json::{Kind, ObjectWriter, RawJson, push_str};
use crate::wire::{Content, Features, StructuredContent};

use super::failure::Failure;

/// The result of an operation: content for the model, a structured value for programs, or both.
///
/// Most handlers return something simpler that becomes one of these.
#[derive(Clone, Debug, Default)]
pub struct Output {
    content: Vec<Content>,
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
        self.content.push(content.into());
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
    pub fn blocks(&self) -> &[Content] {
        &self.content
    }

    /// The structured value, if there is one.
    pub fn value(&self) -> Option<&RawJson> {
        self.structured.as_ref()
    }

    pub(crate) fn take_meta(&mut self) -> Option<RawJson> {
        self.meta.take()
    }

    /// Writes the members of the result.
    pub(crate) fn encode(&self, shape: Shape, features: Features) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.size_hint());
        let mut object = ObjectWriter::members(&mut out);
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
        push_content(object.value("content"), &self.content, copy, features);
        if let Some(value) = &value {
            let is_object = shape == Shape::Wrapped
                || self
                    .structured
                    .as_ref()
                    .is_some_and(|value| value.node().kind() == Kind::Object);
            push_structured(&mut object, value, is_object, features);
        }
        out
    }

    /// Whether clients that do not know structured values would miss this one.
    fn needs_copy(&self, value: &str) -> bool {
        let mut texts = self.content.iter().filter_map(Content::as_text).peekable();
        let is_object = value.starts_with('{');
        texts.peek().is_none() || (!is_object && !texts.any(|text| text == value))
    }

    fn size_hint(&self) -> usize {
        let content = |block: &Content| block.as_text().map_or(256, |text| text.len() + 64);
        let structured = self
            .structured
            .as_ref()
            .map_or(0, |value| 2 * value.text().len() + 64);
        32 + self.content.iter().map(content).sum::<usize>() + structured
    }
}

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
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        let mut object = ObjectWriter::members(&mut out);
        let mut envelope = Vec::with_capacity(128);
        self.push_envelope(&mut envelope);
        let envelope = text(envelope);
        let copy = match shape {
            Shape::Plain => self.message(),
            Shape::Wrapped => &envelope,
        };
        push_content(object.value("content"), self.blocks(), Some(copy), features);
        if shape == Shape::Wrapped || !declares_output {
            push_structured(&mut object, &envelope, true, features);
        }
        object.boolean("isError", true);
        out
    }
}

fn push_content(out: &mut Vec<u8>, blocks: &[Content], copy: Option<&str>, features: Features) {
    out.push(b'[');
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        block.push(out, features);
    }
    if let Some(copy) = copy {
        if !blocks.is_empty() {
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
    let known = match features.structured_content() {
        StructuredContent::Absent => false,
        StructuredContent::Objects => is_object,
        StructuredContent::Anything => true,
    };
    if known {
        object.raw("structuredContent", value);
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
        text(output.encode(Shape::Plain, version.features()))
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

    /// Contract: S-040, S-041.
    #[test]
    fn null_is_a_value_and_nothing_is_not() {
        let latest = ProtocolVersion::July2026;
        let null = Output::new().structured(value("null"));
        assert!(plain(&null, latest).ends_with(r#""structuredContent":null"#));
        let wrapped = text(null.encode(Shape::Wrapped, latest.features()));
        assert!(wrapped.ends_with(r#""structuredContent":{"value":null}"#));
        assert_eq!(plain(&Output::new(), latest), r#""content":[]"#);
    }

    #[test]
    fn failures_are_text_and_an_envelope() {
        let features = ProtocolVersion::July2026.features();
        let failure = Failure::new("gone", "it is gone").content("partial");
        let encoded = text(failure.encode(Shape::Plain, true, features));
        assert_eq!(
            encoded,
            r#""content":[{"type":"text","text":"partial"},{"type":"text","text":"it is gone"}],"isError":true"#
        );
        let encoded = text(failure.encode(Shape::Wrapped, true, features));
        assert!(encoded.contains(r#""structuredContent":{"failure":{"code":"gone","message":"it is gone","retryable":false}}"#));
    }
}
