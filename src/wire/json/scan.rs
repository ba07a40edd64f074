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
        count: 0,
        room: depth,
        decoded: String::new(),
        error: None,
    };
    match scanner.run() {
        Ok(()) => Ok(scanner.index),
        Err(Stop) => Err(scanner.error.unwrap_or_else(|| scanner.error_here())),
    }
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
    /// How many elements or members that container has so far.
    count: u32,
    /// How many more containers may be opened.
    room: u32,
    /// The last name that had to be decoded; the buffer is used again.
    decoded: String,
    error: Option<SyntaxError>,
}

/// The text is refused; the scanner knows why. It is small, so that results fit a register.
struct Stop;

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            // One scalar, or the beginning of a container.
            match self.token()? {
                b'"' => self.string()?,
                b'{' => {
                    self.enter(Kind::Object)?;
                    if self.token()? != b'}' {
                        self.name()?;
                        continue;
                    }
                    self.leave();
                }
                b'[' => {
                    self.enter(Kind::Array)?;
                    if self.token()? != b']' {
                        continue;
                    }
                    self.leave();
                }
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.literal("true", Kind::True)?,
                b'f' => self.literal("false", Kind::False)?,
                b'n' => self.literal("null", Kind::Null)?,
                _ => return Err(self.fail(SyntaxErrorKind::UnexpectedCharacter)),
            }
            if self.value_ended()? {
                return Ok(());
            }
        }
    }

    /// Closes what ends behind a value. True if that was the whole text, else another value follows.
    fn value_ended(&mut self) -> Result<bool, Stop> {
        loop {
            if self.open == NONE {
                self.skip_space();
                return match self.bytes.get(self.at) {
                    None => Ok(true),
                    Some(_) => Err(self.fail(SyntaxErrorKind::TrailingCharacters)),
                };
            }
            match (self.token()?, self.in_object) {
                (b',', in_object) => {
                    self.at += 1;
                    if in_object {
                        self.token()?;
                        self.name()?;
                    }
                    return Ok(false);
                }
                (b']', false) | (b'}', true) => self.leave(),
                _ => return Err(self.fail(SyntaxErrorKind::UnexpectedCharacter)),
            }
        }
    }

    fn enter(&mut self, kind: Kind) -> Result<(), Stop> {
        if self.room == 0 {
            return Err(self.fail(SyntaxErrorKind::TooDeep));
        }
        self.room -= 1;
        if self.open != NONE {
            // An element of an array is counted here, a member by its name.
            self.count += u32::from(!self.in_object);
            self.index.entries[self.open as usize].set_count(self.count);
        }
        let mut entry = Entry::new(kind, self.at, self.at);
        entry.next = self.open;
        self.open = self.index.push(entry);
        self.in_object = kind == Kind::Object;
        self.count = 0;
        self.at += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.at += 1;
        self.room += 1;
        let closed = self.open;
        self.open = self.index.close(closed, self.at, self.count);
        if self.in_object && self.count > 1 {
            self.index.check_names(self.text, closed);
        }
        self.in_object = false;
        self.count = 0;
        if self.open != NONE {
            let around = self.index.entries[self.open as usize];
            self.in_object = around.kind() == Kind::Object;
            self.count = around.meta_count();
        }
    }

    fn push_scalar(&mut self, kind: Kind, start: usize, flag: bool) {
        self.count += u32::from(!self.in_object);
        let mut entry = Entry::new(kind, start, self.at);
        entry.set_flag(flag);
        entry.next = self.index.next_position() + 1;
        self.index.push(entry);
    }

    /// A member name and the colon behind it.
    fn name(&mut self) -> Result<(), Stop> {
        let start = self.at;
        if self.bytes.get(start) != Some(&b'"') {
            return Err(self.fail(SyntaxErrorKind::UnexpectedCharacter));
        }
        let escaped = self.string_end()?;
        let mut entry = Entry::new(Kind::String, start, self.at);
        entry.set_flag(escaped);
        entry.next = if escaped {
            let mut decoded = std::mem::take(&mut self.decoded);
            let name = strings::decode_into(entry.content(self.text), &mut decoded).as_bytes();
            self.refuse_reserved(name, start)?;
            let fingerprint = strings::fingerprint(name);
            self.decoded = decoded;
            fingerprint
        } else {
            let content = &self.bytes[start + 1..self.at - 1];
            self.refuse_reserved(content, start)?;
            strings::fingerprint(content)
        };
        self.count += 1;
        self.index.push(entry);
        if self.token()? != b':' {
            return Err(self.fail(SyntaxErrorKind::UnexpectedCharacter));
        }
        self.at += 1;
        Ok(())
    }

    /// `serde_json` reads an object with one of these names as a number or as a JSON text inside a
    /// string, when the cargo features for it are on anywhere in the build.
    fn refuse_reserved(&mut self, name: &[u8], offset: usize) -> Result<(), Stop> {
        if name.first() == Some(&b'$') && RESERVED_NAMES.contains(&name) {
            self.at = offset;
            return Err(self.fail(SyntaxErrorKind::ReservedName));
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Stop> {
        let start = self.at;
        let escaped = self.string_end()?;
        self.push_scalar(Kind::String, start, escaped);
        Ok(())
    }

    /// Moves behind the closing quote of the string that opens here. True if it has escapes.
    fn string_end(&mut self) -> Result<bool, Stop> {
        let end = strings::plain_end(self.bytes, self.at + 1);
        if self.bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(false);
        }
        match strings::end(self.bytes, end) {
            Ok(end) => {
                self.at = end + 1;
                Ok(true)
            }
            Err(error) => {
                self.error = Some(error);
                Err(Stop)
            }
        }
    }

    fn literal(&mut self, word: &str, kind: Kind) -> Result<(), Stop> {
        let start = self.at;
        if !self.bytes[start..].starts_with(word.as_bytes()) {
            return Err(self.fail(SyntaxErrorKind::UnexpectedCharacter));
        }
        self.at += word.len();
        self.push_scalar(kind, start, false);
        Ok(())
    }

    fn number(&mut self) -> Result<(), Stop> {
        let start = self.at;
        if self.bytes[self.at] == b'-' {
            self.at += 1;
        }
        let leading_zero = self.bytes.get(self.at) == Some(&b'0');
        let digits = self.digits()?;
        if leading_zero && digits > 1 {
            self.at = start;
            return Err(self.fail(SyntaxErrorKind::MalformedNumber));
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
    fn digits(&mut self) -> Result<usize, Stop> {
        let rest = &self.bytes[self.at..];
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += digits;
        match (digits, self.bytes.get(self.at)) {
            (0, None) => Err(self.fail(SyntaxErrorKind::UnexpectedEnd)),
            (0, Some(_)) => Err(self.fail(SyntaxErrorKind::MalformedNumber)),
            _ => Ok(digits),
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// The first byte that is not blank.
    fn token(&mut self) -> Result<u8, Stop> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(byte) => return Ok(*byte),
                None => return Err(self.fail(SyntaxErrorKind::UnexpectedEnd)),
            }
        }
    }

    #[cold]
    fn fail(&mut self, kind: SyntaxErrorKind) -> Stop {
        self.error = Some(SyntaxError::new(kind, self.at));
        Stop
    }

    fn error_here(&self) -> SyntaxError {
        SyntaxError::new(SyntaxErrorKind::UnexpectedCharacter, self.at)
    }
}

/// The entry of a container counts up to 2^28 elements.
const LONGEST: usize = 256 << 20;
const RESERVED_NAMES: [&[u8]; 2] = [
    b"$serde_json::private::RawValue",
    b"$serde_json::private::Number",
];
