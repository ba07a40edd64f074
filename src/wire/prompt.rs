//! What a prompt consists of.

use super::content::{Content, Role};
use super::json::ObjectWriter;
use super::version::Features;

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMessage {
    role: Role,
    content: Content,
}

impl PromptMessage {
    /// What the person says.
    pub fn user(content: impl Into<Content>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
        }
    }

    /// What the model says.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
        }
    }

    /// What of it may be long.
    pub(crate) fn bulk(&self) -> &str {
        self.content.bulk()
    }

    pub(crate) fn push(&self, out: &mut Vec<u8>, features: Features) {
        let mut object = ObjectWriter::new(out);
        object.string("role", self.role.name());
        self.content.push(object.value("content"), features);
        object.end();
    }
}
