//! Resources and templates of resources: what an application lets clients read.

mod read;
mod template;

use std::collections::BTreeMap;
use std::fmt;

use crate::wire::json::RawJson;
use crate::wire::{Annotations, Icon, ResourceDefinition};

use super::catalog::Named;
use super::config::ConfigError;
use super::handler::{
    Completions, Contents, Erased, Handler, IntoOutcome, Rules, Signature, erase,
};

pub(crate) use self::read::encode;
pub(crate) use self::template::Template;

/// Something to read under one URI.
///
/// ```
/// use portcullis::service::{Registry, Resource};
///
/// let registry = Registry::builder()
///     .resource(Resource::new("note://1", "First note").mime_type("text/plain").text("Hello"))
///     .build()?;
/// # Ok::<(), portcullis::service::ConfigError>(())
/// ```
#[must_use = "a resource does nothing until it is registered"]
pub struct Resource {
    definition: ResourceDefinition,
    reader: Option<(Erased<Contents>, Signature)>,
}

/// Things to read under all URIs that match a template.
///
/// Understood are `{name}` and `{+name}` of RFC 6570. The values of the variables are the
/// arguments of the handler.
#[must_use = "a template does nothing until it is registered"]
pub struct ResourceTemplate {
    definition: ResourceDefinition,
    reader: Option<(Erased<Contents>, Signature)>,
    completers: BTreeMap<String, (Erased<Completions>, Signature)>,
}

macro_rules! descriptive_setters {
    () => {
        /// A name for people.
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.definition.title = Some(title.into());
            self
        }

        /// What it is, for the model.
        pub fn describe(mut self, description: impl Into<String>) -> Self {
            self.definition.description = Some(description.into());
            self
        }

        /// The media type of the content.
        pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
            self.definition.mime_type = Some(mime_type.into());
            self
        }

        /// Hints on how to use it.
        pub fn annotations(mut self, annotations: Annotations) -> Self {
            self.definition.annotations = Some(annotations);
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

        /// Sets the handler that reads it.
        pub fn read<M, H: Handler<M, Contents>>(mut self, handler: H) -> Self {
            self.reader = Some(erase(handler));
            self
        }
    };
}

impl Resource {
    /// A resource without content yet.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            definition: ResourceDefinition::new(uri.into(), name.into()),
            reader: None,
        }
    }

    descriptive_setters!();

    /// The size of the content in bytes.
    pub fn size(mut self, bytes: u64) -> Self {
        self.definition.size = Some(bytes);
        self
    }

    /// Sets a text that never changes.
    pub fn text(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.constant(move || text.clone())
    }

    /// Sets bytes that never change.
    pub fn blob(self, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.constant(move || bytes.clone())
    }

    fn constant<T: IntoOutcome<Contents> + Send + 'static>(
        self,
        content: impl Fn() -> T + Clone + Send + Sync + 'static,
    ) -> Self {
        self.read(move || std::future::ready(content()))
    }

    pub(crate) fn register(self, rules: &Rules) -> Result<RegisteredResource, ConfigError> {
        let error = |problem: String| {
            ConfigError::new(format!("resource `{}`", self.definition.uri), problem)
        };
        if fluent_uri::Uri::parse(self.definition.uri.as_str()).is_err() {
            return Err(error("it is not an absolute URI".to_owned()));
        }
        let reader = checked(self.reader, rules).map_err(error)?;
        Ok(RegisteredResource {
            definition: self.definition,
            reader,
        })
    }
}

impl ResourceTemplate {
    /// A template without a handler yet.
    pub fn new(template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            definition: ResourceDefinition::new(template.into(), name.into()),
            reader: None,
            completers: BTreeMap::new(),
        }
    }

    descriptive_setters!();

    /// Sets the handler that suggests values for a variable.
    pub fn complete<M, H: Handler<M, Completions>>(
        mut self,
        variable: impl Into<String>,
        handler: H,
    ) -> Self {
        self.completers.insert(variable.into(), erase(handler));
        self
    }

    pub(crate) fn register(self, rules: &Rules) -> Result<RegisteredTemplate, ConfigError> {
        let error = |problem: String| {
            ConfigError::new(format!("template `{}`", self.definition.uri), problem)
        };
        let template = Template::parse(&self.definition.uri).map_err(error)?;
        let reader = checked(self.reader, rules).map_err(error)?;
        let unknown = |name: &&String| !template.variables().any(|variable| variable == *name);
        if let Some(name) = self.completers.keys().find(unknown) {
            return Err(error(format!("it has no variable `{name}` to complete")));
        }
        let completers = registered_completers(self.completers, rules).map_err(error)?;
        Ok(RegisteredTemplate {
            definition: self.definition,
            template,
            reader,
            completers,
        })
    }
}

/// A resource ready to be read.
pub(crate) struct RegisteredResource {
    pub(crate) definition: ResourceDefinition,
    pub(crate) reader: Erased<Contents>,
}

/// A template ready to be matched and read.
pub(crate) struct RegisteredTemplate {
    pub(crate) definition: ResourceDefinition,
    template: Template,
    pub(crate) reader: Erased<Contents>,
    pub(crate) completers: Completers,
}

/// Handlers that suggest values, by what they suggest them for.
pub(crate) type Completers = BTreeMap<String, Erased<Completions>>;

impl RegisteredTemplate {
    /// The values of the variables if `uri` is an instance of the template.
    pub(crate) fn matches(&self, uri: &str) -> Option<RawJson> {
        self.template.matches(uri)
    }
}

impl Named for RegisteredResource {
    const KIND: &'static str = "resource";

    #[expect(clippy::misnamed_getters, reason = "a resource goes by its URI")]
    fn name(&self) -> &str {
        &self.definition.uri
    }
}

impl Named for RegisteredTemplate {
    const KIND: &'static str = "template";

    #[expect(clippy::misnamed_getters, reason = "a template goes by its URI")]
    fn name(&self) -> &str {
        &self.definition.uri
    }
}

fn checked<O>(handler: Option<(Erased<O>, Signature)>, rules: &Rules) -> Result<Erased<O>, String> {
    let (handler, signature) = handler.ok_or("it has no content and no handler")?;
    rules.check(&signature)?;
    Ok(handler)
}

pub(crate) fn registered_completers(
    completers: BTreeMap<String, (Erased<Completions>, Signature)>,
    rules: &Rules,
) -> Result<Completers, String> {
    let check = |(name, handler)| Ok((name, checked(Some(handler), rules)?));
    completers.into_iter().map(check).collect()
}

macro_rules! named_debug {
    ($($type:ty),*) => {$(
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name = stringify!($type);
                f.debug_struct(name).field("uri", &self.definition.uri).finish_non_exhaustive()
            }
        }
    )*};
}

named_debug!(
    Resource,
    ResourceTemplate,
    RegisteredResource,
    RegisteredTemplate
);
