//! Why a value cannot be decoded, and where.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Expected, Unexpected};

/// A value that does not fit the type it was decoded into.
///
/// The message is bounded and does not repeat the value.
#[derive(Debug)]
pub struct DecodeError {
    message: String,
    /// A JSON Pointer, built from its end while the error travels outwards.
    path: String,
}

impl DecodeError {
    /// What does not fit.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where: a JSON Pointer.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn inside(mut self, segment: &str) -> Self {
        if self.path.len() < LONGEST_PATH {
            let segment = clip(segment, LONGEST_NAME);
            self.path
                .insert_str(0, &segment.replace('~', "~0").replace('/', "~1"));
            self.path.insert(0, '/');
        }
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            message: clip(&message.to_string(), LONGEST_MESSAGE).into_owned(),
            path: String::new(),
        }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!(
            "invalid type: {}, expected {expected}",
            kind_of(unexpected)
        ))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!(
            "invalid value: {}, expected {expected}",
            kind_of(unexpected)
        ))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("variant", variant, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("field", field, expected)
    }
}

impl DecodeError {
    fn unknown(what: &str, name: &str, expected: &[&str]) -> Self {
        let name = clip(name, LONGEST_NAME);
        de::Error::custom(format_args!(
            "unknown {what} `{name}`, expected one of {expected:?}"
        ))
    }

    pub(super) fn out_of_range() -> Self {
        de::Error::custom("number out of range")
    }
}

/// The kind of an unexpected value, without the value.
fn kind_of(unexpected: Unexpected<'_>) -> &str {
    match unexpected {
        Unexpected::Bool(_) => "boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "integer",
        Unexpected::Float(_) => "number with a fraction",
        Unexpected::Char(_) | Unexpected::Str(_) => "string",
        Unexpected::Unit => "null",
        Unexpected::Seq => "array",
        Unexpected::Map => "object",
        Unexpected::Other(other) => other,
        _ => "value",
    }
}

/// The first `most` bytes, cut at a character.
fn clip(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(format!("{}…", &text[..end]))
}

const LONGEST_MESSAGE: usize = 512;
const LONGEST_NAME: usize = 64;
const LONGEST_PATH: usize = 512;
