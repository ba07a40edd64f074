//! A second look at a JSON text: its strings, names, numbers and depth, without our own scanner.

/// What a text holds, in order. It has to be JSON.
#[derive(Debug, Default)]
pub(super) struct Tokens<'a> {
    pub(super) list: Vec<Token<'a>>,
    /// How many containers stand around the innermost value.
    pub(super) depth: u32,
    /// An escape names half a character.
    pub(super) has_lone_surrogate: bool,
    /// A name that `serde_json` gives a second meaning.
    pub(super) has_reserved_name: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Token<'a> {
    /// The name of a member, with its quotes.
    Name(&'a str),
    /// A string, with its quotes.
    String(&'a str),
    Number(&'a str),
    /// Whatever else: punctuation and literals.
    Other(&'a str),
}

impl<'a> Tokens<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut tokens = Self::default();
        let (mut open, mut rest) = (0, text.trim_start_matches(BLANK));
        while let Some(first) = rest.bytes().next() {
            let (token, behind) = rest.split_at(length(rest));
            rest = behind.trim_start_matches(BLANK);
            let token = match first {
                b'"' => tokens.string(token, rest.starts_with(':')),
                b'-' | b'0'..=b'9' => Token::Number(token),
                _ => Token::Other(token),
            };
            match first {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            tokens.depth = tokens.depth.max(open);
            tokens.list.push(token);
        }
        tokens
    }

    fn string(&mut self, text: &'a str, is_name: bool) -> Token<'a> {
        match serde_json::from_str::<String>(text) {
            Ok(name) => self.has_reserved_name |= is_name && RESERVED.contains(&&*name),
            Err(_) => self.has_lone_surrogate = true,
        }
        if is_name {
            Token::Name(text)
        } else {
            Token::String(text)
        }
    }

    /// Whether reading one of the numbers as a float takes more than one exact operation, so that
    /// `serde_json` may be off by a bit.
    pub(super) fn has_hard_float(&self) -> bool {
        self.list.iter().any(|token| match token {
            Token::Number(text) => is_hard(text),
            _ => false,
        })
    }

    /// The same text with names written without escapes, and integers without fraction, exponent and
    /// the sign of zero; names that are zero lose that sign if they are `unsigned`.
    pub(super) fn plain(&self, unsigned: bool) -> String {
        let mut out = String::new();
        for token in &self.list {
            match token {
                Token::Name(text) => {
                    let mut name: String = serde_json::from_str(text).expect("no lone surrogates");
                    if name == "-0" && unsigned {
                        name.remove(0);
                    }
                    out.push_str(&serde_json::to_string(&name).expect("a string"));
                }
                Token::Number(text) => match integer(text) {
                    Some(plain) => out.push_str(&plain),
                    None => out.push_str(text),
                },
                Token::String(text) | Token::Other(text) => out.push_str(text),
            }
        }
        out
    }
}

/// The length of the first token.
fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes[0] {
        b'"' => {
            let mut at = 1;
            while bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at + 1
        }
        b'{' | b'}' | b'[' | b']' | b':' | b',' => 1,
        _ => {
            let ends = |b: &u8| b" \t\r\n{}[]:,\"".contains(b);
            bytes.iter().position(ends).unwrap_or(bytes.len())
        }
    }
}

/// A number as a plain integer, if that is what it is; digit by digit.
pub(super) fn integer(text: &str) -> Option<String> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = format!("{whole}{fraction}");
    if digits.bytes().all(|b| b == b'0') {
        return Some("0".to_owned());
    }
    let mut exponent = exponent.parse::<i64>().ok()? - i64::try_from(fraction.len()).ok()?;
    while exponent < 0 && digits.ends_with('0') {
        digits.pop();
        exponent += 1;
    }
    if !(0..=MOST_ZEROS).contains(&exponent) {
        return None;
    }
    (0..exponent).for_each(|_| digits.push('0'));
    Some(format!("{sign}{}", digits.trim_start_matches('0')))
}

fn is_hard(text: &str) -> bool {
    if text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok() {
        return false;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (_, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i64 = exponent.parse().unwrap_or(i64::MAX / 2);
    let scale = exponent - i64::try_from(fraction.len()).unwrap_or(i64::MAX / 2);
    mantissa.len() > 15 || !(-22..=22).contains(&scale)
}

const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];
const RESERVED: [&str; 2] = [
    "$serde_json::private::RawValue",
    "$serde_json::private::Number",
];
/// More zeros behind the digits than the widest integer type has digits.
const MOST_ZEROS: i64 = 60;
