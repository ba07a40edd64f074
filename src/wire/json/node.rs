//! Reading a scanned text: a cheap cursor on one of its values.

use std::borrow::Cow;
use std::fmt;

use super::index::{Entry, Kind};
use super::{Document, strings};

/// One value of a [`Document`]. Copying it is free, and reading it scans nothing again.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    pub(super) document: &'a Document,
    pub(super) at: u32,
}

impl<'a> Node<'a> {
    /// What the value is.
    pub fn kind(self) -> Kind {
        self.entry().kind()
    }

    /// The text of the value, exactly as it was written.
    pub fn text(self) -> &'a str {
        self.entry().text(&self.document.text)
    }

    /// The decoded string, if it is one.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let entry = self.entry();
        (entry.kind() == Kind::String).then(|| self.document.decoded(entry))
    }

    /// The boolean, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// The number as it was written, if it is one.
    pub fn as_number(self) -> Option<&'a str> {
        (self.kind() == Kind::Number).then(|| self.text())
    }

    /// Whether this is a number written without fraction and exponent.
    pub fn is_written_as_integer(self) -> bool {
        let entry = self.entry();
        entry.kind() == Kind::Number && !entry.flag()
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Whether this is an object.
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// The number of elements or members; zero for a scalar.
    pub fn len(self) -> usize {
        self.entry().count()
    }

    /// Whether there are no elements or members.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The member `name` of an object. Of several with that name, the first.
    pub fn get(self, name: &str) -> Option<Self> {
        if self.kind() != Kind::Object {
            return None;
        }
        let index = &self.document.index;
        let at = index.member(&self.document.text, self.at, name)?;
        Some(Self { at, ..self })
    }

    /// The members of an object in their order; nothing for other values.
    pub fn members(self) -> Members<'a> {
        let left = match self.kind() {
            Kind::Object => self.len(),
            _ => 0,
        };
        Members {
            document: self.document,
            at: self.at + 1,
            left,
        }
    }

    /// The elements of an array in their order; nothing for other values.
    pub fn elements(self) -> Elements<'a> {
        let left = match self.kind() {
            Kind::Array => self.len(),
            _ => 0,
        };
        Elements {
            document: self.document,
            at: self.at + 1,
            left,
        }
    }

    /// Where the value is: what [`Document::node_at`] takes.
    pub(crate) fn position(self) -> u32 {
        self.at
    }

    pub(super) fn entry(self) -> Entry {
        self.document.index.entries[self.at as usize]
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The members of an object: name and value.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    document: &'a Document,
    at: u32,
    left: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let entries = &self.document.index.entries;
        let name = entries[self.at as usize];
        let value = Node {
            document: self.document,
            at: self.at + 1,
        };
        self.at = value.entry().next;
        Some((self.document.decoded(name), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Members<'_> {}

/// The elements of an array.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    document: &'a Document,
    at: u32,
    left: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let element = Node {
            document: self.document,
            at: self.at,
        };
        self.at = element.entry().next;
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Elements<'_> {}

impl Document {
    fn decoded(&self, string: Entry) -> Cow<'_, str> {
        let content = string.content(&self.text);
        if string.flag() {
            strings::decode(content)
        } else {
            Cow::Borrowed(content)
        }
    }
}
