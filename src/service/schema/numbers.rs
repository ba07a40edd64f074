//! Keywords that compare numbers, which the library does by way of floats.

use std::cmp::Ordering;
use std::sync::Arc;

use jsonschema::json::{JsonNumber as _, Node as _};
use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Number, Value};

use crate::wire::json::{IndexedJson, NodeRef, number};

use super::Options;
use super::constants::Constants;

/// Options with these keywords in the place of the library's.
pub(super) fn exact(options: Options, constants: Constants) -> Options {
    let constants = Arc::new(constants);
    let wholes = if constants.are_compared() {
        WHOLES
    } else {
        &[]
    };
    let keywords = KEYWORDS.iter().chain(wholes);
    keywords.fold(options, |options, keyword| {
        let constants = Arc::clone(&constants);
        options.with_keyword(
            *keyword,
            move |schema: &Map<String, Value>, value: &Value, _: Location| {
                rule(keyword, schema, value, &constants)
            },
        )
    })
}

type AnyRule = Box<dyn for<'i> Keyword<'i, IndexedJson>>;

fn rule<'a>(
    keyword: &'static str,
    schema: &'a Map<String, Value>,
    value: &'a Value,
    constants: &Arc<Constants>,
) -> Result<AnyRule, ValidationError<'a>> {
    if WHOLES.contains(&keyword) {
        return Ok(Box::new(Whole {
            accepted: match value {
                Value::Array(values) if keyword == "enum" => values.clone(),
                value => vec![value.clone()],
            },
            constants: Arc::clone(constants),
        }));
    }
    let bound = Bound::new(keyword, schema, value, constants);
    match &bound.constant {
        Some(divisor) if keyword == "multipleOf" && !number::is_divisor(divisor) => {
            Err(ValidationError::custom(TOO_LONG))
        }
        _ => Ok(Box::new(bound)),
    }
}

/// `const` and `enum`.
struct Whole {
    accepted: Vec<Value>,
    constants: Arc<Constants>,
}

impl<'i> Keyword<'i, IndexedJson> for Whole {
    fn validate(&self, instance: NodeRef<'i>) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        let accepted: Vec<_> = self.accepted.iter().map(|it| self.shown(it)).collect();
        let accepted = accepted.join(", ");
        Err(ValidationError::custom(format!(
            "the value is none of: {accepted}"
        )))
    }

    fn is_valid(&self, instance: NodeRef<'i>) -> bool {
        let text = |number: &Number| self.constants.original(number);
        let mut accepted = self.accepted.iter();
        accepted.any(|expected| instance.equals(expected, &text))
    }
}

impl Whole {
    fn shown(&self, value: &Value) -> String {
        match value {
            Value::Number(number) => self.constants.original(number),
            Value::Array(_) => "[…]".to_owned(),
            Value::Object(_) => "{…}".to_owned(),
            value => value.to_string(),
        }
    }
}

/// A keyword that bounds numbers, with its constant.
struct Bound {
    rule: Rule,
    /// None where an old dialect has a boolean beside the bound it is about.
    constant: Option<String>,
    /// The same, if it is one of those that most are.
    short: Option<i64>,
}

/// What has to hold, and how it reads if it does not.
enum Rule {
    Order(fn(Ordering) -> bool, &'static str),
    Divides,
}

impl Bound {
    fn new(
        keyword: &str,
        schema: &Map<String, Value>,
        value: &Value,
        constants: &Constants,
    ) -> Self {
        // The oldest dialect says beside a bound whether that itself is outside.
        let excluded = |beside| schema.get(beside).and_then(Value::as_bool) == Some(true);
        let rule = match keyword {
            "multipleOf" => Rule::Divides,
            "minimum" if !excluded("exclusiveMinimum") => {
                Rule::Order(Ordering::is_ge, "less than the minimum of")
            }
            "maximum" if !excluded("exclusiveMaximum") => {
                Rule::Order(Ordering::is_le, "greater than the maximum of")
            }
            "minimum" | "exclusiveMinimum" => {
                Rule::Order(Ordering::is_gt, "less than or equal to the minimum of")
            }
            _ => Rule::Order(Ordering::is_lt, "greater than or equal to the maximum of"),
        };
        let constant = value.as_number().map(|it| constants.original(it));
        Self {
            rule,
            short: constant.as_ref().and_then(|it| it.parse().ok()),
            constant,
        }
    }

    fn admits(&self, instance: NodeRef<'_>) -> bool {
        let (Some(constant), Some(value)) = (&self.constant, instance.as_number()) else {
            return true;
        };
        let value = value.as_str();
        match (&self.rule, self.short) {
            (Rule::Divides, _) => number::is_multiple(&value, constant),
            (Rule::Order(holds, _), short) => holds(match (value.parse::<i64>(), short) {
                (Ok(value), Some(constant)) => value.cmp(&constant),
                _ => number::compare(&value, constant),
            }),
        }
    }

    fn problem(&self) -> String {
        let constant = self.constant.as_deref().unwrap_or_default();
        let problem = match self.rule {
            Rule::Order(_, problem) => problem,
            Rule::Divides => "not a multiple of",
        };
        format!("the value is {problem} {constant}")
    }
}

impl<'i> Keyword<'i, IndexedJson> for Bound {
    fn validate(&self, instance: NodeRef<'i>) -> Result<(), ValidationError<'i>> {
        if self.admits(instance) {
            return Ok(());
        }
        Err(ValidationError::custom(self.problem()))
    }

    fn is_valid(&self, instance: NodeRef<'i>) -> bool {
        self.admits(instance)
    }
}

const TOO_LONG: &str =
    "a divisor of more than 19 digits needs the cargo feature `arbitrary-precision`";
pub(super) const KEYWORDS: &[&str] = if cfg!(feature = "arbitrary-precision") {
    BOUNDS
} else {
    &[
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maximum",
        "minimum",
        "multipleOf",
    ]
};
/// With the cargo feature the library divides by any number.
const BOUNDS: &[&str] = &["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"];
const WHOLES: &[&str] = &["const", "enum"];
