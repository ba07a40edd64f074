//! An ordered set of named things: what operations, resources, templates and prompts are kept in.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::config::ConfigError;

/// Something with a name that is unique in its catalogue.
pub(crate) trait Named {
    /// What it is called in error messages.
    const KIND: &'static str;

    /// The name: of a resource, its URI.
    fn name(&self) -> &str;
}

/// Things in the order they were registered in, found by name in constant time.
#[derive(Debug)]
pub(crate) struct Catalog<T> {
    items: Arc<[Arc<T>]>,
    positions: HashMap<Box<str>, usize, foldhash::quality::RandomState>,
}

impl<T: Named> Catalog<T> {
    pub(crate) fn new(items: Vec<T>) -> Result<Self, ConfigError> {
        let mut positions = HashMap::default();
        for (at, item) in items.iter().enumerate() {
            match positions.entry(Box::from(item.name())) {
                Entry::Vacant(place) => _ = place.insert(at),
                Entry::Occupied(_) => {
                    let what = format!("{} `{}`", T::KIND, item.name());
                    return Err(ConfigError::new(what, "is registered twice"));
                }
            }
        }
        Ok(Self {
            items: items.into_iter().map(Arc::new).collect(),
            positions,
        })
    }

    /// The thing with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<T>> {
        self.positions.get(name).map(|at| &self.items[*at])
    }

    /// All things in their order.
    pub(crate) fn items(&self) -> &[Arc<T>] {
        &self.items
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
