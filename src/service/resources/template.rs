//! URI templates: matching a URI and reading the values of its variables.
//!
//! Understood are literals, `{name}` and `{+name}` of RFC 6570. A value runs up to the literal
//! behind its variable; it is percent-decoded, and for `{name}` it holds no `/` before decoding.
//! Matching takes time linear in the length of the URI.

use percent_encoding::percent_decode_str;

use crate::wire::json::{ObjectWriter, RawJson};

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Variable { name: String, slashes: bool },
}

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, expression) = rest.split_once('{').unwrap_or((rest, ""));
            if literal.contains('}') {
                return Err("a `}` without a `{`".to_owned());
            }
            let opened = literal.len() < rest.len();
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            rest = match (opened, expression.split_once('}')) {
                (true, Some((expression, behind))) => {
                    if matches!(parts.last(), Some(Part::Variable { .. })) {
                        return Err("two variables need something between them".to_owned());
                    }
                    parts.push(variable(expression, &parts)?);
                    behind
                }
                (true, None) => return Err("a `{` without a `}`".to_owned()),
                (false, _) => "",
            };
        }
        Ok(Self { parts })
    }

    /// The names of the variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// The values of the variables if `uri` is an instance of the template: an object of strings.
    pub(crate) fn matches(&self, uri: &str) -> Option<RawJson> {
        let mut out = Vec::new();
        let mut values = ObjectWriter::new(&mut out);
        let mut rest = uri;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Part::Variable { name, slashes } => {
                    let end = match parts.next_if(|next| matches!(next, Part::Literal(_))) {
                        // The last literal stands at the end of the URI, wherever else it stands.
                        Some(Part::Literal(next)) if parts.peek().is_none() => {
                            rest.strip_suffix(next.as_str())?.len()
                        }
                        Some(Part::Literal(next)) => rest.find(next.as_str())?,
                        _ => rest.len(),
                    };
                    let value = &rest[..end];
                    if value.is_empty() || (!slashes && value.contains('/')) {
                        return None;
                    }
                    values.string(name, &percent_decode_str(value).decode_utf8().ok()?);
                    rest = &rest[end..];
                    // The literal that ended the value.
                    if let Some(behind) = self.literal_after(name) {
                        rest = rest.strip_prefix(behind)?;
                    }
                }
            }
        }
        values.end();
        let values = String::from_utf8(out).ok()?;
        rest.is_empty()
            .then(|| RawJson::parse(values).ok())
            .flatten()
    }

    fn literal_after(&self, variable: &str) -> Option<&str> {
        let mut parts = self.parts.iter();
        parts.find(|part| matches!(part, Part::Variable { name, .. } if name == variable))?;
        match parts.next() {
            Some(Part::Literal(literal)) => Some(literal),
            _ => None,
        }
    }
}

fn variable(expression: &str, before: &[Part]) -> Result<Part, String> {
    let (name, slashes) = match expression.strip_prefix('+') {
        Some(name) => (name, true),
        None => (expression, false),
    };
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    if name.is_empty() || !name.bytes().all(allowed) {
        return Err(format!(
            "`{{{expression}}}` is not understood: use `{{name}}` or `{{+name}}`"
        ));
    }
    let repeated =
        |part: &Part| matches!(part, Part::Variable { name: other, .. } if other == name);
    if before.iter().any(repeated) {
        return Err(format!("the variable `{name}` stands twice"));
    }
    Ok(Part::Variable {
        name: name.to_owned(),
        slashes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(template: &str, uri: &str) -> Option<String> {
        let values = Template::parse(template).unwrap().matches(uri)?;
        Some(values.text().to_owned())
    }

    #[test]
    fn reads_values_between_literals() {
        let cases = [
            (
                "test://{id}/data",
                "test://123/data",
                Some(r#"{"id":"123"}"#),
            ),
            ("test://{id}/data", "test:///data", None),
            ("test://{id}/data", "test://1/2/data", None),
            (
                "test://{+path}/data",
                "test://1/2/data",
                Some(r#"{"path":"1/2"}"#),
            ),
            ("test://{id}/data", "test://123/data/", None),
            ("a:{x}", "a:b%20c%2Fd", Some(r#"{"x":"b c/d"}"#)),
            ("a:{x}", "a:%ff", None),
            (
                "a:{x}-{y}.txt",
                "a:1-2-3.txt",
                Some(r#"{"x":"1","y":"2-3"}"#),
            ),
            ("a:{x}yy", "a:yyy", Some(r#"{"x":"y"}"#)),
            ("a:b", "a:b", Some("{}")),
            ("a:b", "a:bc", None),
        ];
        for (template, uri, expected) in cases {
            assert_eq!(
                matched(template, uri).as_deref(),
                expected,
                "{template} {uri}"
            );
        }
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        for broken in [
            "a:{",
            "a:}",
            "a:{x",
            "a:{}",
            "a:{x}{y}",
            "a:{?q}",
            "a:{x*}",
            "a:{x}/{x}",
        ] {
            assert!(Template::parse(broken).is_err(), "{broken}");
        }
        let names = Template::parse("a:{x}/{+y}").unwrap();
        assert_eq!(names.variables().collect::<Vec<_>>(), ["x", "y"]);
    }
}
