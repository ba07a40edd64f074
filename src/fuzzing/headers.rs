//! Values of headers: what is encoded is read back, and nothing is read that base64 does not say.

use crate::service::{Declared, Field, ParamHeaders};
use crate::wire::header_value;
use crate::wire::json::{RawJson, quote, same_number};

use super::halves;
use super::tokens::integer;

/// The first line is a header, and all that follows is the argument that it repeats.
pub fn headers(data: &[u8]) {
    let (header, argument) = halves(data);
    let found = header_value::decode(header).ok();
    let expected = decoded(header);
    assert_eq!(
        found.as_deref(),
        expected.as_deref(),
        "{:?}",
        header.escape_ascii()
    );

    let argument = String::from_utf8_lossy(argument);
    let encoded = encode(&argument);
    assert_eq!(
        header_value::decode(encoded.as_bytes()).as_deref(),
        Ok(&*argument)
    );
    mirrored(header, &encoded, &argument);
    numbers(&argument);
}

/// A header agrees with an argument if it says the same, and not otherwise.
fn mirrored(header: &[u8], encoded: &str, argument: &str) {
    let schema = r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}"#;
    let schema = RawJson::parse(schema).expect("a schema");
    let annotations = ParamHeaders::collect(&schema).expect("one annotation");
    let arguments = format!(r#"{{"a":{}}}"#, quote(argument));
    let arguments = RawJson::parse(arguments).expect("arguments");
    let agrees = |header: Option<&[u8]>| {
        let header = Header(header.map(<[u8]>::to_vec));
        annotations.verify(&header, arguments.node()).is_ok()
    };
    assert!(agrees(Some(encoded.as_bytes())), "{encoded}");
    assert!(!agrees(None));
    let same = decoded(header).is_some_and(|text| text == argument);
    assert_eq!(agrees(Some(header)), same, "{:?}", header.escape_ascii());
}

/// Of two lines that are integers, each in a spelling of its own, both are the same or neither is.
fn numbers(argument: &str) {
    let mut lines = argument.lines();
    let (Some(one), Some(other)) = (lines.next(), lines.next()) else {
        return;
    };
    let is_number = |text: &str| {
        let digit = text.trim_start_matches('-').bytes().next();
        let number = serde_json::from_str::<&serde_json::value::RawValue>(text);
        digit.is_some_and(|b| b.is_ascii_digit()) && number.is_ok_and(|raw| raw.get() == text)
    };
    if !is_number(other) {
        return;
    }
    if !is_number(one) {
        assert!(!same_number(one, other), "{one} {other}");
    } else if let (Some(a), Some(b)) = (integer(one), integer(other)) {
        assert_eq!(same_number(one, other), a == b, "{one} {other}");
    } else if one.len().max(other.len()) < 16
        && let (Ok(a), Ok(b)) = (one.parse::<f64>(), other.parse::<f64>())
        && a.abs().max(b.abs()) < 1e15
        && a.abs().min(b.abs()) > 1e-15
    {
        // Fewer digits than a float holds.
        #[expect(clippy::float_cmp, reason = "equal decimals are equal floats")]
        let same = a == b;
        assert_eq!(same_number(one, other), same, "{one} {other}");
    }
}

/// What a header says, read by hand.
fn decoded(header: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(header).ok()?;
    let printable = |c: char| c == '\t' || (' '..='~').contains(&c);
    if !text.chars().all(printable) {
        return None;
    }
    let text = text.trim_matches([' ', '\t']);
    let inner = text.strip_prefix("=?base64?");
    match inner.and_then(|inner| inner.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(bytes(encoded)?).ok(),
        None => Some(text.to_owned()),
    }
}

/// The bytes that base64 stands for, if it is that of somebody who encodes as the standard says.
fn bytes(encoded: &str) -> Option<Vec<u8>> {
    let data = encoded.trim_end_matches('=');
    let padding = encoded.len() - data.len();
    if !encoded.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for c in data.bytes() {
        let value = ALPHABET.iter().position(|letter| *letter == c)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held).to_le_bytes()[0]);
            bits &= (1 << held) - 1;
        }
    }
    // What is left over of the last letter is zero, and nothing but that was left out.
    (bits == 0 && held < 6).then_some(out)
}

fn encode(text: &str) -> String {
    let mut out = String::from("=?base64?");
    for chunk in text.as_bytes().chunks(3) {
        let at = |n: usize| u32::from(chunk.get(n).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for n in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * n) & 63) as usize];
            out.push(if n <= chunk.len() { letter.into() } else { '=' });
        }
    }
    out.push_str("?=");
    out
}

/// The headers of a request: at most one.
#[derive(Debug)]
struct Header(Option<Vec<u8>>);

impl Declared for Header {
    fn field(&self, name: &str) -> Field<'_> {
        match &self.0 {
            Some(value) if name == "mcp-param-a" => Field::One(value),
            _ => Field::Absent,
        }
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
