//! JSON strings: finding their end, decoding their escapes, comparing and fingerprinting names.

use std::borrow::Cow;

use super::scan::{SyntaxError, SyntaxErrorKind};

/// The first byte from `at` on that is special in a string (a quote, a backslash or a control
/// character), or the end.
///
/// Eight bytes are looked at together; a long run without anything special is left to `memchr`.
#[inline]
pub(super) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    let long = at + LONG_RUN;
    while let Some(word) = bytes.get(at..at + 8) {
        let special = special_bytes(word);
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
        if at >= long {
            return end_of_run(bytes, at);
        }
    }
    while bytes.get(at).is_some_and(|byte| !is_special(*byte)) {
        at += 1;
    }
    at
}

/// Finds the quote that ends a string, going on from the first byte that is special in it.
pub(super) fn end(bytes: &[u8], special: usize) -> Result<usize, SyntaxError> {
    let mut at = special;
    loop {
        match bytes.get(at) {
            None => return Err(SyntaxError::new(SyntaxErrorKind::UnexpectedEnd, at)),
            Some(b'"') => return Ok(at),
            Some(b'\\') => at = plain_end(bytes, escape_end(bytes, at)?),
            Some(_) => return Err(SyntaxError::new(SyntaxErrorKind::ControlCharacter, at)),
        }
    }
}

/// Decodes the content (without quotes) of a scanned string.
pub(super) fn decode(content: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', content.as_bytes()) else {
        return Cow::Borrowed(content);
    };
    let mut out = String::with_capacity(content.len());
    decode_from(content, first, &mut out);
    Cow::Owned(out)
}

/// The decoded content of a scanned string that has escapes, in a buffer that is used again.
pub(super) fn decode_into<'a>(content: &str, buffer: &'a mut String) -> &'a str {
    buffer.clear();
    decode_from(content, 0, buffer);
    buffer
}

/// Whether two scanned strings say the same. Decodes no further than they do.
pub(super) fn same(one: &str, other: &str) -> bool {
    Decoded(one).eq(Decoded(other))
}

/// The characters of a scanned string.
struct Decoded<'a>(&'a str);

impl Iterator for Decoded<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let (decoded, length) = match self.0.chars().next()? {
            '\\' => unescape(self.0),
            plain => (plain, plain.len_utf8()),
        };
        self.0 = &self.0[length..];
        Some(decoded)
    }
}

/// Decodes what has its first escape at or behind `plain`.
fn decode_from(content: &str, plain: usize, out: &mut String) {
    let mut rest = content;
    let mut at = plain;
    loop {
        if rest.as_bytes().get(at) != Some(&b'\\') {
            match memchr::memchr(b'\\', &rest.as_bytes()[at..]) {
                Some(further) => at += further,
                None => break,
            }
        }
        out.push_str(&rest[..at]);
        let (decoded, length) = unescape(&rest[at..]);
        out.push(decoded);
        rest = &rest[at + length..];
        at = 0;
    }
    out.push_str(rest);
}

/// A cheap digest of a name. Equal names have equal ones; anybody can make two names collide.
pub(super) fn fingerprint(name: &[u8]) -> u32 {
    let length = name.len();
    let (head, tail) = if length >= 8 {
        (word(&name[..8]), word(&name[length - 8..]))
    } else if length >= 4 {
        (half(&name[..4]), half(&name[length - 4..]))
    } else {
        let mut all = [0; 8];
        all[..length].copy_from_slice(name);
        (u64::from_le_bytes(all), 0)
    };
    let mixed = (head ^ tail.rotate_left(23) ^ (length as u64) << 56).wrapping_mul(MIX);
    (mixed >> 32) as u32
}

/// One bit, the highest of its byte, for each quote, backslash and control character of eight
/// bytes. The lowest set bit is exact; those above it may be spurious.
fn special_bytes(eight: &[u8]) -> u64 {
    let x = word(eight);
    let quote = x ^ (LOW * u64::from(b'"'));
    let backslash = x ^ (LOW * u64::from(b'\\'));
    let zero = |v: u64| v.wrapping_sub(LOW) & !v;
    let control = x.wrapping_sub(LOW * 0x20) & !x;
    (zero(quote) | zero(backslash) | control) & HIGH
}

/// Moves over plain bytes with `memchr`, and looks for control characters among them in bulk.
fn end_of_run(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from..];
    let length = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
    let mut at = from;
    for block in rest[..length].chunks(256) {
        // Finding the smallest like this is what the compiler turns into vector instructions.
        if block.iter().copied().fold(u8::MAX, u8::min) < 0x20 {
            return at + block.iter().take_while(|b| **b >= 0x20).count();
        }
        at += block.len();
    }
    at
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The end of the escape that begins at `at`.
fn escape_end(bytes: &[u8], at: usize) -> Result<usize, SyntaxError> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match hex4(bytes, at)? {
            0xDC00..=0xDFFF => Err(SyntaxError::new(SyntaxErrorKind::LoneSurrogate, at)),
            0xD800..=0xDBFF => {
                let second = at + 6;
                if bytes.get(second..second + 2) != Some(b"\\u") {
                    return Err(SyntaxError::new(SyntaxErrorKind::LoneSurrogate, at));
                }
                match hex4(bytes, second)? {
                    0xDC00..=0xDFFF => Ok(second + 6),
                    _ => Err(SyntaxError::new(SyntaxErrorKind::LoneSurrogate, at)),
                }
            }
            _ => Ok(at + 6),
        },
        Some(_) => Err(SyntaxError::new(SyntaxErrorKind::MalformedEscape, at)),
        None => Err(SyntaxError::new(SyntaxErrorKind::UnexpectedEnd, at + 1)),
    }
}

/// The code unit of the `\uXXXX` that begins at `at`.
fn hex4(bytes: &[u8], at: usize) -> Result<u32, SyntaxError> {
    let Some(&[a, b, c, d]) = bytes.get(at + 2..at + 6) else {
        return Err(broken_hex4(bytes, at));
    };
    let [a, b, c, d] = [a, b, c, d].map(|digit| HEX[usize::from(digit)]);
    if (a | b | c | d) > 0xF {
        return Err(SyntaxError::new(SyntaxErrorKind::MalformedEscape, at));
    }
    Ok(u32::from_be_bytes([0, 0, a << 4 | b, c << 4 | d]))
}

/// Why the text that ends inside this escape is refused.
#[cold]
fn broken_hex4(bytes: &[u8], at: usize) -> SyntaxError {
    let digits = bytes.get(at + 2..).unwrap_or_default();
    if digits.iter().all(u8::is_ascii_hexdigit) {
        SyntaxError::new(SyntaxErrorKind::UnexpectedEnd, bytes.len())
    } else {
        SyntaxError::new(SyntaxErrorKind::MalformedEscape, at)
    }
}

/// The character of a checked escape and the escape's length.
fn unescape(escape: &str) -> (char, usize) {
    let bytes = escape.as_bytes();
    match bytes[1] {
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'u' => {
            let first = hex4(bytes, 0).unwrap_or_default();
            if !(0xD800..0xDC00).contains(&first) {
                return (char::from_u32(first).unwrap_or_default(), 6);
            }
            let second = hex4(bytes, 6).unwrap_or_default();
            let code = 0x10000 + ((first - 0xD800) << 10) + (second.wrapping_sub(0xDC00) & 0x3FF);
            (char::from_u32(code).unwrap_or_default(), 12)
        }
        plain => (char::from(plain), 2),
    }
}

fn word(eight: &[u8]) -> u64 {
    eight.try_into().map_or(0, u64::from_le_bytes)
}

fn half(four: &[u8]) -> u64 {
    four.try_into().map_or(0, u32::from_le_bytes).into()
}

/// What a hexadecimal digit counts; 255 for all other bytes.
const HEX: [u8; 256] = {
    let mut table = [u8::MAX; 256];
    let mut value = 0_u8;
    while value < 16 {
        table[b"0123456789abcdef"[value as usize] as usize] = value;
        table[b"0123456789ABCDEF"[value as usize] as usize] = value;
        value += 1;
    }
    table
};
const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// An odd constant with well-spread bits.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
/// How many plain bytes in a row suggest a long text.
const LONG_RUN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &[u8]) -> Result<usize, SyntaxError> {
        end(text, plain_end(text, 0))
    }

    #[test]
    fn finds_the_end_wherever_it_falls_in_a_word() {
        for length in 0..200 {
            let text = format!("{}\"", "ü".repeat(length));
            assert_eq!(plain_end(text.as_bytes(), 0), 2 * length);
            let text = format!("{}\\n\"", "x".repeat(length));
            assert_eq!(plain_end(text.as_bytes(), 0), length);
            assert_eq!(whole(text.as_bytes()), Ok(length + 2));
        }
    }

    #[test]
    fn refuses_control_characters_wherever_they_fall() {
        for length in 0..200 {
            for control in [0, 0x1f] {
                let mut text = vec![b'x'; length];
                text.push(control);
                text.extend([b'y'; 90]);
                text.push(b'"');
                let expected = SyntaxError::new(SyntaxErrorKind::ControlCharacter, length);
                assert_eq!(whole(&text), Err(expected));
            }
        }
        assert!(whole(b"\x7f\x20\"").is_ok());
    }

    #[test]
    fn decodes_every_escape() {
        assert_eq!(decode(r#"\"\\\/\b\f\n\r\t"#), "\"\\/\u{8}\u{c}\n\r\t");
        assert_eq!(decode(r"a\u00e9b\uD83D\uDE80c"), "aéb🚀c");
        assert_eq!(decode(r"\u0000"), "\0");
        assert!(matches!(decode("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn tells_broken_escapes_apart() {
        let kind = |text: &str| whole(text.as_bytes()).map_err(|e| e.kind());
        assert_eq!(kind(r#"\x""#), Err(SyntaxErrorKind::MalformedEscape));
        assert_eq!(kind(r#"\u12G4""#), Err(SyntaxErrorKind::MalformedEscape));
        assert_eq!(kind(r#"\uD800""#), Err(SyntaxErrorKind::LoneSurrogate));
        assert_eq!(kind(r#"\uDC00""#), Err(SyntaxErrorKind::LoneSurrogate));
        assert_eq!(
            kind(r#"\uD800\u0041""#),
            Err(SyntaxErrorKind::LoneSurrogate)
        );
        assert_eq!(kind(r#"\uD800\n""#), Err(SyntaxErrorKind::LoneSurrogate));
        assert_eq!(kind(r"\u12"), Err(SyntaxErrorKind::UnexpectedEnd));
        assert_eq!(kind(r"\"), Err(SyntaxErrorKind::UnexpectedEnd));
    }

    #[test]
    fn equal_names_have_equal_fingerprints() {
        for length in 0..40 {
            let name = "k".repeat(length);
            assert_eq!(fingerprint(name.as_bytes()), fingerprint(name.as_bytes()));
            let other = format!("{name}x");
            assert_ne!(fingerprint(name.as_bytes()), fingerprint(other.as_bytes()));
        }
    }
}
