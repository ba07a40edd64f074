//! JSON Schemas, compiled once and checked on the index of a message.

use std::fmt::Write as _;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::wire::json::{Document, IndexedJson, Kind, Node, NodeRef, ObjectWriter, RawJson};

/// A schema: its text as it is published, and the validator made of it.
#[derive(Debug)]
pub(crate) struct Schema {
    raw: RawJson,
    validator: Validator<IndexedJson>,
}

/// Where a value does not match a schema; never empty, and bounded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    errors: Vec<MismatchError>,
}

#[derive(Debug, PartialEq, Eq)]
struct MismatchError {
    /// A JSON Pointer into the value.
    path: String,
    keyword: String,
    message: String,
}

impl Schema {
    /// Compiles a schema. References must stay inside it.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for the person who wrote it.
    pub(crate) fn compile(raw: RawJson) -> Result<Self, String> {
        check_bounds(&raw)?;
        let value: Value = serde_json::from_str(raw.text()).map_err(|error| error.to_string())?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(BACKTRACKS)
            .size_limit(REGEX_SIZE)
            .dfa_size_limit(REGEX_SIZE);
        let validator = jsonschema::options_for::<IndexedJson>()
            .with_pattern_options(patterns)
            .offline()
            .build(&value)
            .map_err(|error| describe(&error))?;
        Ok(Self { raw, validator })
    }

    /// Compiles a schema whose instances are objects, as arguments are.
    pub(crate) fn compile_object(raw: RawJson) -> Result<Self, String> {
        let node = raw.node();
        let kind = node.get("type").and_then(Node::as_str);
        if kind.as_deref() != Some("object") {
            return Err("the root of the schema must say \"type\": \"object\"".to_owned());
        }
        Self::compile(raw)
    }

    /// The schema as it was given.
    pub(crate) fn raw(&self) -> &RawJson {
        &self.raw
    }

    /// Checks a value.
    pub(crate) fn check(&self, value: Node<'_>) -> Result<(), Mismatch> {
        let instance = NodeRef::Value(value);
        if self.validator.is_valid(instance) {
            return Ok(());
        }
        // All errors of a large value would be larger than the value.
        let errors = if value.text().len() <= LARGE_VALUE {
            self.validator
                .iter_errors(instance)
                .take(MOST_ERRORS)
                .map(MismatchError::new)
                .collect()
        } else {
            let first = self.validator.validate(instance).err();
            first.map(MismatchError::new).into_iter().collect()
        };
        Err(Mismatch { errors })
    }
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
    fn new(error: ValidationError<'_>) -> Self {
        Self {
            path: clipped(error.instance_path().as_str(), LONGEST_PATH),
            keyword: clipped(error.kind().keyword(), LONGEST_PATH),
            // Values are hidden: they may be secret, and they may be long.
            message: clipped(&error.masked_with("the value").to_string(), LONGEST_MESSAGE),
        }
    }
}

/// Refuses schemas that would make compiling or checking expensive.
fn check_bounds(raw: &RawJson) -> Result<(), String> {
    if raw.text().len() > LONGEST_SCHEMA {
        return Err(format!("the schema is longer than {LONGEST_SCHEMA} bytes"));
    }
    let mut seen = 0;
    let mut open = vec![(raw.node(), 1)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEEPEST_SCHEMA {
            return Err(format!("the schema nests deeper than {DEEPEST_SCHEMA}"));
        }
        if node.is_object() {
            seen += 1;
            if seen > MOST_SUBSCHEMAS {
                return Err(format!(
                    "the schema has more than {MOST_SUBSCHEMAS} subschemas"
                ));
            }
        }
        open.extend(node.members().map(|(_, value)| (value, depth + 1)));
        open.extend(node.elements().map(|value| (value, depth + 1)));
    }
    match raw.node().kind() {
        Kind::Object | Kind::True | Kind::False => Ok(()),
        _ => Err("a schema is an object or a boolean".to_owned()),
    }
}

fn describe(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { "the root" } else { place };
    clipped(
        &format!("at {place}: {}", error.masked_with("the value")),
        LONGEST_MESSAGE,
    )
}

fn clipped(text: &str, most: usize) -> String {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

const LONGEST_SCHEMA: usize = 1024 * 1024;
const DEEPEST_SCHEMA: usize = 64;
const MOST_SUBSCHEMAS: usize = 4096;
/// Compiled size of one regular expression, in bytes.
const REGEX_SIZE: usize = 1024 * 1024;
/// Steps one match may go back. Enough for any honest pattern, and over within milliseconds.
const BACKTRACKS: usize = 100_000;
const MOST_ERRORS: usize = 32;
/// Text of the longest value all of whose errors are looked for, in bytes.
const LARGE_VALUE: usize = 64 * 1024;
const LONGEST_PATH: usize = 128;
const LONGEST_MESSAGE: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Result<Schema, String> {
        Schema::compile(RawJson::parse(text).unwrap())
    }

    fn check(text: &str, value: &str) -> Result<(), Mismatch> {
        schema(text)
            .unwrap()
            .check(RawJson::parse(value).unwrap().node())
    }

    #[test]
    fn errors_name_place_and_rule_and_hide_the_value() {
        let mismatch = check(
            r#"{"properties":{"a/b":{"type":"string"}},"required":["c"]}"#,
            r#"{"a/b":{"secret":1}}"#,
        )
        .unwrap_err();
        let text = mismatch.diagnostics();
        assert!(!text.text().contains("secret"), "{text}");
        let paths: Vec<_> = mismatch
            .errors
            .iter()
            .map(|e| (e.path.as_str(), e.keyword.as_str()))
            .collect();
        assert!(paths.contains(&("/a~1b", "type")), "{paths:?}");
        assert!(paths.contains(&("", "required")), "{paths:?}");
    }

    #[test]
    fn errors_are_bounded() {
        let many = format!("[{}]", vec!["1"; 200].join(","));
        let mismatch = check(r#"{"items":{"type":"string"}}"#, &many).unwrap_err();
        assert_eq!(mismatch.errors.len(), MOST_ERRORS);
        assert!(mismatch.diagnostics().text().len() < 8 * 1024);
        let large = format!("[{}]", vec!["1"; 40_000].join(","));
        let mismatch = check(r#"{"items":{"type":"string"}}"#, &large).unwrap_err();
        assert_eq!(mismatch.errors.len(), 1);
    }

    #[test]
    fn references_stay_inside() {
        let error = schema(r#"{"$ref":"https://example.com/x.json"}"#).unwrap_err();
        assert!(error.contains("example.com"), "{error}");
        assert!(schema(r##"{"$ref":"#/nowhere"}"##).is_err());
        assert!(schema(r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}"##).is_ok());
    }

    #[test]
    fn broken_schemas_are_refused() {
        assert!(schema(r#"{"type":"strin"}"#).is_err());
        assert!(schema(r#"{"pattern":"("}"#).is_err());
        assert!(schema(r#"{"$schema":"urn:unknown:dialect"}"#).is_err());
        assert!(schema("7").is_err());
        let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(64), "}".repeat(64));
        assert!(schema(&deep).unwrap_err().contains("nests deeper"));
    }

    #[test]
    fn backtracking_is_bounded() {
        let hostile = format!("\"{}!\"", "a".repeat(40));
        assert!(check(r#"{"pattern":"^(a+)+$"}"#, &hostile).is_err());
        assert!(check(r#"{"pattern":"^(?!tmp_)[a-z_]+$"}"#, "\"stable_name\"").is_ok());
        assert!(check(r#"{"pattern":"^\\d{3}$"}"#, "\"\u{661}\u{662}\u{663}\"").is_err());
    }
}
