//! The output schemas of direct mode: a value of the application's schema, or a failure.
//!
//! The application's schema is bundled once, byte for byte, as a definition of its own. If anything
//! in it refers to something, it becomes a schema resource with an identifier, so that its references
//! go on meaning what they meant at its own root.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::service::Schema;
use crate::wire::json::{Node, ObjectWriter, RawJson};
use crate::wire::{Error, Refusal, ToolDefinition};

/// Wrapped output schemas, made when somebody who may see the operation first needs one.
#[derive(Debug, Default)]
pub(super) struct Wrappers {
    made: Mutex<HashMap<Box<str>, Made>>,
}

#[derive(Debug)]
struct Made {
    /// For which revision of the operation it was made.
    tool: Arc<ToolDefinition>,
    wrapped: Result<Option<RawJson>, Error>,
}

impl Wrappers {
    /// The output schema to publish; none for an operation that declares none.
    pub(super) fn prepare(&self, tool: &Arc<ToolDefinition>) -> Result<Option<RawJson>, Error> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(tool.name.as_str())
            && Arc::ptr_eq(&known.tool, tool)
        {
            return known.wrapped.clone();
        }
        let wrapped = tool
            .output_schema
            .as_ref()
            .map(|schema| wrap(&tool.name, schema));
        let wrapped = wrapped.transpose().map_err(|problem| {
            let operation = &*tool.name;
            tracing::error!(target: "portcullis::mode", operation, problem, "cannot wrap its output schema");
            Error::refused(Refusal::Internal)
        });
        made.insert(
            tool.name.as_str().into(),
            Made {
                tool: Arc::clone(tool),
                wrapped: wrapped.clone(),
            },
        );
        wrapped
    }
}

/// Wraps an application's schema and makes sure that the result is one.
fn wrap(name: &str, schema: &RawJson) -> Result<RawJson, String> {
    let dialect = Dialect::of(schema.node());
    let mut out = Vec::with_capacity(schema.text().len() + 640);
    let mut object = ObjectWriter::new(&mut out);
    object.optional_string("$schema", dialect.uri.as_deref());
    object.raw("type", "\"object\"");
    let (id, value) = bundled(name, schema);
    object.object(dialect.definitions, |definitions| {
        definitions.raw("value", &value);
        definitions.raw("failure", FAILURE);
    });
    let reference = match id {
        Some(id) => id,
        None => format!("#/{}/value", dialect.definitions),
    };
    object.array(
        "anyOf",
        [
            ("value", reference),
            ("failure", format!("#/{}/failure", dialect.definitions)),
        ],
        |out, (member, reference)| {
            let mut branch = ObjectWriter::new(out);
            branch.object("properties", |properties| {
                properties.object(member, |value| _ = value.string("$ref", &reference));
            });
            branch.array("required", [member], |out, member| {
                out.extend_from_slice(crate::wire::json::quote(member).as_bytes());
            });
            branch.boolean("additionalProperties", false);
            branch.end();
        },
    );
    object.end();
    let wrapped = String::from_utf8(out).map_err(|error| error.to_string())?;
    let wrapped = RawJson::parse(wrapped).map_err(|error| error.to_string())?;
    Schema::compile(wrapped.clone())?;
    Ok(wrapped)
}

/// Which dialect a schema is written in, and where that keeps definitions.
struct Dialect {
    uri: Option<String>,
    definitions: &'static str,
}

impl Dialect {
    fn of(schema: Node<'_>) -> Self {
        let uri = schema
            .get("$schema")
            .and_then(Node::as_str)
            .map(std::borrow::Cow::into_owned);
        let old = uri.as_deref().is_some_and(|uri| uri.contains("/draft-0"));
        Self {
            uri,
            definitions: if old { "definitions" } else { "$defs" },
        }
    }
}

/// The schema as a definition: with an identifier, if it has none and anything in it refers to
/// something. Then that identifier is how it is referred to.
fn bundled(name: &str, schema: &RawJson) -> (Option<String>, String) {
    let node = schema.node();
    if let Some(id) = node.get("$id").and_then(Node::as_str) {
        return (Some(id.into_owned()), schema.text().to_owned());
    }
    if !node.is_object() || !refers(node) {
        return (None, schema.text().to_owned());
    }
    let id = format!(
        "urn:mcp:output:{}",
        utf8_percent_encode(name, NON_ALPHANUMERIC)
    );
    let mut text = format!("{{\"$id\":\"{id}\",");
    text.push_str(schema.text().trim_start().trim_start_matches('{'));
    (Some(id), text)
}

/// Whether a keyword anywhere in a schema refers to something, or is referred to.
fn refers(schema: Node<'_>) -> bool {
    let mut open = vec![schema];
    while let Some(node) = open.pop() {
        for (name, value) in node.members() {
            if matches!(
                &*name,
                "$ref"
                    | "$dynamicRef"
                    | "$recursiveRef"
                    | "$anchor"
                    | "$dynamicAnchor"
                    | "$id"
                    | "id"
            ) {
                return true;
            }
            open.push(value);
        }
        open.extend(node.elements());
    }
    false
}

const FAILURE: &str = r#"{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"retryable":{"type":"boolean"},"diagnostics":{}},"required":["code","message","retryable"]}"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(schema: &str) -> Schema {
        let schema = RawJson::parse(schema).unwrap();
        Schema::compile(wrap("a tool", &schema).unwrap()).unwrap()
    }

    fn accepts(schema: &Schema, value: &str) -> bool {
        schema.check(RawJson::parse(value).unwrap().node()).is_ok()
    }

    #[test]
    fn wrapping_changes_no_verdict() {
        let schemas = [
            (r#"{"type":"integer"}"#, "7", r#""x""#),
            (
                r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"null"}}}"##,
                "null",
                "1",
            ),
            (
                r##"{"type":"object","properties":{"k":{"$ref":"#"}},"additionalProperties":false}"##,
                r#"{"k":{"k":{}}}"#,
                r#"{"k":1}"#,
            ),
            (
                r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"n":{"type":"null"}},"items":[{"$ref":"#/definitions/n"}]}"##,
                "[null]",
                "[1]",
            ),
            (
                r#"{"$id":"urn:x:leaf","$anchor":"a","properties":{"k":{"$ref":"urn:x:leaf#a"}},"type":"object"}"#,
                r#"{"k":{}}"#,
                r#"{"k":7}"#,
            ),
            ("{}", "7", ""),
            ("true", "7", ""),
            ("false", "", "7"),
        ];
        for (schema, good, bad) in schemas {
            let schema = wrapped(schema);
            if !good.is_empty() {
                assert!(
                    accepts(&schema, &format!(r#"{{"value":{good}}}"#)),
                    "{schema:?} {good}"
                );
            }
            if !bad.is_empty() {
                assert!(
                    !accepts(&schema, &format!(r#"{{"value":{bad}}}"#)),
                    "{schema:?} {bad}"
                );
            }
            let failure = r#"{"failure":{"code":"c","message":"m","retryable":false}}"#;
            assert!(accepts(&schema, failure));
            assert!(!accepts(&schema, r#"{"failure":{"code":"c"}}"#));
            assert!(!accepts(&schema, "{}"));
            assert!(!accepts(&schema, "7"));
        }
    }
}
