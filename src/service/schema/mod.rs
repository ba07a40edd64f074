//! JSON Schemas, compiled once and checked on the index of a message.

mod constants;
mod mismatch;
mod numbers;
mod patterns;
mod references;
mod steps;

use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{
    PatternOptions, ReferencingError, Retrieve, ValidationError, ValidationOptions, Validator,
};
use serde_json::Value;

use crate::wire::json::{IndexedJson, Kind, Node, NodeRef, RawJson, within};

use self::constants::Constants;
pub(crate) use self::mismatch::Mismatch;
use self::mismatch::{LONGEST_MESSAGE, MismatchError, clipped};
use self::patterns::Patterns;

/// A schema: its text as it is published, and the validator made of it.
#[derive(Debug)]
pub(crate) struct Schema {
    raw: RawJson,
    validator: Validator<IndexedJson>,
    patterns: Arc<Patterns>,
    /// It can go as deep as the values it is for.
    refers: bool,
}

type Options = ValidationOptions<'static, Arc<dyn Retrieve>, IndexedJson>;

impl Schema {
    /// Compiles a schema. References must stay inside it.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for the person who wrote it.
    pub(crate) fn compile(raw: RawJson) -> Result<Self, String> {
        Self::compile_with(raw, options())
    }

    /// The same with something to retrieve other schemas by, which only tests have.
    fn compile_with(raw: RawJson, options: Options) -> Result<Self, String> {
        check_bounds(&raw)?;
        let (mut value, constants) = Constants::read(raw.node())?;
        let options = if references::is_known(&value) {
            numbers::exact(options, constants)
        } else {
            options
        };
        let patterns = Arc::new(Patterns::rewrite(&mut value));
        let options = if patterns.look_around() {
            steps::backtracking(options, &patterns)
        } else {
            options
        };
        if let Some((place, dialect)) = references::unknown_dialect(&value) {
            return Err(not_supported(&place, dialect));
        }
        let validator = options.build(&value);
        let validator = validator.map_err(|error| explain(&error, &value, &options))?;
        Ok(Self {
            refers: references::any(&value),
            raw,
            validator,
            patterns,
        })
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
        if self.refers && is_deep(value) {
            return Err(Mismatch::too_deep());
        }
        let instance = NodeRef::Value(value);
        let looks = FEW_LOOKS + 16 * value.text().len();
        let valid = || within(looks, || self.validator.is_valid(instance));
        if !self.patterns.look_around() {
            return match valid() {
                Some(true) => Ok(()),
                Some(false) => Err(self.mismatch(value)),
                None => Err(Mismatch::undecided()),
            };
        }
        let names = self.patterns.names_look_around();
        if names && steps::has_long_name(value) {
            return Err(Mismatch::undecided());
        }
        match steps::bounded(valid).flatten() {
            Some(true) => Ok(()),
            // Where it gives up on a name, the library looks for the place in a tree.
            Some(false) if !names || instance.is_small() => {
                let mismatch = steps::bounded(|| self.mismatch(value));
                Err(mismatch.unwrap_or_else(Mismatch::undecided))
            }
            // What was not decided is not valid, in whatever part of the schema.
            _ => Err(Mismatch::undecided()),
        }
    }

    /// What is wrong with a value, as far as that can be found in a few steps.
    fn mismatch(&self, value: Node<'_>) -> Mismatch {
        let instance = NodeRef::Value(value);
        let new = |error| MismatchError::new(error, &self.patterns);
        let all = || {
            let errors = self.validator.iter_errors(instance);
            errors.take(MOST_ERRORS).map(new).collect()
        };
        let first = || {
            let first = self.validator.validate(instance).err();
            first.map(new).into_iter().collect()
        };
        let length = value.text().len();
        // All errors of a large value would be larger than the value.
        let errors = (length <= LARGE_VALUE).then(|| within(FEW_LOOKS, all));
        let errors: Option<Vec<_>> = errors
            .flatten()
            .or_else(|| within(FEW_LOOKS + 4 * length, first));
        errors.map_or_else(Mismatch::unknown, |errors| Mismatch { errors })
    }
}

/// What all schemas are compiled with: nothing is fetched, formats refuse nothing, and patterns
/// take time in proportion to the text.
fn options() -> Options {
    let linear = PatternOptions::regex()
        .size_limit(REGEX_SIZE)
        .dfa_size_limit(REGEX_SIZE);
    jsonschema::options_for::<IndexedJson>()
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(linear)
}

/// Whether a value nests deeper than the stack of a thread may have room for.
fn is_deep(value: Node<'_>) -> bool {
    fn nests(value: Node<'_>, left: usize) -> bool {
        let inside = || {
            value
                .elements()
                .chain(value.members().map(|(_, value)| value))
        };
        match left.checked_sub(1) {
            Some(left) => inside().any(|value| nests(value, left)),
            None => !value.is_empty(),
        }
    }
    value.text().len() > 2 * DEEPEST_VALUE && nests(value, DEEPEST_VALUE)
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

/// What is wrong with a schema that was not compiled.
fn explain(error: &ValidationError<'_>, schema: &Value, options: &Options) -> String {
    let ValidationErrorKind::Referencing(problem) = error.kind() else {
        return describe(error);
    };
    if let ReferencingError::UnknownSpecification { specification } = problem {
        let place = references::declaration(schema, specification).unwrap_or_default();
        return not_supported(&place, specification);
    }
    let fails = |schema: &Value| {
        let built = options.build(schema);
        built.is_err_and(|error| matches!(error.kind(), ValidationErrorKind::Referencing(_)))
    };
    let Some((pointer, reference)) = references::culprit(schema, fails) else {
        return describe(error);
    };
    let pointer = clipped(&pointer, LONGEST_MESSAGE);
    let reference = clipped(&reference, LONGEST_MESSAGE);
    let problem = match problem {
        ReferencingError::Unretrievable { .. } => "leaves the schema, and nothing is fetched",
        ReferencingError::PointerToNowhere { .. } | ReferencingError::NoSuchAnchor { .. } => {
            "leads nowhere"
        }
        _ => "is none",
    };
    format!("at {pointer}: the reference \"{reference}\" {problem}")
}

fn not_supported(place: &str, dialect: &str) -> String {
    let place = clipped(place, LONGEST_MESSAGE);
    let dialect = clipped(dialect, LONGEST_MESSAGE);
    format!("at {place}: the dialect \"{dialect}\" is not supported")
}

fn describe(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { "the root" } else { place };
    clipped(
        &format!("at {place}: {}", error.masked_with("the value")),
        LONGEST_MESSAGE,
    )
}

const LONGEST_SCHEMA: usize = 1024 * 1024;
const DEEPEST_SCHEMA: usize = 64;
/// The deepest value that a schema with references is for.
const DEEPEST_VALUE: usize = 256;
const MOST_SUBSCHEMAS: usize = 4096;
/// Compiled size of one regular expression, in bytes.
const REGEX_SIZE: usize = 1024 * 1024;
/// How often any value may be looked into, be it as short as it likes.
const FEW_LOOKS: usize = 64 * 1024;
const MOST_ERRORS: usize = 32;
/// Text of the longest value all of whose errors are looked for, in bytes.
const LARGE_VALUE: usize = 64 * 1024;

#[cfg(test)]
mod tests;
