//! Errors raised while something is built, before anything is served.

use std::borrow::Cow;
use std::fmt;

/// A setting that cannot be, named.
///
/// Nothing of this kind is ever raised while serving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    setting: Cow<'static, str>,
    problem: Cow<'static, str>,
}

impl ConfigError {
    /// A problem with a setting.
    pub fn new(
        setting: impl Into<Cow<'static, str>>,
        problem: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            setting: setting.into(),
            problem: problem.into(),
        }
    }

    /// The setting: a method of a builder, or what was registered.
    pub fn setting(&self) -> &str {
        &self.setting
    }

    /// What is wrong with it.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.problem)
    }
}

impl std::error::Error for ConfigError {}
