//! Patterns as ECMA-262 means them, rewritten for engines that mean something else by the same text.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The patterns of a schema that do not run as they are written: how they run, and how they read.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    rewritten: Vec<(String, String)>,
    look_around: bool,
    names_look_around: bool,
}

impl Patterns {
    /// Rewrites the patterns of a schema.
    pub(super) fn rewrite(schema: &mut Value) -> Self {
        let mut patterns = Self::default();
        patterns.schema(schema);
        patterns
    }

    /// A pattern as its author wrote it.
    pub(super) fn original<'a>(&'a self, pattern: &'a str) -> &'a str {
        let found = self.rewritten.iter().find(|(runs, _)| runs == pattern);
        found.map_or(pattern, |(_, reads)| reads)
    }

    /// Whether one of them can only be matched by an engine that backtracks.
    pub(super) fn look_around(&self) -> bool {
        self.look_around || self.names_look_around
    }

    /// Whether one of those is for the names of members.
    pub(super) fn names_look_around(&self) -> bool {
        self.names_look_around
    }

    fn schema(&mut self, schema: &mut Value) {
        match schema {
            Value::Object(members) => self.keywords(members),
            Value::Array(schemas) => schemas.iter_mut().for_each(|it| self.schema(it)),
            _ => {}
        }
    }

    fn keywords(&mut self, members: &mut Map<String, Value>) {
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                (keyword, _) if VALUES.contains(&keyword) => {}
                ("pattern", Value::String(pattern)) => {
                    self.look_around |= looks_around(pattern);
                    if let Some(runs) = self.runs_as(pattern) {
                        *pattern = runs;
                    }
                }
                ("patternProperties", Value::Object(schemas)) => self.names(schemas),
                (keyword, Value::Object(schemas)) if MAPS.contains(&keyword) => {
                    schemas.values_mut().for_each(|it| self.schema(it));
                }
                (_, value) => self.schema(value),
            }
        }
    }

    fn names(&mut self, schemas: &mut Map<String, Value>) {
        let all = std::mem::take(schemas);
        for (pattern, mut schema) in all {
            self.schema(&mut schema);
            self.names_look_around |= looks_around(&pattern);
            let runs = self.runs_as(&pattern);
            schemas.insert(runs.unwrap_or(pattern), schema);
        }
    }

    fn runs_as(&mut self, pattern: &str) -> Option<String> {
        let runs = Translation::new(pattern).run();
        if runs == pattern {
            return None;
        }
        self.rewritten.push((runs.clone(), pattern.to_owned()));
        Some(runs)
    }
}

/// Whether a pattern looks around or back, which only an engine that backtracks can do.
///
/// The library translates the classes of all other patterns, and leaves these as they are.
pub(super) fn looks_around(pattern: &str) -> bool {
    tokens(pattern).any(|rest| {
        LOOKS.iter().any(|look| rest.starts_with(look))
            || rest.strip_prefix('\\').is_some_and(|escaped| {
                escaped.starts_with("k<") || escaped.starts_with(|c| matches!(c, '1'..='9'))
            })
    })
}

/// The groups of a pattern that capture, with the names of those that have one.
fn groups(pattern: &str) -> impl Iterator<Item = Option<&str>> {
    tokens(pattern).filter_map(|rest| {
        let inside = rest.strip_prefix('(')?;
        match inside.strip_prefix("?<") {
            Some(named) if !named.starts_with(['=', '!']) => {
                Some(named.split_once('>').map(|(name, _)| name))
            }
            None if !inside.starts_with('?') => Some(None),
            _ => None,
        }
    })
}

/// What begins at each character or escape outside classes.
fn tokens(pattern: &str) -> impl Iterator<Item = &str> {
    let mut rest = pattern;
    let mut in_class = false;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let here = rest;
            let mut chars = here.chars();
            let first = chars.next();
            if first == Some('\\') {
                chars.next();
            }
            rest = chars.as_str();
            match first {
                Some('[') if !in_class => in_class = true,
                Some(']') => in_class = false,
                _ if in_class => {}
                _ => return Some(here),
            }
        }
        None
    })
}

/// One pattern on its way from the one dialect to the other.
struct Translation<'a> {
    pattern: &'a str,
    rest: &'a str,
    out: String,
    /// The library does not touch it: classes are ours to translate.
    whole: bool,
    in_class: bool,
}

impl<'a> Translation<'a> {
    fn new(pattern: &'a str) -> Self {
        Self {
            pattern,
            rest: pattern,
            out: String::with_capacity(pattern.len()),
            whole: looks_around(pattern),
            in_class: false,
        }
    }

    fn run(mut self) -> String {
        while let Some(c) = self.next() {
            match c {
                '\\' => self.escape(),
                '[' if !self.in_class => {
                    self.in_class = true;
                    self.out.push('[');
                    if self.rest.starts_with('^') {
                        self.next();
                        self.out.push('^');
                    }
                    // `[]` is nothing, and `[^]` anything.
                    if self.rest.starts_with(']') {
                        self.next();
                        self.in_class = false;
                        let any = self.out.ends_with('^');
                        self.out.truncate(self.out.len() - if any { 2 } else { 1 });
                        self.out.push_str(if any { ANYTHING } else { NOTHING });
                    }
                }
                ']' => {
                    self.in_class = false;
                    self.out.push(']');
                }
                '-' if self.in_class && self.whole && is_class(self.rest) => {
                    self.out.push_str(r"\-");
                }
                '.' if !self.in_class => self.out.push_str(DOT),
                other => self.out.push(other),
            }
        }
        self.out
    }

    /// What stands behind a backslash.
    fn escape(&mut self) {
        let Some(c) = self.next() else {
            return self.out.push('\\');
        };
        match c {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' if self.whole => self.class(c),
            'b' if self.in_class => self.code(8),
            '0' if !self.rest.starts_with(|c: char| c.is_ascii_digit()) => self.code(0),
            'c' if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                let letter = self.next().map_or(0, u32::from);
                self.code(letter % 32);
            }
            'u' => self.unicode(),
            'k' if !self.in_class && self.rest.starts_with('<') => self.back_to_a_name(),
            // A word begins or ends here, for the engine.
            '<' | '>' => self.out.push(c),
            c if c.is_ascii() => {
                self.out.push('\\');
                self.out.push(c);
            }
            c => self.out.push(c),
        }
    }

    /// `\u` and four digits, two of which may make up one character.
    fn unicode(&mut self) {
        let Some(high) = hex(self.rest) else {
            return self.out.push_str(r"\u");
        };
        self.rest = &self.rest[4..];
        let low = self.rest.strip_prefix(r"\u").and_then(hex);
        match (high, low) {
            (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) => {
                self.rest = &self.rest[6..];
                self.code(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
            }
            _ => self.code(high),
        }
    }

    /// `\k<name>`, which the library does not know: groups have numbers as well.
    fn back_to_a_name(&mut self) {
        let (name, rest) = self.rest[1..].split_once('>').unwrap_or_default();
        let groups = groups(self.pattern).position(|it| it == Some(name));
        let Some(number) = groups else {
            return self.out.push_str(r"\k");
        };
        self.rest = rest;
        let _ = write!(self.out, "(?:\\{})", number + 1);
    }

    fn code(&mut self, code: u32) {
        let _ = write!(self.out, "\\u{{{code:X}}}");
    }

    /// One of the named classes, alone or inside another one.
    fn class(&mut self, name: char) {
        let set = match name {
            'd' => DIGITS,
            'D' => NO_DIGITS,
            'w' => WORD,
            'W' => NO_WORD,
            's' => SPACE,
            _ => NO_SPACE,
        };
        if !self.in_class {
            self.out.push('[');
            self.out.push_str(set);
            return self.out.push(']');
        }
        self.out.push_str(set);
        if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
            self.next();
            self.out.push_str(r"\-");
        }
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }
}

/// Whether the text begins with a named class.
fn is_class(text: &str) -> bool {
    let name = text.strip_prefix('\\').and_then(|text| text.chars().next());
    name.is_some_and(|name| matches!(name, 'd' | 'D' | 'w' | 'W' | 's' | 'S'))
}

fn hex(text: &str) -> Option<u32> {
    let digits = text.get(..4)?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Keywords under which there are values, not schemas.
pub(super) const VALUES: [&str; 4] = ["const", "default", "enum", "examples"];
/// Keywords under which there are schemas by names of any kind.
pub(super) const MAPS: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

const LOOKS: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
/// Everything but the ends of lines.
const DOT: &str = r"[^\n\r\u{2028}\u{2029}]";
const ANYTHING: &str = r"[\u{0}-\u{10FFFF}]";
const NOTHING: &str = r"[^\u{0}-\u{10FFFF}]";
const DIGITS: &str = "0-9";
const NO_DIGITS: &str = r"\u{0}-\u{2F}\u{3A}-\u{10FFFF}";
const WORD: &str = "A-Za-z0-9_";
const NO_WORD: &str = r"\u{0}-\u{2F}\u{3A}-\u{40}\u{5B}-\u{5E}\u{60}\u{7B}-\u{10FFFF}";
const SPACE: &str =
    r"\t-\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
const NO_SPACE: &str = r"\u{0}-\u{8}\u{E}-\u{1F}!-\u{9F}\u{A1}-\u{167F}\u{1681}-\u{1FFF}\u{200B}-\u{2027}\u{202A}-\u{202E}\u{2030}-\u{205E}\u{2060}-\u{2FFF}\u{3001}-\u{FEFE}\u{FF00}-\u{10FFFF}";
