//! The index as the value representation of `jsonschema`: validation walks the scanned text.

use std::borrow::Cow;
use std::cell::Cell;
use std::iter::Map;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node as SchemaNode, NodeIdentity, Object};
use serde_json::{Number, Value};

use super::node::{Elements, Members};
use super::{Kind, Node, from_node, number, same};

/// Names the representation for `jsonschema`.
#[derive(Debug)]
pub(crate) enum IndexedJson {}

/// A value of a document, or a member name that `propertyNames` looks at as if it were one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeRef<'a> {
    Value(Node<'a>),
    Name(&'a str),
}

impl Json for IndexedJson {
    type Node<'a> = NodeRef<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(NodeRef<'_>) -> T) -> T {
        f(NodeRef::Name(string))
    }
}

impl<'a> NodeRef<'a> {
    fn value(self) -> Option<Node<'a>> {
        match self {
            Self::Value(node) => Some(node),
            Self::Name(_) => None,
        }
    }

    /// Whether it is this value, whose numbers are written so.
    pub(crate) fn equals(self, expected: &Value, text: &dyn Fn(&Number) -> String) -> bool {
        match self {
            Self::Value(node) => equals(node, expected, text),
            Self::Name(name) => expected.as_str() == Some(name),
        }
    }

    /// Whether its tree has all its places, though not every scalar.
    pub(crate) fn is_small(self) -> bool {
        self.value()
            .is_none_or(|node| tree(node, &mut { LARGEST_TREE }).is_some())
    }

    fn of_kind(self, kind: Kind) -> Option<Node<'a>> {
        self.value().filter(|node| node.kind() == kind)
    }
}

impl<'a> SchemaNode<'a, IndexedJson> for NodeRef<'a> {
    type Object = Node<'a>;
    type Array = Node<'a>;
    type Number = Literal<'a>;

    fn as_object(&self) -> Option<Node<'a>> {
        self.of_kind(Kind::Object).filter(|_| look())
    }

    fn as_array(&self) -> Option<Node<'a>> {
        self.of_kind(Kind::Array).filter(|_| look())
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match *self {
            Self::Value(node) => node.as_str(),
            Self::Name(name) => Some(Cow::Borrowed(name)),
        }
    }

    fn as_number(&self) -> Option<Literal<'a>> {
        self.value()?.as_number().map(Literal)
    }

    fn as_boolean(&self) -> Option<bool> {
        self.value()?.as_bool()
    }

    fn is_null(&self) -> bool {
        self.value().is_some_and(Node::is_null)
    }

    fn is_number(&self) -> bool {
        self.of_kind(Kind::Number).is_some()
    }

    fn json_type(&self) -> JsonType {
        match self.value().map(Node::kind) {
            Some(Kind::Null) => JsonType::Null,
            Some(Kind::False | Kind::True) => JsonType::Boolean,
            Some(Kind::Number) => JsonType::Number,
            Some(Kind::Array) => JsonType::Array,
            Some(Kind::Object) => JsonType::Object,
            Some(Kind::String) | None => JsonType::String,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        self.equals(expected, &Number::to_string)
    }

    /// Only errors ask for this, and ours never show the value: so no tree is built that would
    /// cost more than the message it stands for.
    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(match *self {
            Self::Value(node) => tree(node, &mut { LARGEST_TREE }).unwrap_or_default(),
            Self::Name(name) => Value::String(name.to_owned()),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        match *self {
            Self::Value(node) => Some(NodeIdentity::tagged(
                std::ptr::from_ref(node.document) as usize,
                node.at,
            )),
            Self::Name(name) => Some(NodeIdentity::tagged(name.as_ptr() as usize, u32::MAX)),
        }
    }
}

impl<'a> Object<'a, IndexedJson> for Node<'a> {
    type Node = NodeRef<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter =
        Looks<Map<Members<'a>, fn((Cow<'a, str>, Self)) -> (Cow<'a, str>, NodeRef<'a>)>>;

    fn len(&self) -> usize {
        Node::len(*self)
    }

    fn get(&self, key: &String) -> Option<NodeRef<'a>> {
        Node::get(*self, key).map(NodeRef::Value)
    }

    fn members(&self) -> Self::MembersIter {
        Looks(Node::members(*self).map(|(name, value)| (name, NodeRef::Value(value))))
    }
}

impl<'a> Array<'a, IndexedJson> for Node<'a> {
    type Node = NodeRef<'a>;
    type ElementsIter = Looks<Map<Elements<'a>, fn(Self) -> NodeRef<'a>>>;

    fn len(&self) -> usize {
        Node::len(*self)
    }

    fn elements(&self) -> Self::ElementsIter {
        Looks(Node::elements(*self).map(NodeRef::Value))
    }

    fn is_unique(&self) -> bool {
        same::all_differ(Node::elements(*self))
    }
}

/// Runs a validation that looks at most so many times into the value; nothing if it needs more.
///
/// A schema whose references branch leads to the same place on more and more ways, and the library
/// takes them all when it looks for errors.
pub(crate) fn within<T>(looks: usize, validate: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(looks);
    let validated = validate();
    (LEFT.replace(usize::MAX) > 0).then_some(validated)
}

/// Whether the value may be looked into once more.
fn look() -> bool {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(1));
    left > 0
}

thread_local! {
    /// How often the value that this thread validates may be looked into: nodes know no more than
    /// their place.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Members or elements, each of which is looked at.
#[derive(Debug)]
pub(crate) struct Looks<I>(I);

impl<I: Iterator> Iterator for Looks<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        if look() { self.0.next() } else { None }
    }
}

/// A number as it was written.
#[derive(Debug)]
pub(crate) struct Literal<'a>(&'a str);

impl Literal<'_> {
    fn integer<T: std::str::FromStr>(&self) -> Option<T> {
        number::integer_literal(self.0)?.parse().ok()
    }
}

impl JsonNumber for Literal<'_> {
    fn as_u64(&self) -> Option<u64> {
        match self.integer() {
            None if self.integer::<i64>() == Some(0) => Some(0),
            found => found,
        }
    }

    fn as_i64(&self) -> Option<i64> {
        self.integer()
    }

    /// Floats appear only where a schema's own constant is one, or is beyond 64 bits.
    fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|value: &f64| value.is_finite())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn to_number(&self) -> Cow<'_, Number> {
        // Without `arbitrary_precision` a number beyond `f64` has no `Number` at all.
        Cow::Owned(serde_json::from_str(self.0).unwrap_or_else(|_| Number::from(i64::MAX)))
    }

    fn is_integer(&self) -> bool {
        number::is_integral(self.0)
    }

    fn is_written_as_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }
}

fn equals(node: Node<'_>, expected: &Value, text: &dyn Fn(&Number) -> String) -> bool {
    match expected {
        Value::Null => node.is_null(),
        Value::Bool(expected) => node.as_bool() == Some(*expected),
        Value::Number(expected) => node
            .as_number()
            .is_some_and(|number| number::same(number, &text(expected))),
        Value::String(expected) => node.as_str().is_some_and(|text| text == expected.as_str()),
        Value::Array(expected) => {
            let mut pairs = node.elements().zip(expected);
            node.kind() == Kind::Array
                && node.len() == expected.len()
                && pairs.all(|(one, other)| equals(one, other, text))
        }
        Value::Object(expected) => {
            let same = |(name, value): (&String, &Value)| {
                let twin = node.get(name);
                twin.is_some_and(|twin| equals(twin, value, text))
            };
            node.is_object() && node.len() == expected.len() && expected.iter().all(same)
        }
    }
}

/// A value with all places inside it, as far as there is room; scalars that are too long are null.
fn tree(node: Node<'_>, room: &mut usize) -> Option<Value> {
    *room = room.checked_sub(1)?;
    Some(match node.kind() {
        Kind::Array => {
            let elements = node.elements().map(|element| tree(element, room));
            Value::Array(elements.collect::<Option<_>>()?)
        }
        Kind::Object => {
            let members = node.members().map(|(name, value)| {
                *room = room.checked_sub(name.len())?;
                Some((name.into_owned(), tree(value, room)?))
            });
            Value::Object(members.collect::<Option<_>>()?)
        }
        _ => match room.checked_sub(node.text().len()) {
            Some(left) => {
                *room = left;
                // Without `arbitrary_precision` a number beyond `f64` has no `Value`.
                from_node(node).unwrap_or_default()
            }
            None => Value::Null,
        },
    })
}

/// Values and bytes of the largest tree that is built for an error.
const LARGEST_TREE: usize = 4096;
