//! Where a value does not match a schema, for people and models.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

use crate::wire::json::{Document, ObjectWriter, RawJson};

use super::patterns::Patterns;

/// Where a value does not match a schema; never empty, and bounded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(super) errors: Vec<MismatchError>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct MismatchError {
    /// A JSON Pointer into the value.
    pub(super) path: String,
    pub(super) keyword: String,
    message: String,
}

impl Mismatch {
    /// The errors as `{"errors":[{"path","keyword","message"}]}`.
    pub(crate) fn diagnostics(&self) -> RawJson {
        let mut out = Vec::new();
        let mut object = ObjectWriter::new(&mut out);
        object.array("errors", &self.errors, |out, error| {
            let mut object = ObjectWriter::new(out);
            object.string("path", &error.path);
            object.string("keyword", &error.keyword);
            object.string("message", &error.message);
            object.end();
        });
        object.end();
        Document::parse(out, 8)
            .map_or_else(|_| unreachable!("the writers write JSON"), RawJson::from)
    }

    /// What can be said where checking took too long.
    pub(super) fn undecided() -> Self {
        Self::of_the_whole("schema", UNDECIDED)
    }

    /// What can be said where finding out more would take too long.
    pub(super) fn unknown() -> Self {
        Self::of_the_whole("schema", UNKNOWN)
    }

    /// What can be said of a value that is not looked into.
    pub(super) fn too_deep() -> Self {
        Self::of_the_whole("$ref", TOO_DEEP)
    }

    fn of_the_whole(keyword: &str, message: &str) -> Self {
        let error = MismatchError {
            path: String::new(),
            keyword: keyword.to_owned(),
            message: message.to_owned(),
        };
        Self {
            errors: vec![error],
        }
    }

    /// The errors as text a model can act on: one line each.
    pub(crate) fn text(&self, what: &str) -> String {
        let mut text = format!("{what} do not match the schema");
        for error in &self.errors {
            let path = if error.path.is_empty() {
                "(root)"
            } else {
                &error.path
            };
            let _ = write!(text, "\n{path}: {} [{}]", error.message, error.keyword);
        }
        text
    }
}

impl MismatchError {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the shape of an iterator's closure"
    )]
    pub(super) fn new(error: ValidationError<'_>, patterns: &Patterns) -> Self {
        // Values are hidden: they may be secret, and they may be long.
        let message = match error.kind() {
            ValidationErrorKind::Pattern { pattern } => unmatched(patterns.original(pattern)),
            ValidationErrorKind::BacktrackLimitExceeded { .. } => UNDECIDED.to_owned(),
            _ => error.masked_with("the value").to_string(),
        };
        Self {
            path: clipped(error.instance_path().as_str(), LONGEST_PATH),
            keyword: clipped(error.kind().keyword(), LONGEST_PATH),
            message: clipped(&message, LONGEST_MESSAGE),
        }
    }
}

/// What is said of a text that a pattern does not match.
pub(super) fn unmatched(pattern: &str) -> String {
    format!("the value does not match {pattern:?}")
}

pub(super) fn clipped(text: &str, most: usize) -> String {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

const TOO_DEEP: &str = "the value nests too deep for a schema with references";
const UNDECIDED: &str = "the value takes too many steps to check";
const UNKNOWN: &str = "the value does not match, and takes too many steps to say where";
const LONGEST_PATH: usize = 128;
pub(super) const LONGEST_MESSAGE: usize = 200;
