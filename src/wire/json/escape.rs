//! Writing JSON strings: find what must be escaped, copy everything else in bulk.

/// Appends `text` as a JSON string, quotes included.
///
/// Long runs that need no escape are copied as a whole, which is what makes this several times
/// faster than a writer that looks at each byte.
///
/// ```
/// let mut out = Vec::new();
/// portcullis::wire::json::push_str(&mut out, "a\"\u{1}ü");
/// assert_eq!(out, r#""a\"\u0001ü""#.as_bytes());
/// ```
pub fn push_str(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    push_escaped(out, text.as_bytes());
    out.push(b'"');
}

/// How long `text` is as a JSON string, without the quotes.
pub(crate) fn escaped_len(text: &str) -> usize {
    let more = |byte: &u8| usize::from(is_special(*byte)) + 4 * usize::from(is_spelt_out(*byte));
    text.len() + text.as_bytes().iter().map(more).sum::<usize>()
}

/// Whether the texts, as JSON strings, have more than `most` bytes together. Each is looked at only if
/// that decides.
pub(crate) fn exceed<'a>(most: usize, texts: impl Iterator<Item = &'a str> + Clone) -> bool {
    let length: usize = texts.clone().map(str::len).sum();
    length > most
        || (length > most / LONGEST_ESCAPE && texts.map(escaped_len).sum::<usize>() > most)
}

/// `text` as a JSON string, quotes included.
pub fn quote(text: &str) -> String {
    let mut out = Vec::new();
    push_str(&mut out, text);
    // Escaping replaces ASCII bytes by ASCII bytes, so the rest stays the UTF-8 it was.
    String::from_utf8(out).unwrap_or_default()
}

fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    loop {
        let plain = plain_prefix(rest);
        out.extend_from_slice(&rest[..plain]);
        let Some(&special) = rest.get(plain) else {
            return;
        };
        push_escape(out, special);
        rest = &rest[plain + 1..];
    }
}

/// How many leading bytes need no escape.
fn plain_prefix(text: &[u8]) -> usize {
    let mut at = 0;
    for block in text.chunks(BLOCK) {
        // Without an early exit the compiler looks at a whole block with vector instructions.
        if block.iter().fold(false, |found, b| found | is_special(*b)) {
            return at + block.iter().take_while(|b| !is_special(**b)).count();
        }
        at += block.len();
    }
    at
}

#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches the compiler uses vector instructions"
)]
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches the compiler uses vector instructions"
)]
fn is_spelt_out(byte: u8) -> bool {
    (byte < 0x20) & !((0x08..=0x0d).contains(&byte) & (byte != 0x0b))
}

fn push_escape(out: &mut Vec<u8>, special: u8) {
    let short = match special {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        control => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(control >> 4)]);
            out.push(HEX[usize::from(control & 0xf)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

const HEX: &[u8; 16] = b"0123456789abcdef";
const BLOCK: usize = 32;
/// What one byte becomes at most.
const LONGEST_ESCAPE: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_serde_json_writes() {
        let mut texts: Vec<String> = (0..0x80).map(|c| char::from(c).to_string()).collect();
        for length in 0..100 {
            texts.push(format!("{}\"{}", "ü".repeat(length), "x".repeat(length)));
        }
        for text in texts {
            assert_eq!(quote(&text), serde_json::to_string(&text).unwrap());
            assert_eq!(escaped_len(&text) + 2, quote(&text).len(), "{text:?}");
        }
    }

    #[test]
    fn texts_exceed_by_what_they_become() {
        let texts = ["x", "\u{1}", "\""];
        for most in 0..12 {
            assert_eq!(exceed(most, texts.iter().copied()), most < 9, "{most}");
        }
        assert!(!exceed(0, std::iter::empty()));
    }
}
