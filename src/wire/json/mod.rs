//! JSON, read once and exactly.
//!
//! A [`Document`] is a text that has passed the one validating scan, together with an index of
//! where its values are. Everything later works on that index: [`Node`] is a cursor into it,
//! [`RawJson`] a cheap handle on one value that can be kept and handed on, [`from_node`] turns a
//! value into any `serde` type, and JSON Schema validation walks it too. No tree is built and no
//! number passes through floating point unless the receiver asks for a float.
//!
//! ```
//! use portcullis::wire::json::Document;
//!
//! let document = Document::parse(br#"{"n": 1e400, "s": "\u00fc"}"#.to_vec(), 128)?;
//! let root = document.root();
//! assert_eq!(root.get("n").unwrap().text(), "1e400");
//! assert_eq!(root.get("s").unwrap().as_str().unwrap(), "ü");
//! assert!(Document::parse(b"[01]".to_vec(), 128).is_err());
//! # Ok::<(), portcullis::wire::json::SyntaxError>(())
//! ```

mod de;
mod escape;
mod index;
mod node;
pub(crate) mod number;
mod raw;
mod same;
mod scan;
mod schema_value;
mod strings;
mod write;

pub use self::de::{DecodeError, from_node};
pub(crate) use self::escape::{escaped_len, exceed};
pub use self::escape::{push_str, quote};
pub use self::index::Kind;
pub use self::node::{Elements, Members, Node};
pub use self::raw::RawJson;
pub use self::scan::{SyntaxError, SyntaxErrorKind};
pub(crate) use self::schema_value::{IndexedJson, NodeRef, within};
pub(crate) use self::write::{ObjectWriter, push_array};

use std::borrow::Cow;
use std::fmt;

use super::budget::Reserved;

/// Whether a text is a JSON number mathematically equal to `number`.
pub(crate) fn same_number(text: &str, number: &str) -> bool {
    let parsed = Document::parse(text.as_bytes().to_vec(), 1);
    parsed.is_ok_and(|document| {
        document.root().as_number() == Some(text) && number::same(text, number)
    })
}

/// How many containers may stand around a value by default.
pub const MAX_DEPTH: u32 = 128;

/// What a text of this length takes up at most while it is scanned: itself, an entry for every two
/// bytes, a quarter as many again while they are moved, and the names of wide objects.
pub(crate) fn scan_bytes(text: usize) -> usize {
    SCAN_BASE + 13 * text
}

/// What the shortest text takes up.
const SCAN_BASE: usize = 2 * 1024;

/// A JSON text that passed the scan, and the index of its values.
pub struct Document {
    text: String,
    index: index::Index,
    /// What it takes up of a budget, for as long as it is kept.
    held: Option<Reserved>,
}

/// Two members of one object with the same decoded name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateName<'a> {
    /// The decoded name.
    pub name: Cow<'a, str>,
    /// Where the later of the two stands.
    pub offset: usize,
}

impl Document {
    /// Scans `bytes`, which may nest at most `depth` containers.
    ///
    /// Duplicate member names are not an error here; see [`duplicate`](Self::duplicate).
    ///
    /// # Errors
    ///
    /// Whatever RFC 8259 does not allow, deeper nesting, escapes of lone surrogates, and the member
    /// names that `serde_json` gives a second meaning.
    pub fn parse(bytes: Vec<u8>, depth: u32) -> Result<Self, SyntaxError> {
        let text = String::from_utf8(bytes).map_err(|error| {
            SyntaxError::new(SyntaxErrorKind::NotUtf8, error.utf8_error().valid_up_to())
        })?;
        let index = scan::scan(&text, depth)?;
        let held = None;
        Ok(Self { text, index, held })
    }

    /// The same with what [`scan_bytes`] asks for held, of which it keeps what it needs.
    pub(crate) fn parse_within(
        bytes: Vec<u8>,
        depth: u32,
        mut held: Reserved,
    ) -> Result<Self, SyntaxError> {
        let mut document = Self::parse(bytes, depth)?;
        document.index.give_back_room();
        held.shrink(SCAN_BASE + document.text.capacity() + document.index.bytes());
        document.held = Some(held);
        Ok(document)
    }

    /// The whole value.
    pub fn root(&self) -> Node<'_> {
        Node {
            document: self,
            at: 0,
        }
    }

    /// The value at a position some node of this document told.
    pub(crate) fn node_at(&self, position: u32) -> Node<'_> {
        Node {
            document: self,
            at: position,
        }
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first member found to repeat the decoded name of an earlier one of its object.
    pub fn duplicate(&self) -> Option<DuplicateName<'_>> {
        (self.index.duplicate != index::NONE).then(|| {
            let node = Node {
                document: self,
                at: self.index.duplicate,
            };
            DuplicateName {
                name: node.as_str().unwrap_or_default(),
                offset: node.entry().start as usize,
            }
        })
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Document").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests;
