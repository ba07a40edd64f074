//! Finds the place in a schema that keeps it from being compiled.

use serde_json::{Map, Value};

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
    let text = schema.pointer(pointer)?.as_str()?;
    Some((pointer.clone(), text.to_owned()))
}

/// Where a schema, or one inside it, says that it is written in this dialect.
pub(super) fn declaration(schema: &Value, dialect: &str) -> Option<String> {
    let mut all = pointers(schema, &["$schema"]).into_iter();
    all.find(|it| schema.pointer(it).and_then(Value::as_str) == Some(dialect))
}

/// The pointers of all texts under these keywords, in their order.
fn pointers(schema: &Value, keywords: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    collect(schema, keywords, &mut String::new(), &mut found);
    found
}

fn collect(value: &Value, keywords: &[&str], pointer: &mut String, found: &mut Vec<String>) {
    let here = pointer.len();
    let mut visit = |step: &str, value: &Value| {
        pointer.push('/');
        pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        if keywords.contains(&step) && value.is_string() {
            found.push(pointer.clone());
        }
        collect(value, keywords, pointer, found);
        pointer.truncate(here);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, it)| visit(name, it)),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, it)| visit(&at.to_string(), it));
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
