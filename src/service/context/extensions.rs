//! Typed values that layers hand to layers below them and to handlers.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

/// A set of values, at most one of each type. Cloning it is cheap; a clone changes on its own.
///
/// ```
/// use portcullis::service::Extensions;
///
/// let mut extensions = Extensions::default();
/// extensions.insert(7_u32);
/// assert_eq!(extensions.get::<u32>(), Some(&7));
/// assert_eq!(extensions.get::<u64>(), None);
/// ```
#[derive(Clone, Default)]
pub struct Extensions {
    /// Most messages carry one value, what their transport knows: no list is made for it.
    first: Option<Entry>,
    rest: Option<Arc<Vec<Entry>>>,
}

type Entry = Arc<dyn Value>;

/// A value that can be found by its type, and named.
trait Value: Any + Send + Sync {
    fn type_name(&self) -> &'static str;
}

impl<T: Any + Send + Sync> Value for T {
    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }
}

fn id(entry: &Entry) -> TypeId {
    let value: &dyn Any = &**entry;
    value.type_id()
}

impl Extensions {
    /// Adds a value; one of the same type is replaced.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        self.insert_shared(Arc::new(value));
    }

    /// Adds a value that others share.
    pub fn insert_shared<T: Any + Send + Sync>(&mut self, value: Arc<T>) {
        self.put(value);
    }

    /// Adds all values of another set; those of the same types are replaced.
    pub(crate) fn extend(&mut self, other: &Self) {
        other.values().cloned().for_each(|entry| self.put(entry));
    }

    fn put(&mut self, value: Entry) {
        match &mut self.first {
            Some(first) if id(first) != id(&value) => {
                let rest = Arc::make_mut(self.rest.get_or_insert_default());
                rest.retain(|other| id(other) != id(&value));
                rest.push(value);
            }
            first => *first = Some(value),
        }
    }

    /// The value of type `T`.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.values().find_map(|entry| {
            let value: &dyn Any = &**entry;
            value.downcast_ref()
        })
    }

    fn values(&self) -> impl Iterator<Item = &Entry> {
        let rest = self.rest.iter().flat_map(|rest| rest.iter());
        self.first.iter().chain(rest)
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.values().map(|value| (**value).type_name()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_one_value_of_each_type() {
        let mut extensions = Extensions::default();
        extensions.insert("a");
        extensions.insert(1_u8);
        extensions.insert(2_u16);
        extensions.insert("b");
        extensions.insert(3_u8);
        assert_eq!(extensions.get::<&str>(), Some(&"b"));
        assert_eq!(extensions.get::<u8>(), Some(&3));
        assert_eq!(extensions.get::<u16>(), Some(&2));
        assert_eq!(extensions.values().count(), 3);
    }

    #[test]
    fn clones_change_on_their_own() {
        let mut one = Extensions::default();
        one.insert(1_u8);
        one.insert('x');
        let mut other = one.clone();
        other.insert('y');
        assert_eq!(one.get::<char>(), Some(&'x'));
    }
}
