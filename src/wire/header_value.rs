//! Values of the protocol's own headers: plain text, or base64 between markers.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Decodes a header value that mirrors something in the message.
///
/// Blanks around it do not count. A value between `=?base64?` and `?=` is the base64 of UTF-8 text;
/// everything else is taken literally.
///
/// # Errors
///
/// What is wrong with it: bytes that cannot stand in such a header, or markers around something
/// that is not base64 of UTF-8 text.
pub(crate) fn decode(value: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    let text = plain(value)?;
    let inner = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    let Some(encoded) = inner else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = STANDARD
        .decode(encoded)
        .map_err(|_| "is not valid base64 between its markers")?;
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|_| "is not UTF-8 between its markers")
}

/// A header value as text, without the blanks around it.
///
/// # Errors
///
/// If bytes other than printable ASCII and tabs stand in it.
pub(crate) fn plain(value: &[u8]) -> Result<&str, &'static str> {
    let allowed = |b: &u8| matches!(b, b'\t' | 0x20..=0x7e);
    if !value.iter().all(allowed) {
        return Err("has characters that cannot stand in a header");
    }
    let text = std::str::from_utf8(value).unwrap_or_default();
    Ok(text.trim_matches([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: P-74, P-75, P-76, P-77, P-78.
    #[test]
    fn decodes_what_is_marked_and_takes_the_rest_literally() {
        let good = [
            ("Hello", "Hello"),
            ("  Hello\t", "Hello"),
            ("a\tb", "a\tb"),
            ("", ""),
            ("=?base64?SGVsbG8=?=", "Hello"),
            (" =?base64?SGVsbG8=?= ", "Hello"),
            ("=?base64??=", ""),
            ("=?base64?w7xiZXI=?=", "über"),
            ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
            ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
            ("SGVsbG8=?=", "SGVsbG8=?="),
        ];
        for (value, expected) in good {
            assert_eq!(decode(value.as_bytes()).as_deref(), Ok(expected), "{value}");
        }
        for bad in [
            "=?base64?SGVsbG8?=",
            "=?base64?SGVs!!!bG8=?=",
            "=?base64?/w==?=",
            "\u{1}",
            "ü",
            "a\u{7f}",
        ] {
            assert!(decode(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
