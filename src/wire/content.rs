//! Content: what results and prompts are made of.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::icon::{Icon, push_icons};
use super::json::{ObjectWriter, RawJson, push_str};
use super::version::Features;

/// One block of content.
///
/// ```
/// use portcullis::wire::{Annotations, Content};
///
/// let text = Content::text("42").annotations(Annotations::new().priority("0"));
/// let image = Content::image(b"...", "image/png");
/// # let _ = (text, image);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    body: Body,
    annotations: Option<Box<Annotations>>,
    meta: Option<RawJson>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Body {
    Text(String),
    Image { data: String, mime_type: String },
    Audio { data: String, mime_type: String },
    // Rare and large, so that the others stay small.
    Link(Box<ResourceLink>),
    Embedded(Box<ResourceContents>),
}

/// A link to a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceLink {
    uri: String,
    name: String,
    title: Option<String>,
    description: Option<String>,
    mime_type: Option<String>,
    size: Option<u64>,
    icons: Vec<Icon>,
}

/// What a resource holds: text or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceContents {
    uri: String,
    mime_type: Option<String>,
    body: ResourceBody,
    meta: Option<RawJson>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ResourceBody {
    Text(String),
    /// Base64.
    Blob(String),
}

/// Hints on how to use something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    audience: Vec<Role>,
    /// A decimal, kept as it was given.
    priority: Option<String>,
    last_modified: Option<String>,
}

/// Who speaks or is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Content {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from(Body::Text(text.into()))
    }

    /// An image from its bytes.
    pub fn image(data: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::from(Body::Image {
            data: STANDARD.encode(data),
            mime_type: mime_type.into(),
        })
    }

    /// Sound from its bytes.
    pub fn audio(data: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::from(Body::Audio {
            data: STANDARD.encode(data),
            mime_type: mime_type.into(),
        })
    }

    /// A link to a resource.
    pub fn link(link: ResourceLink) -> Self {
        Self::from(Body::Link(Box::new(link)))
    }

    /// A resource itself.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::from(Body::Embedded(Box::new(contents)))
    }

    fn from(body: Body) -> Self {
        Self {
            body,
            annotations: None,
            meta: None,
        }
    }

    /// Hints on this block.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(Box::new(annotations));
        self
    }

    /// The member `_meta` of this block: an object.
    #[must_use]
    pub fn meta(mut self, meta: RawJson) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The text, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What of it may be long.
    pub(crate) fn bulk(&self) -> &str {
        match &self.body {
            Body::Text(text) => text,
            Body::Image { data, .. } | Body::Audio { data, .. } => data,
            Body::Link(_) => "",
            Body::Embedded(contents) => contents.bulk(),
        }
    }

    /// Appends the block. What the version does not know becomes text that says what it was.
    pub(crate) fn push(&self, out: &mut Vec<u8>, features: Features) {
        let mut object = ObjectWriter::new(out);
        match &self.body {
            Body::Text(text) => _ = object.raw("type", "\"text\"").string("text", text),
            Body::Image { data, mime_type } => push_media(&mut object, "image", data, mime_type),
            Body::Audio { data, mime_type } if features.audio() => {
                push_media(&mut object, "audio", data, mime_type);
            }
            Body::Audio { mime_type, .. } => {
                let note = format!("[audio content of type {mime_type}]");
                object.raw("type", "\"text\"").string("text", &note);
            }
            Body::Link(link) if features.resource_links() => {
                object.raw("type", "\"resource_link\"");
                link.push_members(&mut object, features);
            }
            Body::Link(link) => {
                let note = format!("{}: {}", link.name, link.uri);
                object.raw("type", "\"text\"").string("text", &note);
            }
            Body::Embedded(contents) => {
                object.raw("type", "\"resource\"");
                contents.push(object.value("resource"), features);
            }
        }
        if let Some(annotations) = &self.annotations {
            annotations.push(object.value("annotations"), features);
        }
        if features.titles() {
            object.optional_raw("_meta", self.meta.as_ref().map(RawJson::text));
        }
        object.end();
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

fn push_media(object: &mut ObjectWriter<'_>, kind: &str, data: &str, mime_type: &str) {
    object.string("type", kind);
    // The base64 alphabet needs no escapes.
    let value = object.value("data");
    value.reserve(data.len() + 2);
    value.push(b'"');
    value.extend_from_slice(data.as_bytes());
    value.push(b'"');
    object.string("mimeType", mime_type);
}

impl ResourceLink {
    /// A link by URI and name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            icons: Vec::new(),
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it is.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// The size in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Adds an icon.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    pub(super) fn push_members(&self, object: &mut ObjectWriter<'_>, features: Features) {
        object.string("uri", &self.uri).string("name", &self.name);
        if features.titles() {
            object.optional_string("title", self.title.as_deref());
        }
        object.optional_string("description", self.description.as_deref());
        object.optional_string("mimeType", self.mime_type.as_deref());
        if let Some(size) = self.size {
            object.number("size", size);
        }
        push_icons(object, &self.icons, features);
    }
}

impl ResourceContents {
    /// What of it may be long.
    pub(crate) fn bulk(&self) -> &str {
        match &self.body {
            ResourceBody::Text(text) | ResourceBody::Blob(text) => text,
        }
    }

    /// Text, possibly empty.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            body: ResourceBody::Text(text.into()),
            meta: None,
        }
    }

    /// Bytes, possibly none.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            body: ResourceBody::Blob(STANDARD.encode(bytes)),
            meta: None,
        }
    }

    /// The media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// The member `_meta` of the resource: an object.
    #[must_use]
    pub fn meta(mut self, meta: RawJson) -> Self {
        self.meta = Some(meta);
        self
    }

    pub(crate) fn push(&self, out: &mut Vec<u8>, features: Features) {
        let mut object = ObjectWriter::new(out);
        object.string("uri", &self.uri);
        object.optional_string("mimeType", self.mime_type.as_deref());
        match &self.body {
            ResourceBody::Text(text) => object.string("text", text),
            ResourceBody::Blob(data) => object.string("blob", data),
        };
        if features.titles() {
            object.optional_raw("_meta", self.meta.as_ref().map(RawJson::text));
        }
        object.end();
    }
}

impl Annotations {
    /// No hints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds somebody this is for.
    #[must_use]
    pub fn audience(mut self, role: Role) -> Self {
        self.audience.push(role);
        self
    }

    /// How much it matters, a decimal from 0 to 1, written as it is given here. Anything else is
    /// left out.
    #[must_use]
    pub fn priority(mut self, priority: impl Into<String>) -> Self {
        let priority = priority.into();
        let inside = priority
            .parse::<f64>()
            .is_ok_and(|p| (0.0..=1.0).contains(&p));
        let is_json = RawJson::parse(priority.as_str()).is_ok();
        self.priority = (inside && is_json).then_some(priority);
        self
    }

    /// When it was changed last: ISO 8601.
    #[must_use]
    pub fn last_modified(mut self, moment: impl Into<String>) -> Self {
        self.last_modified = Some(moment.into());
        self
    }

    pub(super) fn push(&self, out: &mut Vec<u8>, features: Features) {
        let mut object = ObjectWriter::new(out);
        if !self.audience.is_empty() {
            object.array("audience", &self.audience, |out, role| {
                push_str(out, role.name());
            });
        }
        object.optional_raw("priority", self.priority.as_deref());
        if features.titles() {
            object.optional_string("lastModified", self.last_modified.as_deref());
        }
        object.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ProtocolVersion;

    fn encoded(content: &Content, version: ProtocolVersion) -> String {
        let mut out = Vec::new();
        content.push(&mut out, version.features());
        String::from_utf8(out).unwrap()
    }

    /// Contract: S-052, S-053.
    #[test]
    fn empty_bodies_and_priority_zero_stay() {
        let latest = ProtocolVersion::July2026;
        let text = Content::resource(ResourceContents::text("a:b", ""));
        assert_eq!(
            encoded(&text, latest),
            r#"{"type":"resource","resource":{"uri":"a:b","text":""}}"#
        );
        let blob = Content::resource(ResourceContents::blob("a:b", ""));
        assert!(encoded(&blob, latest).contains(r#""blob":"""#));
        let zero = Content::text("").annotations(Annotations::new().priority("0"));
        assert_eq!(
            encoded(&zero, latest),
            r#"{"type":"text","text":"","annotations":{"priority":0}}"#
        );
    }

    /// Contract: S-051.
    #[test]
    fn all_six_kinds_are_written() {
        let latest = ProtocolVersion::July2026;
        let link = ResourceLink::new("a:b", "n")
            .title("t")
            .size(0)
            .icon(Icon::new("https://i"));
        let cases = [
            (Content::text("x"), r#"{"type":"text","text":"x"}"#),
            (
                Content::image(b"\0", "image/png"),
                r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
            ),
            (
                Content::audio(b"\0", "audio/wav"),
                r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#,
            ),
            (
                Content::link(link),
                r#"{"type":"resource_link","uri":"a:b","name":"n","title":"t","size":0,"icons":[{"src":"https://i"}]}"#,
            ),
        ];
        for (content, expected) in cases {
            assert_eq!(encoded(&content, latest), expected);
        }
    }

    #[test]
    fn older_versions_get_text_for_what_they_do_not_know() {
        let first = ProtocolVersion::November2024;
        let audio = encoded(&Content::audio(b"\0", "audio/wav"), first);
        assert_eq!(
            audio,
            r#"{"type":"text","text":"[audio content of type audio/wav]"}"#
        );
        let link = encoded(&Content::link(ResourceLink::new("a:b", "n")), first);
        assert_eq!(link, r#"{"type":"text","text":"n: a:b"}"#);
    }
}
