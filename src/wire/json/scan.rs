//! The one validating pass: checks a JSON text and records where its values are.
//!
//! The scanner accepts exactly the grammar of RFC 8259, apart from three refusals of our own:
//! nesting beyond the given depth, escapes of lone surrogates (no Rust string can hold them), and
//! the member names that `serde_json` gives a second meaning. Duplicate member names are found here
//! but only *recorded*: refusing them is the job of a layer.
//!
//! It is a state machine without recursion and without a stack of its own: while a container is
//! open, its entry's `next` field links to the container around it.

use super::index::{Entry, Index, Kind, NONE};
use super::strings;

/// Why a text was refused, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct SyntaxError {
    kind: SyntaxErrorKind,
    offset: usize,
}

/// What is wrong with a refused text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The text is not UTF-8.
    #[error("text is not UTF-8")]
    NotUtf8,
    /// The text ends inside a value.
    #[error("unexpected end of text")]
    UnexpectedEnd,
    /// A byte that cannot stand here.
    #[error("unexpected character")]
    UnexpectedCharacter,
    /// Something follows the value.
    #[error("trailing characters after the value")]
    TrailingCharacters,
    /// A number that RFC 8259 does not know, such as `01` or `1.`.
    #[error("malformed number")]
    MalformedNumber,
    /// A control character inside a string.
    #[error("unescaped control character in a string")]
    ControlCharacter,
    /// An escape that RFC 8259 does not know.
    #[error("malformed escape in a string")]
    MalformedEscape,
    /// `\uD800` to `\uDFFF` without its other half.
    #[error("lone surrogate in a string")]
    LoneSurrogate,
    /// More containers around a value than allowed.
    #[error("nesting is too deep")]
    TooDeep,
    /// A member name that `serde_json` would turn into another value.
    #[error("reserved member name `$serde_json::private::…`")]
    ReservedName,
    /// More than 256 MiB, which the index cannot address.
    #[error("text is too long")]
    TooLong,
}

impl SyntaxError {
    pub(super) fn new(kind: SyntaxErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// What is wrong.
    pub fn kind(&self) -> SyntaxErrorKind {
        self.kind
    }

    /// The offset of the offending byte.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

/// Scans `text`, which may nest at most `depth` containers.
pub(super) fn scan(text: &str, depth: u32) -> Result<Index, SyntaxError> {
    if text.len() > LONGEST {
        return Err(SyntaxError::new(SyntaxErrorKind::TooLong, 0));
    }
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        at: 0,
        index: Index::with_room_for(text.len()),
        open: NONE,
        in_object: false,
        room: depth,
    };
    scanner.run()?;
    Ok(scanner.index)
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    index: Index,
    /// The innermost open container, or `NONE`.
    open: u32,
    /// Whether that container is an object.
    in_object: bool,
    /// How many more containers may be opened.
    room: u32,
}

/// What comes after a value was read.
enum Next {
    Value,
    End,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.skip_space();
            if self.value()? {
                continue;
            }
            match self.after_value()? {
                Next::Value => {}
                Next::End => return Ok(()),
            }
        }
    }

    /// Reads one scalar or opens one container. True if a value must follow at once.
    fn value(&mut self) -> Result<bool, SyntaxError> {
        match self.peek()? {
            b'"' => self.string()?,
            b'{' => {
                self.enter(Kind::Object)?;
                self.skip_space();
                if self.peek()? != b'}' {
                    self.name()?;
                    return Ok(true);
                }
                self.leave();
            }
            b'[' => {
                self.enter(Kind::Array)?;
                self.skip_space();
                if self.peek()? != b']' {
                    return Ok(true);
                }
                self.leave();
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.literal("true", Kind::True)?,
            b'f' => self.literal("false", Kind::False)?,
            b'n' => self.literal("null", Kind::Null)?,
            _ => return Err(self.error(SyntaxErrorKind::UnexpectedCharacter)),
        }
        Ok(false)
    }

    /// Closes what ends here and says whether another value follows.
    fn after_value(&mut self) -> Result<Next, SyntaxError> {
        loop {
            self.skip_space();
            if self.open == NONE {
                return match self.bytes.get(self.at) {
                    None => Ok(Next::End),
                    Some(_) => Err(self.error(SyntaxErrorKind::TrailingCharacters)),
                };
            }
            match (self.peek()?, self.in_object) {
                (b',', false) => {
                    self.at += 1;
                    return Ok(Next::Value);
                }
                (b',', true) => {
                    self.at += 1;
                    self.skip_space();
                    self.name()?;
                    return Ok(Next::Value);
                }
                (b']', false) | (b'}', true) => self.leave(),
                _ => return Err(self.error(SyntaxErrorKind::UnexpectedCharacter)),
            }
        }
    }

    fn enter(&mut self, kind: Kind) -> Result<(), SyntaxError> {
        if self.room == 0 {
            return Err(self.error(SyntaxErrorKind::TooDeep));
        }
        self.room -= 1;
        let start = self.at;
        self.at += 1;
        let mut entry = Entry::new(kind, start, start);
        entry.next = self.open;
        self.open = self.push(entry);
        self.in_object = kind == Kind::Object;
        Ok(())
    }

    fn leave(&mut self) {
        self.at += 1;
        self.room += 1;
        let closed = self.open;
        self.open = self.index.close(closed, self.at);
        if self.in_object {
            self.index.check_names(self.text, closed);
        }
        self.in_object =
            self.open != NONE && self.index.entries[self.open as usize].kind() == Kind::Object;
    }

    /// Appends an entry; an element of an array is counted here, a member by its name.
    fn push(&mut self, entry: Entry) -> u32 {
        if self.open != NONE && !self.in_object {
            self.index.entries[self.open as usize].count_one();
        }
        self.index.push(entry)
    }

    fn push_scalar(&mut self, kind: Kind, start: usize, flag: bool) {
        let mut entry = Entry::new(kind, start, self.at);
        entry.set_flag(flag);
        let at = self.push(entry);
        self.index.entries[at as usize].next = at + 1;
    }

    /// A member name and the colon behind it.
    fn name(&mut self) -> Result<(), SyntaxError> {
        if self.peek()? != b'"' {
            return Err(self.error(SyntaxErrorKind::UnexpectedCharacter));
        }
        let start = self.at;
        let escaped = self.string_end()?;
        let mut entry = Entry::new(Kind::String, start, self.at);
        entry.set_flag(escaped);
        let content = &self.text[start + 1..self.at - 1];
        entry.next = if escaped {
            let decoded = strings::decode(content);
            Self::refuse_reserved(&decoded, start)?;
            strings::fingerprint(decoded.as_bytes())
        } else {
            Self::refuse_reserved(content, start)?;
            strings::fingerprint(content.as_bytes())
        };
        self.index.entries[self.open as usize].count_one();
        self.index.push(entry);
        self.skip_space();
        if self.peek()? != b':' {
            return Err(self.error(SyntaxErrorKind::UnexpectedCharacter));
        }
        self.at += 1;
        Ok(())
    }

    /// `serde_json` reads an object with one of these names as a number or as a JSON text inside a
    /// string, when the cargo features for it are on anywhere in the build.
    fn refuse_reserved(name: &str, offset: usize) -> Result<(), SyntaxError> {
        if name.starts_with('$') && RESERVED_NAMES.contains(&name) {
            return Err(SyntaxError::new(SyntaxErrorKind::ReservedName, offset));
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let escaped = self.string_end()?;
        self.push_scalar(Kind::String, start, escaped);
        Ok(())
    }

    /// Moves behind the closing quote of the string that opens here. True if it has escapes.
    fn string_end(&mut self) -> Result<bool, SyntaxError> {
        let (end, escaped) = strings::end(self.bytes, self.at + 1)?;
        self.at = end + 1;
        Ok(escaped)
    }

    fn literal(&mut self, word: &str, kind: Kind) -> Result<(), SyntaxError> {
        let start = self.at;
        if !self.bytes[start..].starts_with(word.as_bytes()) {
            return Err(self.error(SyntaxErrorKind::UnexpectedCharacter));
        }
        self.at += word.len();
        self.push_scalar(kind, start, false);
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        if self.bytes[self.at] == b'-' {
            self.at += 1;
        }
        let leading_zero = self.bytes.get(self.at) == Some(&b'0');
        let digits = self.digits()?;
        if leading_zero && digits > 1 {
            self.at = start;
            return Err(self.error(SyntaxErrorKind::MalformedNumber));
        }
        let mut fractional = false;
        if self.bytes.get(self.at) == Some(&b'.') {
            fractional = true;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            fractional = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.push_scalar(Kind::Number, start, fractional);
        Ok(())
    }

    /// At least one digit; how many there were.
    fn digits(&mut self) -> Result<usize, SyntaxError> {
        let rest = &self.bytes[self.at..];
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += digits;
        match (digits, self.bytes.get(self.at)) {
            (0, None) => Err(self.error(SyntaxErrorKind::UnexpectedEnd)),
            (0, Some(_)) => Err(self.error(SyntaxErrorKind::MalformedNumber)),
            _ => Ok(digits),
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, SyntaxError> {
        self.bytes
            .get(self.at)
            .copied()
            .ok_or_else(|| self.error(SyntaxErrorKind::UnexpectedEnd))
    }

    fn error(&self, kind: SyntaxErrorKind) -> SyntaxError {
        SyntaxError::new(kind, self.at)
    }
}

/// The entry of a container counts up to 2^28 elements.
const LONGEST: usize = 256 << 20;
const RESERVED_NAMES: [&str; 2] = [
    "$serde_json::private::RawValue",
    "$serde_json::private::Number",
];
