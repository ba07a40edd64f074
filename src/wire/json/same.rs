//! Equality of values as JSON Schema means it: numbers by value, members in any order.

use std::hash::{BuildHasher, Hash, Hasher};

use super::{Kind, Node, number};

/// Whether two values are equal.
pub(super) fn same(one: Node<'_>, other: Node<'_>) -> bool {
    match (one.kind(), other.kind()) {
        (Kind::Number, Kind::Number) => number::same(one.text(), other.text()),
        (Kind::String, Kind::String) => one.as_str() == other.as_str(),
        (Kind::Array, Kind::Array) => {
            one.len() == other.len()
                && one
                    .elements()
                    .zip(other.elements())
                    .all(|(a, b)| same(a, b))
        }
        (Kind::Object, Kind::Object) => {
            one.len() == other.len()
                && one
                    .members()
                    .all(|(name, value)| other.get(&name).is_some_and(|twin| same(value, twin)))
        }
        (a, b) => a == b,
    }
}

/// Whether no two of the values are equal, in time `n log n`.
pub(super) fn all_differ<'a>(values: impl Iterator<Item = Node<'a>>) -> bool {
    let seed = foldhash::quality::RandomState::default();
    let mut hashed: Vec<(u64, Node<'a>)> = values.map(|v| (seed.hash_one(ByValue(v)), v)).collect();
    hashed.sort_unstable_by_key(|(hash, _)| *hash);
    hashed.chunk_by(|a, b| a.0 == b.0).all(|alike| {
        alike
            .iter()
            .enumerate()
            .all(|(at, (_, one))| alike[..at].iter().all(|(_, other)| !same(*one, *other)))
    })
}

/// Hashes equal values alike.
struct ByValue<'a>(Node<'a>);

impl Hash for ByValue<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let node = self.0;
        (node.kind() as u8).hash(state);
        match node.kind() {
            Kind::Number => number::hash(node.text(), state),
            Kind::String => node.as_str().hash(state),
            Kind::Array => node
                .elements()
                .for_each(|element| Self(element).hash(state)),
            // The order of members does not matter, so their hashes are added up.
            Kind::Object => {
                let seed = foldhash::quality::FixedState::default();
                let sum = node.members().fold(0_u64, |sum, (name, value)| {
                    sum.wrapping_add(seed.hash_one((name, ByValue(value))))
                });
                sum.hash(state);
            }
            Kind::Null | Kind::False | Kind::True => {}
        }
    }
}
