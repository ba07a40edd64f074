//! Request ids: a string or an integer, echoed exactly as it was sent.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::json::{Kind, RawJson};

/// The id of a request.
///
/// It keeps the text the peer wrote, so that `"a\/b"` or `9007199254740993` come back unchanged.
/// Two ids are equal if they are the same string or the same integer; `7` and `"7"` differ.
///
/// ```
/// use portcullis::wire::RequestId;
///
/// let id = RequestId::parse(r#""\u0061""#).unwrap();
/// assert_eq!(id.text(), r#""\u0061""#);
/// assert_eq!(id, RequestId::parse(r#""a""#).unwrap());
/// assert!(RequestId::parse("1.5").is_err() && RequestId::parse("null").is_err());
/// ```
#[derive(Clone)]
pub struct RequestId(RawJson);

/// Why something is not a request id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidId {
    /// Neither a string nor an integer.
    #[error("id must be a string or an integer")]
    WrongType,
    /// Longer than [`RequestId::LONGEST`].
    #[error("id is longer than 256 bytes")]
    TooLong,
}

impl RequestId {
    /// The longest encoded id, in bytes.
    pub const LONGEST: usize = 256;

    /// Takes an id from its JSON text.
    ///
    /// # Errors
    ///
    /// [`InvalidId`] if it is not one.
    pub fn parse(json: &str) -> Result<Self, InvalidId> {
        let value = RawJson::parse(json).map_err(|_| InvalidId::WrongType)?;
        Self::from_value(value)
    }

    pub(crate) fn from_value(value: RawJson) -> Result<Self, InvalidId> {
        let node = value.node();
        if node.kind() != Kind::String && !node.is_written_as_integer() {
            return Err(InvalidId::WrongType);
        }
        if node.text().len() > Self::LONGEST {
            return Err(InvalidId::TooLong);
        }
        Ok(Self(value))
    }

    /// The id as the peer wrote it: JSON text.
    pub fn text(&self) -> &str {
        self.0.text()
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        let value = RawJson::parse(id.to_string());
        Self(value.unwrap_or_else(|_| unreachable!("an integer is JSON")))
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.0.node(), other.0.node());
        one.kind() == other.kind()
            && match one.kind() {
                Kind::String => one.as_str() == other.as_str(),
                _ => one.text() == other.text(),
            }
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0.node().as_str() {
            Some(text) => (true, text).hash(state),
            None => (false, self.text()).hash(state),
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    #[expect(
        clippy::mutable_key_type,
        reason = "what an id hashes never changes: only the budget its message counts against does"
    )]
    fn keeps_type_and_magnitude() {
        let texts = [
            "0",
            "-1",
            "7",
            r#""7""#,
            r#""""#,
            "9007199254740993",
            "9223372036854775807",
            "18446744073709551616",
            r#""Zürich-\u00e9\ud83d\ude80""#,
            r#""a\/b\u0022""#,
        ];
        let ids: HashSet<_> = texts.iter().map(|t| RequestId::parse(t).unwrap()).collect();
        assert_eq!(ids.len(), texts.len());
        for text in texts {
            assert_eq!(RequestId::parse(text).unwrap().text(), text);
        }
        assert!(ids.contains(&RequestId::parse(r#""a/b\"""#).unwrap()));
    }

    #[test]
    fn refuses_other_types() {
        for text in ["null", "3.5", "1e2", "true", "[1]", r#"{"n":1}"#, "x"] {
            assert_eq!(RequestId::parse(text), Err(InvalidId::WrongType), "{text}");
        }
    }

    #[test]
    fn length_is_bounded_on_both_sides() {
        let id = |length: usize| RequestId::parse(&format!("\"{}\"", "x".repeat(length - 2)));
        assert!(id(256).is_ok());
        assert_eq!(id(257), Err(InvalidId::TooLong));
        // The encoded size counts, not the decoded one.
        let escaped = format!("\"{}\"", "\\u0041".repeat(43));
        assert_eq!(RequestId::parse(&escaped), Err(InvalidId::TooLong));
    }
}
