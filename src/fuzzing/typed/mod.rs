//! The deserializer over the index against that of `serde_json`, for types of every kind.
//!
//! Ours reads more: integers in any spelling (`30.0`, `3e1`), and names that are numbers through
//! escapes. So what it accepts has to be what `serde_json` makes of the text, or of the text with
//! such numbers and names written plainly. What `serde_json` accepts, ours accepts.

mod types;

use std::fmt::Debug;

use serde::Deserialize;

use crate::wire::json::{Document, MAX_DEPTH, from_node};

use super::tokens::Tokens;

/// A text is the same value of every type, or a value of neither.
pub fn typed(data: &[u8]) {
    let Ok(document) = Document::parse(data.to_vec(), MAX_DEPTH) else {
        return;
    };
    let tokens = Tokens::of(document.text());
    // `serde_json` has a bound of its own on the depth of what it decodes.
    if tokens.depth > DEEPEST {
        return;
    }
    let plain = [false, true].map(|unsigned| tokens.plain(unsigned));
    let text = Text {
        document: &document,
        plain: &plain,
        has_hard_float: tokens.has_hard_float(),
    };
    text.floats();
    types::each(&text);
}

/// A text to be decoded.
struct Text<'a> {
    document: &'a Document,
    /// The text written plainly, once with the sign of names that are zero and once without.
    plain: &'a [String; 2],
    has_hard_float: bool,
}

impl<'a> Text<'a> {
    /// Decodes a type that holds no floats.
    fn exact<T: Deserialize<'a> + PartialEq + Debug>(&self) {
        let ours = from_node::<T>(self.document.root());
        let theirs = serde_json::from_str::<T>(self.document.text());
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{}", self.document.text()),
            (Ok(ours), Err(_)) => {
                let mut theirs = self
                    .plain
                    .iter()
                    .map(|plain| serde_json::from_str::<T>(plain));
                assert!(
                    theirs.any(|theirs| theirs.is_ok_and(|theirs| theirs == ours)),
                    "we alone read {ours:?} in {}",
                    self.document.text()
                );
            }
            (Err(error), Ok(theirs)) => {
                panic!("{error} instead of {theirs:?} in {}", self.document.text());
            }
            (Err(error), Err(_)) => {
                let length = error.to_string().len();
                assert!(length <= LONGEST_ERROR, "an error of {length} bytes");
            }
        }
    }

    /// Decodes a type that may hold floats, or whose numbers are kept until their type is known. Where
    /// `serde_json` rounds otherwise, or keeps their text, there is nothing to compare.
    fn rounded<T: Deserialize<'a> + PartialEq + Debug>(&self) {
        if !self.has_hard_float && cfg!(not(feature = "arbitrary-precision")) {
            self.exact::<T>();
        }
    }

    /// A float is the nearest one, or out of range.
    fn floats(&self) {
        let number = self.document.root().as_number();
        let nearest = number.map(|text| text.parse::<f64>().expect("it is a number"));
        let ours = from_node::<f64>(self.document.root()).ok();
        let expected = nearest.filter(|value| value.is_finite());
        assert_eq!(
            ours.map(f64::to_bits),
            expected.map(f64::to_bits),
            "{number:?}"
        );
        let nearest = number.map(|text| text.parse::<f32>().expect("it is a number"));
        let ours = from_node::<f32>(self.document.root()).ok();
        let expected = nearest.filter(|value| value.is_finite());
        assert_eq!(
            ours.map(f32::to_bits),
            expected.map(f32::to_bits),
            "{number:?}"
        );
    }
}

const DEEPEST: u32 = 100;
/// A message and a path, each at its longest, with what is put between and around.
const LONGEST_ERROR: usize = 1280;
