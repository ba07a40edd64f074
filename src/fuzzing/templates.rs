//! URI templates: what matches is an instance of the template, and instances match.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::service::Template;
use crate::wire::json::Node;

use super::halves;

/// The first line is a template, the second a URI, and all lines from there on are values.
pub fn templates(data: &[u8]) {
    let (text, rest) = halves(data);
    let (Ok(text), Ok(rest)) = (std::str::from_utf8(text), std::str::from_utf8(rest)) else {
        return;
    };
    let Ok(template) = Template::parse(text) else {
        return;
    };
    let parts = parts(text);
    let names: Vec<_> = parts.iter().filter_map(Part::name).collect();
    assert!(template.variables().eq(names.iter().copied()), "{text}");

    let uri = rest.lines().next().unwrap_or_default();
    if let Some(found) = template.matches(uri) {
        let members = found.node().members();
        let values: Vec<_> = members.map(|(_, value)| string(value)).collect();
        let found_names: Vec<_> = found.node().members().map(|(name, _)| name).collect();
        assert_eq!(found_names, names, "{text} {uri}");
        assert!(is_instance(uri, &parts, &values), "{text} {uri} {found}");
    }

    let mut values = rest.lines().map(str::to_owned).cycle();
    let values: Vec<_> = names
        .iter()
        .map_while(|_| values.next().filter(|value| !value.is_empty()))
        .collect();
    if values.len() == names.len()
        && let Some(uri) = expand(&parts, &values)
    {
        let found = template.matches(&uri);
        let found = found.unwrap_or_else(|| panic!("{text} has the instance {uri}"));
        assert!(
            found
                .node()
                .members()
                .map(|(_, value)| string(value))
                .eq(values),
            "{text} {uri}"
        );
    }
}

fn string(value: Node<'_>) -> String {
    value.as_str().expect("values are strings").into_owned()
}

enum Part<'a> {
    Literal(&'a str),
    Variable { name: &'a str, slashes: bool },
}

impl<'a> Part<'a> {
    fn name(&self) -> Option<&'a str> {
        match self {
            Self::Variable { name, .. } => Some(name),
            Self::Literal(_) => None,
        }
    }
}

/// What a template that was accepted consists of.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for piece in text.split_inclusive('}') {
        let (literal, expression) = piece.split_once('{').unwrap_or((piece, ""));
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        if let Some(name) = expression.strip_suffix('}') {
            let plain = name.strip_prefix('+');
            parts.push(Part::Variable {
                name: plain.unwrap_or(name),
                slashes: plain.is_some(),
            });
        }
    }
    parts
}

/// Whether these values, however they are encoded, make the URI.
fn is_instance(uri: &str, parts: &[Part<'_>], values: &[String]) -> bool {
    let Some((part, parts)) = parts.split_first() else {
        return uri.is_empty() && values.is_empty();
    };
    match part {
        Part::Literal(literal) => uri
            .strip_prefix(literal)
            .is_some_and(|rest| is_instance(rest, parts, values)),
        Part::Variable { slashes, .. } => {
            let Some((value, values)) = values.split_first() else {
                return false;
            };
            let mut ends = uri.char_indices().map(|(at, c)| at + c.len_utf8());
            ends.any(|end| {
                let (raw, rest) = uri.split_at(end);
                // What is decoded is a third of its length at least.
                raw.len() <= 3 * value.len()
                    && (*slashes || !raw.contains('/'))
                    && percent_decode_str(raw).eq(value.bytes())
                    && is_instance(rest, parts, values)
            })
        }
    }
}

/// The instance with these values, unless a value holds what would end it early.
fn expand(parts: &[Part<'_>], values: &[String]) -> Option<String> {
    let mut uri = String::new();
    let mut values = values.iter();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Literal(literal) => uri.push_str(literal),
            Part::Variable { .. } => {
                let value = utf8_percent_encode(values.next()?, NON_ALPHANUMERIC).to_string();
                if let Some(Part::Literal(behind)) = parts.get(at + 1)
                    && at + 2 < parts.len()
                    && format!("{value}{behind}").find(behind) != Some(value.len())
                {
                    return None;
                }
                uri.push_str(&value);
            }
        }
    }
    Some(uri)
}
