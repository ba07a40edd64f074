//! The registry: everything an application offers, compiled once into a snapshot.
//!
//! A request borrows the snapshot that is current when it arrives. Changing what is offered means
//! publishing another one; requests that run keep the one they began with.

use std::any::{Any, TypeId};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use bytes::Bytes;

use crate::wire::{Features, ProtocolVersion, ToolDefinition};

use super::catalog::Catalog;
use super::config::ConfigError;
use super::context::Extensions;
use super::handler::Rules;
use super::operation::{Operation, Registered};
use super::prompts::{Prompt, RegisteredPrompt};
use super::resources::{RegisteredResource, RegisteredTemplate, Resource, ResourceTemplate};
use super::search::SearchIndex;

/// Operations, resources and prompts, ready to be served. Cloning shares it.
///
/// ```
/// use portcullis::service::{Operation, Registry};
///
/// let registry = Registry::builder()
///     .operation(Operation::new("ping_db").handler(|| async { "fine" }))
///     .build()?;
/// # Ok::<(), portcullis::service::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registry(Arc<ArcSwap<Snapshot>>);

/// Collects what an application offers; [`build`](Self::build) checks all of it.
///
/// Every setter adds; nothing is replaced.
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct RegistryBuilder {
    operations: Vec<Operation>,
    resources: Vec<Resource>,
    templates: Vec<ResourceTemplate>,
    prompts: Vec<Prompt>,
    state: Extensions,
    rules: Rules,
    errors: Vec<ConfigError>,
}

/// What is offered at one moment. It never changes.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Differs between any two snapshots of this process.
    pub(crate) stamp: u64,
    pub(crate) operations: Catalog<Registered>,
    /// The definitions of all operations, in their order.
    pub(crate) tools: Arc<[Arc<ToolDefinition>]>,
    pub(crate) search: SearchIndex,
    pub(crate) resources: Catalog<RegisteredResource>,
    pub(crate) templates: Catalog<RegisteredTemplate>,
    pub(crate) prompts: Catalog<RegisteredPrompt>,
    pub(crate) state: Extensions,
    pub(crate) lists: EncodedLists,
}

/// Lists as they were encoded for whoever asked first, for each version.
#[derive(Debug, Default)]
pub(crate) struct EncodedLists {
    pub(crate) resources: PerVersion,
    pub(crate) templates: PerVersion,
    pub(crate) prompts: PerVersion,
}

/// An encoding that depends on nothing but the version.
#[derive(Debug, Default)]
pub(crate) struct PerVersion([OnceLock<Bytes>; ProtocolVersion::ALL.len()]);

impl PerVersion {
    /// The encoding for these features, made by `encode` the first time.
    pub(crate) fn get_or_encode(
        &self,
        features: Features,
        encode: impl FnOnce() -> Vec<u8>,
    ) -> Bytes {
        let slot = &self.0[features.version() as usize];
        slot.get_or_init(|| encode().into()).clone()
    }
}

impl Registry {
    /// A registry with nothing in it yet.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    pub(crate) fn snapshot(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.0.load()
    }
}

impl RegistryBuilder {
    /// Adds an operation.
    pub fn operation(mut self, operation: Operation) -> Self {
        self.operations.push(operation);
        self
    }

    /// Adds a resource.
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(resource);
        self
    }

    /// Adds a template of resources.
    pub fn template(mut self, template: ResourceTemplate) -> Self {
        self.templates.push(template);
        self
    }

    /// Adds a prompt.
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Adds state that handlers take as [`State<T>`](super::handler::State). There is one of each
    /// type.
    pub fn state<T: Any + Send + Sync>(mut self, state: T) -> Self {
        let id = TypeId::of::<T>();
        if self.rules.states.contains(&id) {
            let setting = format!("state `{}`", std::any::type_name::<T>());
            self.errors
                .push(ConfigError::new(setting, "is given twice"));
        }
        self.rules.states.push(id);
        self.state.insert(state);
        self
    }

    /// Lets operations have names the protocol advises against, such as names with spaces. Some
    /// clients refuse them.
    pub fn any_names(mut self) -> Self {
        self.rules.any_name = true;
        self
    }

    /// Puts a prefix before the names of all operations and prompts added so far.
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.operations = self
            .operations
            .into_iter()
            .map(|it| it.prefixed(prefix))
            .collect();
        self.prompts = self
            .prompts
            .into_iter()
            .map(|it| it.prefixed(prefix))
            .collect();
        self
    }

    /// Adds everything another builder has collected, its state included. State both have is an
    /// error.
    pub fn merge(mut self, other: Self) -> Self {
        self.operations.extend(other.operations);
        self.resources.extend(other.resources);
        self.templates.extend(other.templates);
        self.prompts.extend(other.prompts);
        self.errors.extend(other.errors);
        if other
            .rules
            .states
            .iter()
            .any(|id| self.rules.states.contains(id))
        {
            self.errors.push(ConfigError::new(
                "merge",
                "both registries give the same type of state",
            ));
        }
        self.state.extend(&other.state);
        self.rules.states.extend(other.rules.states);
        self.rules.any_name |= other.rules.any_name;
        self
    }

    /// Checks and compiles everything.
    ///
    /// # Errors
    ///
    /// The first thing that cannot be, by its name.
    pub fn build(self) -> Result<Registry, ConfigError> {
        if let Some(error) = self.errors.into_iter().next() {
            return Err(error);
        }
        let rules = &self.rules;
        let operations = self.operations.into_iter().map(|it| it.register(rules));
        let resources = self.resources.into_iter().map(|it| it.register(rules));
        let templates = self.templates.into_iter().map(|it| it.register(rules));
        let prompts = self.prompts.into_iter().map(|it| it.register(rules));
        let operations = Catalog::new(operations.collect::<Result<_, _>>()?)?;
        let tools: Arc<[_]> = operations
            .items()
            .iter()
            .map(|it| Arc::clone(&it.definition))
            .collect();
        let snapshot = Snapshot {
            stamp: next_stamp(),
            operations,
            search: SearchIndex::new(&tools),
            tools,
            resources: Catalog::new(resources.collect::<Result<_, _>>()?)?,
            templates: Catalog::new(templates.collect::<Result<_, _>>()?)?,
            prompts: Catalog::new(prompts.collect::<Result<_, _>>()?)?,
            state: self.state,
            lists: EncodedLists::default(),
        };
        Ok(Registry(Arc::new(ArcSwap::from_pointee(snapshot))))
    }
}

fn next_stamp() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}
