//! Finding operations by what they do.

use std::collections::HashMap;
use std::sync::Arc;

use crate::wire::ToolDefinition;

/// The words of all operations, and where each stands.
#[derive(Debug)]
pub(crate) struct SearchIndex {
    words: HashMap<Box<str>, Vec<Posting>>,
}

/// A word of one operation and how much it says about it.
#[derive(Clone, Copy, Debug)]
struct Posting {
    operation: usize,
    weight: f32,
}

impl SearchIndex {
    pub(crate) fn new(tools: &[Arc<ToolDefinition>]) -> Self {
        let mut words: HashMap<Box<str>, Vec<Posting>> = HashMap::new();
        for (operation, tool) in tools.iter().enumerate() {
            let title = tool.title().unwrap_or_default();
            for (text, weight) in [(tool.name(), 3.0), (title, 2.0), (tool.description(), 1.0)] {
                for word in words_of(text) {
                    words
                        .entry(word.into())
                        .or_default()
                        .push(Posting { operation, weight });
                }
            }
        }
        Self { words }
    }

    /// The positions of the operations that match best, at most `limit`. Words that few operations
    /// have count more; a word also matches those it begins.
    pub(crate) fn find(&self, query: &str, limit: usize) -> Vec<usize> {
        let mut scores: HashMap<usize, f32> = HashMap::new();
        for wanted in words_of(query).into_iter().take(MOST_WORDS) {
            for (word, postings) in &self.words {
                let closeness = match word.strip_prefix(wanted.as_str()) {
                    Some("") => 1.0,
                    Some(_) if wanted.chars().count() >= 3 => 0.5,
                    _ => continue,
                };
                #[expect(clippy::cast_precision_loss, reason = "a weight need not be exact")]
                let rarity = closeness / (1.0 + postings.len() as f32).ln();
                for posting in postings {
                    *scores.entry(posting.operation).or_default() += posting.weight * rarity;
                }
            }
        }
        let mut found: Vec<_> = scores.into_iter().collect();
        // Of two that match equally well the one registered first comes first.
        found.sort_by(|(a, one), (b, other)| other.total_cmp(one).then(a.cmp(b)));
        found
            .into_iter()
            .take(limit)
            .map(|(operation, _)| operation)
            .collect()
    }
}

/// The words of a text in lower case: `listOpenFiles`, `list_open_files` and `list open files` have
/// the same.
fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for c in text.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if (begins || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Words of a query that are looked for.
const MOST_WORDS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_in_every_case_style() {
        let expected = ["list", "open", "files"];
        for text in [
            "listOpenFiles",
            "list_open_files",
            "List open-files",
            "LIST.OPEN FILES",
        ] {
            assert_eq!(words_of(text), expected, "{text}");
        }
    }
}
