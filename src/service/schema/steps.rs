//! `pattern` for patterns that look around: so many steps for one value, and no more.

use std::cell::Cell;
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::json::Node as _;
use jsonschema::paths::Location;
use jsonschema::{Keyword, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};

use crate::wire::json::{IndexedJson, Node, NodeRef};

use super::patterns::{Patterns, looks_around};
use super::{Options, REGEX_SIZE, mismatch, options};

/// Checks a value; nothing if that took too many steps, so that it is not known.
pub(super) fn bounded<T>(check: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(MOST_STEPS);
    let checked = check();
    (LEFT.get() > 0).then_some(checked)
}

/// Whether some object has a member whose name is too long to be matched again and again.
pub(super) fn has_long_name(value: Node<'_>) -> bool {
    let mut members = value.members();
    members.any(|(name, value)| name.len() > LONGEST_NAME || has_long_name(value))
        || value.elements().any(has_long_name)
}

/// Options for a schema some of whose patterns look around.
pub(super) fn backtracking(options: Options, patterns: &Arc<Patterns>) -> Options {
    let patterns = Arc::clone(patterns);
    options
        .with_pattern_options(engine(STEPS_OF_A_NAME))
        .with_keyword(
            "pattern",
            move |_: &Map<String, Value>, value: &Value, _: Location| {
                Pattern::keyword(value, &patterns)
            },
        )
}

/// The keyword, which the library would run for as long as it takes.
enum Pattern {
    /// In linear time.
    Linear(Validator<IndexedJson>, String),
    LooksAround {
        /// Enough for patterns that find what they look for.
        quick: Validator<IndexedJson>,
        thorough: Validator<IndexedJson>,
        message: String,
    },
}

impl Pattern {
    fn keyword<'a>(
        pattern: &'a Value,
        patterns: &Patterns,
    ) -> Result<Box<dyn for<'i> Keyword<'i, IndexedJson>>, ValidationError<'a>> {
        let text = pattern.as_str().unwrap_or_default();
        let message = mismatch::unmatched(patterns.original(text));
        let schema = json!({ "pattern": pattern });
        let build = |options: Options| {
            let built = options.build(&schema);
            built.map_err(|_| ValidationError::custom(format!("{text:?} is not a \"regex\"")))
        };
        Ok(Box::new(if looks_around(text) {
            Self::LooksAround {
                quick: build(options().with_pattern_options(engine(QUICK)))?,
                thorough: build(options().with_pattern_options(engine(THOROUGH)))?,
                message,
            }
        } else {
            Self::Linear(build(options())?, message)
        }))
    }

    fn matches(&self, instance: NodeRef<'_>) -> bool {
        let (quick, thorough) = match self {
            Self::Linear(validator, _) => return validator.is_valid(instance),
            Self::LooksAround {
                quick, thorough, ..
            } => (quick, thorough),
        };
        let Some(text) = instance.as_string() else {
            return true;
        };
        for (validator, steps) in [(quick, QUICK), (thorough, THOROUGH)] {
            if text.len() > LONGEST_TEXT || !spend(steps, text.len()) {
                break;
            }
            match validator.validate(NodeRef::Name(&text)) {
                Ok(()) => return true,
                Err(error) if matches!(error.kind(), ValidationErrorKind::Pattern { .. }) => {
                    return false;
                }
                // It gave up.
                Err(_) => {}
            }
        }
        LEFT.set(0);
        false
    }
}

impl<'i> Keyword<'i, IndexedJson> for Pattern {
    fn validate(&self, instance: NodeRef<'i>) -> Result<(), ValidationError<'i>> {
        if self.matches(instance) {
            return Ok(());
        }
        let (Self::Linear(_, message) | Self::LooksAround { message, .. }) = self;
        Err(ValidationError::custom(message.clone()))
    }

    fn is_valid(&self, instance: NodeRef<'i>) -> bool {
        self.matches(instance)
    }
}

fn engine(steps: usize) -> PatternOptions<jsonschema::FancyRegex> {
    PatternOptions::fancy_regex()
        .backtrack_limit(steps)
        .size_limit(REGEX_SIZE)
        .dfa_size_limit(REGEX_SIZE)
}

/// Takes what a match can cost at most from what is left for this value. Each step back can lead
/// through the text again, and so can each step ahead.
fn spend(steps: usize, length: usize) -> bool {
    let cost = steps * (1 + length / 256) + length * length / 64;
    let left = LEFT.get().saturating_sub(cost);
    LEFT.set(left);
    left > 0
}

thread_local! {
    /// Steps left for the value that this thread checks; zero once something was left undecided.
    /// The library hands nothing to a keyword but the value.
    static LEFT: Cell<usize> = const { Cell::new(0) };
}

/// Steps for all texts of one value.
const MOST_STEPS: usize = 10_000_000;
/// Steps back for a text, at first.
const QUICK: usize = 100;
/// And if these are not enough.
const THOROUGH: usize = 10_000;
/// Steps back for a member name, each of which may be matched.
const STEPS_OF_A_NAME: usize = 100;
/// The longest text that a pattern which looks around is matched against, in bytes.
const LONGEST_TEXT: usize = 8 * 1024;
const LONGEST_NAME: usize = 1024;
