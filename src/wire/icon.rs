//! Icons, and who made something: shapes that several definitions share.

use super::json::{ObjectWriter, push_array, push_str};
use super::version::Features;

/// An icon a client may show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icon {
    src: String,
    mime_type: Option<String>,
    sizes: Vec<String>,
    theme: Option<Theme>,
}

/// The background an icon is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Light backgrounds.
    Light,
    /// Dark backgrounds.
    Dark,
}

impl Icon {
    /// An icon at an `https:` or `data:` URI.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            mime_type: None,
            sizes: Vec::new(),
            theme: None,
        }
    }

    /// The media type, where the URI does not tell it.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Adds a size such as `48x48`, or `any`.
    #[must_use]
    pub fn size(mut self, size: impl Into<String>) -> Self {
        self.sizes.push(size.into());
        self
    }

    /// The background it is made for.
    #[must_use]
    pub fn theme(mut self, theme: Theme) -> Self {
        self.theme = Some(theme);
        self
    }

    fn push(&self, out: &mut Vec<u8>) {
        let mut object = ObjectWriter::new(out);
        object.string("src", &self.src);
        object.optional_string("mimeType", self.mime_type.as_deref());
        if !self.sizes.is_empty() {
            object.array("sizes", &self.sizes, |out, size| push_str(out, size));
        }
        if let Some(theme) = self.theme {
            object.string(
                "theme",
                if theme == Theme::Light {
                    "light"
                } else {
                    "dark"
                },
            );
        }
        object.end();
    }
}

/// Writes the member `icons`, for versions that know it.
pub(super) fn push_icons(object: &mut ObjectWriter<'_>, icons: &[Icon], features: Features) {
    if features.icons() && !icons.is_empty() {
        push_array(object.value("icons"), icons, |out, icon| icon.push(out));
    }
}

/// Who a server (or a client) is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    name: String,
    version: String,
    title: Option<String>,
    description: Option<String>,
    website_url: Option<String>,
    icons: Vec<Icon>,
}

impl Implementation {
    /// A name for programs and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            title: None,
            description: None,
            website_url: None,
            icons: Vec::new(),
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it does.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Where to read more.
    #[must_use]
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.website_url = Some(url.into());
        self
    }

    /// Adds an icon.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// The name for programs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn push(&self, out: &mut Vec<u8>, features: Features) {
        let mut object = ObjectWriter::new(out);
        object.string("name", &self.name);
        object.string("version", &self.version);
        if features.titles() {
            object.optional_string("title", self.title.as_deref());
        }
        if features.icons() {
            object.optional_string("description", self.description.as_deref());
            object.optional_string("websiteUrl", self.website_url.as_deref());
        }
        push_icons(&mut object, &self.icons, features);
        object.end();
    }
}
