//! What lists are made of: definitions of tools, resources, templates and prompts.

use super::content::Annotations;
use super::icon::{Icon, push_icons};
use super::json::{Node, ObjectWriter, RawJson};
use super::version::{Features, StructuredContent};

/// A tool as lists show it.
#[derive(Clone, Debug)]
pub struct ToolDefinition {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) input_schema: RawJson,
    pub(crate) output_schema: Option<RawJson>,
    pub(crate) hints: ToolHints,
    pub(crate) icons: Vec<Icon>,
    pub(crate) meta: Option<RawJson>,
}

/// How a tool behaves. A hint that is not set is not shown; `false` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Calling it twice has the effect of calling it once.
    pub idempotent: Option<bool>,
    /// It reaches things outside.
    pub open_world: Option<bool>,
}

/// A resource as lists show it.
#[derive(Clone, Debug)]
pub struct ResourceDefinition {
    /// The URI, or the template of URIs.
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) mime_type: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) annotations: Option<Annotations>,
    pub(crate) icons: Vec<Icon>,
    pub(crate) meta: Option<RawJson>,
}

/// A prompt as lists show it.
#[derive(Clone, Debug)]
pub struct PromptDefinition {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) arguments: Vec<PromptArgument>,
    pub(crate) icons: Vec<Icon>,
    pub(crate) meta: Option<RawJson>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) required: bool,
}

impl ToolDefinition {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A name for people.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What it does.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Appends the definition as declared, for the caller's version.
    pub(crate) fn push(&self, out: &mut Vec<u8>, features: Features) {
        self.push_with_output(out, features, self.output_schema_for(features));
    }

    /// Appends the definition with an output schema other than its own.
    pub(crate) fn push_with_output(
        &self,
        out: &mut Vec<u8>,
        features: Features,
        output: Option<&RawJson>,
    ) {
        let output = output.filter(|_| features.structured_content() != StructuredContent::Absent);
        let mut object = ObjectWriter::new(out);
        object.string("name", &self.name);
        if features.titles() {
            object.optional_string("title", self.title.as_deref());
        }
        object.string("description", &self.description);
        object.raw("inputSchema", self.input_schema.text());
        object.optional_raw("outputSchema", output.map(RawJson::text));
        if features.tool_annotations() && self.hints != ToolHints::default() {
            self.hints.push(&mut object);
        }
        push_icons(&mut object, &self.icons, features);
        push_meta(&mut object, self.meta.as_ref(), features);
        object.end();
    }

    /// Writes everything there is to know for somebody who wants to call the operation.
    pub(crate) fn push_details(&self, object: &mut ObjectWriter<'_>) {
        object.string("name", &self.name);
        object.optional_string("title", self.title.as_deref());
        object.string("description", &self.description);
        object.raw("inputSchema", self.input_schema.text());
        object.optional_raw(
            "outputSchema",
            self.output_schema.as_ref().map(RawJson::text),
        );
        if self.hints != ToolHints::default() {
            self.hints.push(object);
        }
        object.optional_raw("_meta", self.meta.as_ref().map(RawJson::text));
    }

    /// The output schema, where the version can express it.
    pub(crate) fn output_schema_for(&self, features: Features) -> Option<&RawJson> {
        self.output_schema
            .as_ref()
            .filter(|schema| match features.structured_content() {
                StructuredContent::Absent => false,
                StructuredContent::Objects => is_schema_of_objects(schema),
                StructuredContent::Anything => true,
            })
    }
}

impl ToolHints {
    fn push(self, object: &mut ObjectWriter<'_>) {
        object.object("annotations", |hints| {
            hints.optional_boolean("readOnlyHint", self.read_only);
            hints.optional_boolean("destructiveHint", self.destructive);
            hints.optional_boolean("idempotentHint", self.idempotent);
            hints.optional_boolean("openWorldHint", self.open_world);
        });
    }
}

impl ResourceDefinition {
    pub(crate) fn new(uri: String, name: String) -> Self {
        Self {
            uri,
            name,
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
        }
    }

    /// Appends the definition; `key` is `uri` or `uriTemplate`.
    pub(crate) fn push(&self, out: &mut Vec<u8>, key: &str, features: Features) {
        let mut object = ObjectWriter::new(out);
        object.string(key, &self.uri).string("name", &self.name);
        if features.titles() {
            object.optional_string("title", self.title.as_deref());
        }
        object.optional_string("description", self.description.as_deref());
        object.optional_string("mimeType", self.mime_type.as_deref());
        if let Some(annotations) = &self.annotations {
            annotations.push(object.value("annotations"), features);
        }
        if let Some(size) = self.size {
            object.number("size", size);
        }
        push_icons(&mut object, &self.icons, features);
        push_meta(&mut object, self.meta.as_ref(), features);
        object.end();
    }
}

impl PromptDefinition {
    pub(crate) fn push(&self, out: &mut Vec<u8>, features: Features) {
        let mut object = ObjectWriter::new(out);
        object.string("name", &self.name);
        if features.titles() {
            object.optional_string("title", self.title.as_deref());
        }
        object.optional_string("description", self.description.as_deref());
        if !self.arguments.is_empty() {
            object.array("arguments", &self.arguments, |out, argument| {
                argument.push(out, features);
            });
        }
        push_icons(&mut object, &self.icons, features);
        push_meta(&mut object, self.meta.as_ref(), features);
        object.end();
    }
}

impl PromptArgument {
    /// An optional argument.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            required: false,
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The prompt cannot do without it.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    fn push(&self, out: &mut Vec<u8>, features: Features) {
        let mut object = ObjectWriter::new(out);
        object.string("name", &self.name);
        if features.titles() {
            object.optional_string("title", self.title.as_deref());
        }
        object.optional_string("description", self.description.as_deref());
        object.boolean("required", self.required);
        object.end();
    }
}

fn push_meta(object: &mut ObjectWriter<'_>, meta: Option<&RawJson>, features: Features) {
    if features.titles() {
        object.optional_raw("_meta", meta.map(RawJson::text));
    }
}

fn is_schema_of_objects(schema: &RawJson) -> bool {
    let kind = schema.node().get("type").and_then(Node::as_str);
    kind.is_some_and(|kind| kind == "object")
}
