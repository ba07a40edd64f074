//! Finds the place in a schema that keeps it from being compiled.

use serde_json::{Map, Value};

use super::patterns::{MAPS, VALUES};

/// The JSON Pointer of the first reference that `fails`, a whole compilation, comes down to.
pub(super) fn culprit(schema: &Value, fails: impl Fn(&Value) -> bool) -> Option<(String, String)> {
    let all = pointers(schema, &REFERENCES);
    // A schema fails from the first reference on that leads nowhere, so half of what is left can be
    // set aside with every step.
    let (mut good, mut bad) = (0, all.len());
    if !fails(&without(schema, &all[bad..])) {
        return None;
    }
    while good < bad {
        let middle = usize::midpoint(good, bad);
        if fails(&without(schema, &all[middle..])) {
            bad = middle;
        } else {
            good = middle + 1;
        }
    }
    let pointer = all.get(bad.checked_sub(1)?)?;
    Some((pointer.clone(), text_at(schema, pointer)?.to_owned()))
}

/// Where a schema, or one inside it, says that it is written in this dialect.
pub(super) fn declaration(schema: &Value, dialect: &str) -> Option<String> {
    let mut all = pointers(schema, &["$schema"]).into_iter();
    all.find(|it| text_at(schema, it) == Some(dialect))
}

/// A dialect that a schema inside this one is written in, and that is not known.
pub(super) fn unknown_dialect(schema: &Value) -> Option<(String, &str)> {
    let inner = pointers(schema, &["$schema"]).into_iter();
    let mut inner = inner.filter(|it| it != "/$schema");
    inner.find_map(|it| {
        let dialect = text_at(schema, &it)?;
        (!DIALECTS.contains(&dialect.trim_end_matches('#'))).then_some((it, dialect))
    })
}

/// Whether a schema refers to anything.
pub(super) fn any(schema: &Value) -> bool {
    !pointers(schema, &REFERENCES).is_empty()
}

/// Whether a schema is written in a dialect that has all keywords: those that have not are found
/// by tests alone.
pub(super) fn is_known(schema: &Value) -> bool {
    let dialect = schema.get("$schema").and_then(Value::as_str);
    dialect.is_none_or(|it| DIALECTS.contains(&it.trim_end_matches('#')))
}

fn text_at<'a>(schema: &'a Value, pointer: &str) -> Option<&'a str> {
    schema.pointer(pointer)?.as_str()
}

/// The pointers of all texts under these keywords, in their order.
fn pointers(schema: &Value, keywords: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    collect(schema, keywords, false, &mut String::new(), &mut found);
    found
}

fn collect(
    value: &Value,
    keywords: &[&str],
    is_map: bool,
    pointer: &mut String,
    found: &mut Vec<String>,
) {
    let here = pointer.len();
    let mut visit = |step: &str, value: &Value, is_keyword: bool| {
        if is_keyword && VALUES.contains(&step) {
            return;
        }
        pointer.push('/');
        pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        if is_keyword && keywords.contains(&step) && value.is_string() {
            found.push(pointer.clone());
        }
        let is_map = is_keyword && MAPS.contains(&step);
        collect(value, keywords, is_map, pointer, found);
        pointer.truncate(here);
    };
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, it)| visit(name, it, !is_map)),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, it)| visit(&at.to_string(), it, false));
        }
        _ => {}
    }
}

/// The schema without these references.
fn without(schema: &Value, pointers: &[String]) -> Value {
    let mut schema = schema.clone();
    for pointer in pointers {
        let Some((parent, name)) = pointer.rsplit_once('/') else {
            continue;
        };
        let parent = schema.pointer_mut(parent).and_then(Value::as_object_mut);
        parent.and_then(|members: &mut Map<String, Value>| members.remove(name));
    }
    schema
}

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];
