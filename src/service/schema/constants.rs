//! Reads a schema into the tree that the library compiles, and keeps the numbers it would change.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use crate::wire::json::{Kind, Node, number};

use super::mismatch::{LONGEST_MESSAGE, clipped};
use super::numbers::KEYWORDS;
use super::patterns::MAPS;

/// The numbers of a schema that are others in its tree, by what stands for them there.
#[derive(Debug, Default)]
pub(super) struct Constants {
    by_stand_in: HashMap<String, String>,
    compared: bool,
}

/// What a value of a schema is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Schema,
    /// Schemas by names of any kind.
    Schemas,
    /// Values are compared with it.
    Compared,
    /// It is for people.
    Note,
}

impl Constants {
    /// The tree of a schema.
    ///
    /// # Errors
    ///
    /// A number that the tree cannot hold and that the library counts to.
    pub(super) fn read(schema: Node<'_>) -> Result<(Value, Self), String> {
        let mut constants = Self::default();
        let tree = constants.build(schema, Part::Schema, &mut String::new())?;
        Ok((tree, constants))
    }

    /// A number of the tree as it stands in the schema.
    pub(super) fn original(&self, number: &Number) -> String {
        let text = number.to_string();
        self.by_stand_in.get(&text).cloned().unwrap_or(text)
    }

    /// Whether values are compared with a number, or with something that has one inside.
    pub(super) fn are_compared(&self) -> bool {
        self.compared
    }

    fn build(&mut self, node: Node<'_>, part: Part, path: &mut String) -> Result<Value, String> {
        let here = path.len();
        Ok(match node.kind() {
            Kind::Null => Value::Null,
            Kind::False => Value::Bool(false),
            Kind::True => Value::Bool(true),
            Kind::String => Value::String(node.as_str().unwrap_or_default().into_owned()),
            Kind::Number => self.number(node.text(), part, path)?,
            Kind::Array => {
                let mut elements = Vec::with_capacity(node.len());
                for (at, element) in node.elements().enumerate() {
                    path.push('/');
                    path.push_str(&at.to_string());
                    elements.push(self.build(element, part, path)?);
                    path.truncate(here);
                }
                Value::Array(elements)
            }
            Kind::Object => {
                let mut members = Map::new();
                for (name, value) in node.members() {
                    path.push('/');
                    path.push_str(&name.replace('~', "~0").replace('/', "~1"));
                    let built = self.build(value, part.at(&name), path)?;
                    members.insert(name.into_owned(), built);
                    path.truncate(here);
                }
                Value::Object(members)
            }
        })
    }

    fn number(&mut self, text: &str, part: Part, path: &str) -> Result<Value, String> {
        let keyword = path.rsplit('/').next().unwrap_or_default();
        self.compared |= part == Part::Compared;
        let own = match part {
            Part::Schema => KEYWORDS.contains(&keyword),
            Part::Compared => true,
            Part::Schemas | Part::Note => false,
        };
        let number: Option<Number> = serde_json::from_str(text).ok();
        let exact = number.filter(|it| number::same(&it.to_string(), text));
        match exact {
            Some(number) if !own || !is_stand_in(&number) => Ok(Value::Number(number)),
            _ if own => Ok(Value::Number(self.stand_in(text))),
            None if COUNTS.contains(&keyword) && part == Part::Schema => {
                let place = clipped(path, LONGEST_MESSAGE);
                Err(format!("at {place}: {INEXACT}"))
            }
            _ => Ok(Value::Null),
        }
    }

    fn stand_in(&mut self, text: &str) -> Number {
        let number = Number::from(FIRST + self.by_stand_in.len() as u64);
        self.by_stand_in.insert(number.to_string(), text.to_owned());
        number
    }
}

impl Part {
    /// What a member is.
    fn at(self, name: &str) -> Self {
        match (self, name) {
            (Self::Schemas, _) => Self::Schema,
            (Self::Schema, "default" | "examples") => Self::Note,
            (Self::Schema, "const" | "enum") => Self::Compared,
            (Self::Schema, name) if MAPS.contains(&name) => Self::Schemas,
            (part, _) => part,
        }
    }
}

fn is_stand_in(number: &Number) -> bool {
    number.as_u64().is_some_and(|it| it >= FIRST)
}

/// Numbers from here on stand for others, and so not for themselves.
const FIRST: u64 = u64::MAX - u32::MAX as u64;
/// Keywords that count.
const COUNTS: [&str; 8] = [
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
];
const INEXACT: &str =
    "this number needs more than 64 bits, and so the cargo feature `arbitrary-precision`";
