//! Prompts: messages an application prepares for people to use.

use std::collections::BTreeMap;
use std::fmt;

use crate::wire::json::{Kind, Node, ObjectWriter, RawJson};
use crate::wire::{Error, Features, Icon, PromptArgument, PromptDefinition};

use super::catalog::Named;
use super::config::ConfigError;
use super::handler::{Completions, Erased, Handler, PromptOutput, Rules, Signature, erase};

/// A prompt: a name, arguments and a handler that makes the messages.
///
/// ```
/// use portcullis::service::handler::Parsed;
/// use portcullis::service::{Prompt, Registry};
/// use portcullis::wire::PromptArgument;
///
/// #[derive(serde::Deserialize)]
/// struct Review { code: String }
///
/// let registry = Registry::builder()
///     .prompt(
///         Prompt::new("review")
///             .argument(PromptArgument::new("code").required())
///             .handler(|Parsed(input): Parsed<Review>| async move {
///                 format!("Review this:\n{}", input.code)
///             }),
///     )
///     .build()?;
/// # Ok::<(), portcullis::service::ConfigError>(())
/// ```
#[must_use = "a prompt does nothing until it is registered"]
pub struct Prompt {
    definition: PromptDefinition,
    handler: Option<(Erased<PromptOutput>, Signature)>,
    completers: BTreeMap<String, (Erased<Completions>, Signature)>,
}

/// A prompt ready to be got.
pub(crate) struct RegisteredPrompt {
    pub(crate) definition: PromptDefinition,
    pub(crate) run: Erased<PromptOutput>,
    pub(crate) completers: BTreeMap<String, Erased<Completions>>,
}

impl Prompt {
    /// A prompt without a handler yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            definition: PromptDefinition {
                name: name.into(),
                title: None,
                description: None,
                arguments: Vec::new(),
                icons: Vec::new(),
                meta: None,
            },
            handler: None,
            completers: BTreeMap::new(),
        }
    }

    /// A name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What it is for.
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// Adds an argument. Values are strings; a required one that is missing is refused.
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.definition.arguments.push(argument);
        self
    }

    /// Adds an icon.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definition.icons.push(icon);
        self
    }

    /// The member `_meta` of the definition: an object.
    pub fn meta(mut self, meta: RawJson) -> Self {
        self.definition.meta = Some(meta);
        self
    }

    /// Sets the handler that makes the messages.
    pub fn handler<M, H: Handler<M, PromptOutput>>(mut self, handler: H) -> Self {
        self.handler = Some(erase(handler));
        self
    }

    /// Sets the handler that suggests values for an argument.
    pub fn complete<M, H: Handler<M, Completions>>(
        mut self,
        argument: impl Into<String>,
        handler: H,
    ) -> Self {
        self.completers.insert(argument.into(), erase(handler));
        self
    }

    /// Puts a prefix before the name.
    pub(crate) fn prefixed(mut self, prefix: &str) -> Self {
        self.definition.name.insert_str(0, prefix);
        self
    }

    pub(crate) fn register(self, rules: &Rules) -> Result<RegisteredPrompt, ConfigError> {
        let error = |problem: String| {
            ConfigError::new(format!("prompt `{}`", self.definition.name), problem)
        };
        if self.definition.name.is_empty() {
            return Err(error("it has no name".to_owned()));
        }
        let Some((run, signature)) = self.handler else {
            return Err(error("it has no handler".to_owned()));
        };
        rules.check(&signature).map_err(error)?;
        let arguments = &self.definition.arguments;
        let unknown = |name: &&String| !arguments.iter().any(|argument| argument.name == **name);
        if let Some(name) = self.completers.keys().find(unknown) {
            return Err(error(format!("it has no argument `{name}` to complete")));
        }
        let mut completers = BTreeMap::new();
        for (name, (completer, signature)) in self.completers {
            rules.check(&signature).map_err(error)?;
            completers.insert(name, completer);
        }
        Ok(RegisteredPrompt {
            definition: self.definition,
            run,
            completers,
        })
    }
}

impl RegisteredPrompt {
    /// Whether the arguments are strings, and all there that must be.
    pub(crate) fn check(&self, arguments: Option<&RawJson>) -> Result<(), Error> {
        let node = arguments.map(RawJson::node);
        for argument in self
            .definition
            .arguments
            .iter()
            .filter(|argument| argument.required)
        {
            if node.and_then(|node| node.get(&argument.name)).is_none() {
                let name = &argument.name;
                return Err(Error::invalid_params(format!(
                    "argument `{name}` is missing"
                )));
            }
        }
        let mut members = node.into_iter().flat_map(Node::members);
        match members.find(|(_, value)| value.kind() != Kind::String) {
            Some(_) => Err(Error::invalid_params("arguments of a prompt are strings")),
            None => Ok(()),
        }
    }
}

/// Encodes the members of the result of `prompts/get`.
pub(crate) fn encode(
    output: &PromptOutput,
    definition: &PromptDefinition,
    features: Features,
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::members(&mut out);
    let description = output
        .description
        .as_deref()
        .or(definition.description.as_deref());
    object.optional_string("description", description);
    object.array("messages", &output.messages, |out, message| {
        message.push(out, features);
    });
    out
}

impl Named for RegisteredPrompt {
    const KIND: &'static str = "prompt";

    fn name(&self) -> &str {
        &self.definition.name
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("name", &self.definition.name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RegisteredPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredPrompt")
            .field("name", &self.definition.name)
            .finish_non_exhaustive()
    }
}
