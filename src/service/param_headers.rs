//! Arguments mirrored in headers: `x-mcp-header` in an input schema, `Mcp-Param-…` on a request.

use crate::wire::Error;
use crate::wire::header_value;
use crate::wire::json::{Kind, Node, RawJson, same_number};

use super::context::{Declared, Field};

/// The arguments of an operation that requests over HTTP repeat in headers.
#[derive(Debug, Default)]
pub(crate) struct ParamHeaders(Vec<ParamHeader>);

#[derive(Debug)]
struct ParamHeader {
    /// In lower case: `mcp-param-region`.
    field: String,
    /// Member names from the arguments down.
    path: Vec<String>,
}

impl ParamHeaders {
    /// Collects the annotations of an input schema.
    ///
    /// # Errors
    ///
    /// An annotation where none can be: see the rules of the protocol for `x-mcp-header`.
    pub(crate) fn collect(schema: &RawJson) -> Result<Self, String> {
        let mut found = Self::default();
        found.visit(schema.node(), &mut Vec::new())?;
        let all = count_annotations(schema.node());
        if all != found.0.len() {
            return Err(format!(
                "`{ANNOTATION}` can stand only on properties reached through `properties` alone"
            ));
        }
        Ok(found)
    }

    /// Compares the headers of a request with its arguments.
    pub(crate) fn verify(&self, declared: &dyn Declared, arguments: Node<'_>) -> Result<(), Error> {
        self.0.iter().try_for_each(|header| {
            header.verify(declared, arguments).map_err(|problem| {
                Error::header_mismatch(format_args!("{} {problem}", header.field))
            })
        })
    }

    fn visit(&mut self, schema: Node<'_>, path: &mut Vec<String>) -> Result<(), String> {
        if let Some(annotation) = schema.get(ANNOTATION) {
            self.add(annotation, schema, path)?;
        }
        for (name, property) in schema.get("properties").into_iter().flat_map(Node::members) {
            path.push(name.into_owned());
            self.visit(property, path)?;
            path.pop();
        }
        Ok(())
    }

    fn add(
        &mut self,
        annotation: Node<'_>,
        schema: Node<'_>,
        path: &[String],
    ) -> Result<(), String> {
        let place = format!("/{}", path.join("/"));
        let name = annotation.as_str().unwrap_or_default();
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(format!("`{ANNOTATION}` at {place} must be a header token"));
        }
        let kind = schema.get("type").and_then(Node::as_str);
        if !matches!(kind.as_deref(), Some("string" | "integer" | "boolean")) {
            return Err(format!(
                "`{ANNOTATION}` at {place} needs a string, an integer or a boolean"
            ));
        }
        let field = format!("mcp-param-{}", name.to_ascii_lowercase());
        if path.is_empty() || self.0.iter().any(|other| other.field == field) {
            return Err(format!("`{ANNOTATION}` `{name}` at {place} stands twice"));
        }
        self.0.push(ParamHeader {
            field,
            path: path.to_vec(),
        });
        Ok(())
    }
}

impl ParamHeader {
    fn verify(&self, declared: &dyn Declared, arguments: Node<'_>) -> Result<(), &'static str> {
        let value = self
            .path
            .iter()
            .try_fold(arguments, |node, name| node.get(name));
        let value = value.filter(|value| !value.is_null());
        match (declared.field(&self.field), value) {
            (Field::Several, _) => Err("stands more than once"),
            (Field::Absent, None) => Ok(()),
            (Field::Absent, Some(_)) => Err("is missing although the argument is given"),
            (Field::One(_), None) => Err("is given although the argument is not"),
            (Field::One(bytes), Some(value)) => {
                let text = header_value::decode(bytes)?;
                if mirrors(&text, value) {
                    Ok(())
                } else {
                    Err("differs from the argument")
                }
            }
        }
    }
}

/// Whether a header says what an argument is. Integers are compared as numbers.
fn mirrors(text: &str, value: Node<'_>) -> bool {
    match value.kind() {
        Kind::String => value.as_str().is_some_and(|value| value == text),
        Kind::Number => same_number(text, value.text()),
        Kind::True | Kind::False => value.text() == text,
        _ => false,
    }
}

/// How often the annotation stands anywhere in a schema, where a schema can stand.
fn count_annotations(schema: Node<'_>) -> usize {
    let mut count = 0;
    let mut open = vec![(schema, true)];
    while let Some((node, is_schema)) = open.pop() {
        for (name, value) in node.members() {
            if is_schema && name == ANNOTATION {
                count += 1;
            }
            // Constants are data, and names of properties are not keywords.
            if !(is_schema && matches!(&*name, "const" | "enum" | "default" | "examples")) {
                open.push((value, !(is_schema && name == "properties")));
            }
        }
        open.extend(node.elements().map(|element| (element, true)));
    }
    count
}

/// A character of an HTTP token.
fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

const ANNOTATION: &str = "x-mcp-header";

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Headers(&'static [(&'static str, &'static str)]);

    impl Declared for Headers {
        fn field(&self, name: &str) -> Field<'_> {
            let mut found = self.0.iter().filter(|(header, _)| *header == name);
            match (found.next(), found.next()) {
                (None, _) => Field::Absent,
                (Some((_, value)), None) => Field::One(value.as_bytes()),
                _ => Field::Several,
            }
        }
    }

    fn headers() -> ParamHeaders {
        let schema = r#"{"type":"object","properties":{
            "zone":{"type":"string","x-mcp-header":"Zone"},
            "slot":{"type":"integer","x-mcp-header":"Slot"},
            "rush":{"type":"boolean","x-mcp-header":"Rush"},
            "box":{"type":"object","properties":{"depth":{"type":"integer","x-mcp-header":"Depth"}}}}}"#;
        ParamHeaders::collect(&RawJson::parse(schema).unwrap()).unwrap()
    }

    fn agree(arguments: &str, fields: &'static [(&'static str, &'static str)]) -> bool {
        let arguments = RawJson::parse(arguments).unwrap();
        headers().verify(&Headers(fields), arguments.node()).is_ok()
    }

    /// Contract: P-79, P-80, P-81, P-82, P-83, case H09.
    #[test]
    fn headers_mirror_arguments() {
        assert!(agree(
            r#"{"zone":"n1","slot":42,"rush":true}"#,
            &[
                ("mcp-param-zone", "n1"),
                ("mcp-param-slot", "42.0"),
                ("mcp-param-rush", "true"),
                ("mcp-param-other", "ignored"),
            ]
        ));
        assert!(agree(
            r#"{"box":{"depth":-3}}"#,
            &[("mcp-param-depth", "-3")]
        ));
        assert!(agree(
            r#"{"zone":" n1 "}"#,
            &[("mcp-param-zone", "=?base64?IG4xIA==?=")]
        ));
        assert!(agree(r#"{"zone":""}"#, &[("mcp-param-zone", "")]));
        assert!(agree(r#"{"zone":null}"#, &[]));
        assert!(!agree(r#"{"slot":42}"#, &[("mcp-param-slot", "43")]));
        assert!(!agree(r#"{"slot":42}"#, &[("mcp-param-slot", "x")]));
        assert!(!agree(r#"{"rush":true}"#, &[("mcp-param-rush", "True")]));
        assert!(!agree(r#"{"zone":"n1"}"#, &[]));
        assert!(!agree(r#"{"zone":null}"#, &[("mcp-param-zone", "n1")]));
        assert!(!agree("{}", &[("mcp-param-slot", "42")]));
        assert!(!agree(
            r#"{"zone":"n1"}"#,
            &[("mcp-param-zone", "n1"), ("mcp-param-zone", "n1")]
        ));
        assert!(!agree(
            r#"{"zone":"n\u0001"}"#,
            &[("mcp-param-zone", "n\u{1}")]
        ));
    }

    /// Contract: P-131.
    #[test]
    fn misplaced_annotations_are_refused() {
        let refused = [
            r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A b"}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
            r#"{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}"#,
            r#"{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}"#,
            r#"{"type":"string","x-mcp-header":"Root"}"#,
        ];
        for schema in refused {
            assert!(
                ParamHeaders::collect(&RawJson::parse(schema).unwrap()).is_err(),
                "{schema}"
            );
        }
        let fine = [
            r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#,
            r#"{"properties":{"a":{"const":{"x-mcp-header":"A"}}}}"#,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"Method"}}}"#,
        ];
        for schema in fine {
            assert!(
                ParamHeaders::collect(&RawJson::parse(schema).unwrap()).is_ok(),
                "{schema}"
            );
        }
    }
}
