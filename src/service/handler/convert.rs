//! What a handler can return.

use serde::Serialize;

use crate::service::context::{Failure, Output};
use crate::wire::json::{RawJson, exceed};
use crate::wire::{Content, PromptMessage, ResourceContents};

use super::Signature;

/// Something that becomes the outcome `O` of a handler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a handler returns",
    note = "operations return `Text`, `String`, `Structured<T>` (with `T: Serialize + JsonSchema`), \
            `Json<T>`, `Content`, `Vec<Content>`, `Output`, `()`, or a `Result` of one of these \
            whose error is a `Failure` or any `std::error::Error`"
)]
pub trait IntoOutcome<O> {
    /// Makes the outcome.
    ///
    /// # Errors
    ///
    /// The failure the caller gets instead.
    fn into_outcome(self) -> Result<O, Failure>;

    /// Adds what it gives to the handler's signature.
    fn describe(signature: &mut Signature) {
        let _ = signature;
    }
}

/// Plain text.
#[derive(Clone, Debug)]
pub struct Text(pub String);

/// A structured value of a type whose schema is derived and published.
#[cfg(feature = "schemars")]
#[derive(Clone, Copy, Debug)]
pub struct Structured<T>(pub T);

/// A structured value without a published schema, or with one written by hand.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

/// What a resource holds.
#[derive(Clone, Debug, Default)]
pub struct Contents(pub(crate) Vec<Item>);

/// One content of a resource; without a URI it has that of the resource.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Text(String),
    Blob(Vec<u8>),
    Whole(ResourceContents),
}

impl Contents {
    /// Whether they take more than `most` bytes when they are written, as far as that can be told
    /// without writing them.
    pub(crate) fn exceed(&self, most: usize) -> bool {
        let bytes = self.0.iter().map(|item| match item {
            Item::Blob(bytes) => bytes.len().div_ceil(3) * 4,
            Item::Text(_) | Item::Whole(_) => 0,
        });
        let texts = self.0.iter().map(|item| match item {
            Item::Text(text) => text.as_str(),
            Item::Blob(_) => "",
            Item::Whole(contents) => contents.bulk(),
        });
        match most.checked_sub(bytes.sum()) {
            Some(most) => exceed(most, texts),
            None => true,
        }
    }
}

/// What a prompt says.
#[derive(Clone, Debug, Default)]
pub struct PromptOutput {
    pub(crate) description: Option<String>,
    pub(crate) messages: Vec<PromptMessage>,
}

/// Suggestions for an argument. At most 100 are sent.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    pub(crate) values: Vec<String>,
    pub(crate) total: Option<u64>,
    pub(crate) has_more: bool,
}

impl<O, T: IntoOutcome<O>, E: Into<Failure>> IntoOutcome<O> for Result<T, E> {
    fn into_outcome(self) -> Result<O, Failure> {
        self.map_err(Into::into)?.into_outcome()
    }

    fn describe(signature: &mut Signature) {
        T::describe(signature);
    }
}

macro_rules! outcomes {
    ($($from:ty => $outcome:ty: |$value:pat_param| $make:expr;)*) => {$(
        impl IntoOutcome<$outcome> for $from {
            fn into_outcome(self) -> Result<$outcome, Failure> {
                let $value = self;
                Ok($make)
            }
        }
    )*};
}

outcomes! {
    Output => Output: |output| output;
    () => Output: |()| Output::new();
    Text => Output: |Text(text)| Output::new().content(text);
    String => Output: |text| Output::new().content(text);
    &'static str => Output: |text| Output::new().content(text);
    Content => Output: |content| Output::new().content(content);
    Vec<Content> => Output: |blocks| blocks.into_iter().fold(Output::new(), Output::content);
    RawJson => Output: |value| Output::new().structured(value);

    Contents => Contents: |contents| contents;
    String => Contents: |text| Contents(vec![Item::Text(text)]);
    &'static str => Contents: |text| Contents(vec![Item::Text(text.to_owned())]);
    Vec<u8> => Contents: |bytes| Contents(vec![Item::Blob(bytes)]);
    ResourceContents => Contents: |contents| Contents(vec![Item::Whole(contents)]);
    Vec<ResourceContents> => Contents: |all| Contents(all.into_iter().map(Item::Whole).collect());

    PromptOutput => PromptOutput: |prompt| prompt;
    String => PromptOutput: |text| PromptOutput::new().message(PromptMessage::user(text));
    &'static str => PromptOutput: |text| PromptOutput::new().message(PromptMessage::user(text));
    PromptMessage => PromptOutput: |message| PromptOutput::new().message(message);
    Vec<PromptMessage> => PromptOutput: |messages| PromptOutput { description: None, messages };

    Completions => Completions: |completions| completions;
    Vec<String> => Completions: |values| Completions::new(values);
}

impl<T: Serialize> IntoOutcome<Output> for Json<T> {
    fn into_outcome(self) -> Result<Output, Failure> {
        Ok(Output::new().structured(RawJson::encode(&self.0)?))
    }
}

#[cfg(feature = "schemars")]
impl<T: Serialize + schemars::JsonSchema> IntoOutcome<Output> for Structured<T> {
    fn into_outcome(self) -> Result<Output, Failure> {
        Ok(Output::new().structured(RawJson::encode(&self.0)?))
    }

    fn describe(signature: &mut Signature) {
        signature.output_schema(derived_schema::<T>());
    }
}

/// The schema `schemars` derives for a type, without the formats that only Rust knows: clients warn
/// about formats such as `uint64`.
#[cfg(feature = "schemars")]
pub(super) fn derived_schema<T: schemars::JsonSchema>() -> RawJson {
    let of_rust = |schema: &mut schemars::Schema| {
        let numeric = |format: &str| {
            let known = ["int", "uint", "float", "double"];
            known.iter().any(|prefix| format.starts_with(prefix))
        };
        let format = schema.get("format").and_then(|format| format.as_str());
        if format.is_some_and(numeric) {
            schema.remove("format");
        }
    };
    let schema = schemars::generate::SchemaSettings::draft2020_12()
        .with_transform(schemars::transform::RecursiveTransform(of_rust))
        .into_generator()
        .into_root_schema_for::<T>();
    RawJson::encode(&schema).unwrap_or_else(|_| unreachable!("a schema is JSON"))
}

impl Contents {
    /// No content yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is no content at all, not even an empty one. Reading such a resource fails.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds text, possibly empty, under the resource's own URI.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Item::Text(text.into()));
        self
    }

    /// Adds bytes, possibly none, under the resource's own URI.
    #[must_use]
    pub fn blob(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.push(Item::Blob(bytes.into()));
        self
    }

    /// Adds content with a URI of its own, such as one file of a directory.
    #[must_use]
    pub fn part(mut self, contents: ResourceContents) -> Self {
        self.0.push(Item::Whole(contents));
        self
    }
}

impl PromptOutput {
    /// No messages yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the prompt is about.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn message(mut self, message: PromptMessage) -> Self {
        self.messages.push(message);
        self
    }
}

impl Completions {
    /// The suggestions, best first.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            values: values.into_iter().map(Into::into).collect(),
            total: None,
            has_more: false,
        }
    }

    /// How many there are altogether, if that is known.
    #[must_use]
    pub fn total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self
    }

    /// There are more than these.
    #[must_use]
    pub fn has_more(mut self) -> Self {
        self.has_more = true;
        self
    }
}
