//! Handles on JSON values that are handed on without being read.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

use super::{DecodeError, Document, MAX_DEPTH, Node, SyntaxError, from_node};

/// One valid JSON value, exact to the byte and cheap to clone.
///
/// It is a slice of a scanned message, or a text of its own. Two of them are equal if their texts
/// are.
///
/// ```
/// use portcullis::wire::json::RawJson;
///
/// let value = RawJson::parse("[1.0, 1e2]")?;
/// assert_eq!(value.text(), "[1.0, 1e2]");
/// assert_eq!(value.decode::<Vec<f64>>()?, [1.0, 100.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RawJson {
    document: Arc<Document>,
    at: u32,
}

impl RawJson {
    /// Checks and takes a JSON text.
    ///
    /// # Errors
    ///
    /// As [`Document::parse`], at the default depth.
    pub fn parse(text: impl Into<String>) -> Result<Self, SyntaxError> {
        Document::parse(text.into().into_bytes(), MAX_DEPTH).map(Self::from)
    }

    /// The value `null`.
    pub(crate) fn null() -> Self {
        static NULL: LazyLock<RawJson> = LazyLock::new(|| {
            RawJson::parse("null").unwrap_or_else(|_| unreachable!("null is JSON"))
        });
        NULL.clone()
    }

    /// Encodes a value.
    ///
    /// # Errors
    ///
    /// What the value's `Serialize` reports, and nesting beyond the default depth.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let text = serde_json::to_string(value)?;
        Self::parse(text).map_err(serde_json::Error::custom)
    }

    /// Decodes the value into a type of the caller's.
    ///
    /// # Errors
    ///
    /// What `T` refuses, with the path to it.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, DecodeError> {
        from_node(self.node())
    }

    /// The text of the value.
    pub fn text(&self) -> &str {
        self.node().text()
    }

    /// A cursor on the value.
    pub fn node(&self) -> Node<'_> {
        Node {
            document: &self.document,
            at: self.at,
        }
    }

    /// A handle on the member `name` of this object. Of several with that name, the first.
    pub fn get(&self, name: &str) -> Option<Self> {
        self.node().get(name).map(|node| self.part(node))
    }

    /// A handle on a value inside this one.
    pub(crate) fn part(&self, node: Node<'_>) -> Self {
        Self::at(&self.document, node)
    }

    /// A handle on a value of `document`.
    pub(crate) fn at(document: &Arc<Document>, node: Node<'_>) -> Self {
        debug_assert!(std::ptr::eq(node.document, &raw const **document));
        Self {
            document: Arc::clone(document),
            at: node.at,
        }
    }
}

impl From<Document> for RawJson {
    fn from(document: Document) -> Self {
        Self {
            document: Arc::new(document),
            at: 0,
        }
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for RawJson {}

/// The text is written as it is; with serializers other than `serde_json`'s, as a string.
impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.text()).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(Box::<str>::from(raw)).map_err(de::Error::custom)
    }
}
