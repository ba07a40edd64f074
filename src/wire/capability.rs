//! What server and client can do, as they tell each other.

use super::json::{Node, RawJson};

/// Something a server offers or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Prompts.
    Prompts,
    /// Completion of arguments.
    Completions,
}

impl Capability {
    /// The name of the slot on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Prompts => "prompts",
            Self::Completions => "completions",
        }
    }
}

/// Something a client can do for a server, if it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientCapability {
    /// Ask its model for a completion.
    Sampling,
    /// Tell its roots.
    Roots,
    /// Show a form.
    ElicitationForm,
    /// Open a URL.
    ElicitationUrl,
}

impl ClientCapability {
    /// What the client would have to declare: a JSON object.
    pub(crate) fn declaration(self) -> &'static str {
        match self {
            Self::Sampling => r#"{"sampling":{}}"#,
            Self::Roots => r#"{"roots":{}}"#,
            Self::ElicitationForm => r#"{"elicitation":{"form":{}}}"#,
            Self::ElicitationUrl => r#"{"elicitation":{"url":{}}}"#,
        }
    }
}

/// What the client said it can do: in this request, or when the session began.
///
/// Nothing is remembered from earlier requests and nothing is assumed.
#[derive(Clone, Debug, Default)]
pub struct ClientCapabilities(Option<RawJson>);

impl ClientCapabilities {
    pub(crate) fn new(declared: RawJson) -> Self {
        Self(Some(declared))
    }

    /// The declared object as it was sent.
    pub fn raw(&self) -> Option<&RawJson> {
        self.0.as_ref()
    }

    /// Whether the client declared this.
    pub fn has(&self, capability: ClientCapability) -> bool {
        match capability {
            ClientCapability::Sampling => self.sampling(),
            ClientCapability::Roots => self.roots(),
            ClientCapability::ElicitationForm => self.elicitation_form(),
            ClientCapability::ElicitationUrl => self.elicitation_url(),
        }
    }

    /// Whether the client can be asked for a completion by its model.
    pub fn sampling(&self) -> bool {
        self.declares("sampling")
    }

    /// Whether the client tells its roots.
    pub fn roots(&self) -> bool {
        self.declares("roots")
    }

    /// Whether the client can show a form. An empty `elicitation` object means forms only.
    pub fn elicitation_form(&self) -> bool {
        self.slot("elicitation")
            .is_some_and(|slot| slot.is_empty() || slot.get("form").is_some_and(Node::is_object))
    }

    /// Whether the client can open a URL.
    pub fn elicitation_url(&self) -> bool {
        self.slot("elicitation")
            .and_then(|slot| slot.get("url"))
            .is_some_and(Node::is_object)
    }

    /// The settings of an extension the client declared.
    pub fn extension(&self, id: &str) -> Option<RawJson> {
        let extensions = self.0.as_ref()?.get("extensions")?;
        extensions
            .get(id)
            .filter(|settings| settings.node().is_object())
    }

    fn declares(&self, name: &str) -> bool {
        self.slot(name).is_some()
    }

    fn slot(&self, name: &str) -> Option<Node<'_>> {
        let slot = self.0.as_ref()?.node().get(name)?;
        slot.is_object().then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(json: &str) -> ClientCapabilities {
        ClientCapabilities::new(RawJson::parse(json).unwrap())
    }

    /// Contract: S-107.
    #[test]
    fn empty_elicitation_means_forms_only() {
        let forms = client(r#"{"elicitation":{}}"#);
        assert!(forms.elicitation_form() && !forms.elicitation_url());
        let urls = client(r#"{"elicitation":{"url":{}}}"#);
        assert!(urls.elicitation_url() && !urls.elicitation_form());
        let none = client(r#"{"elicitation":true,"sampling":null}"#);
        assert!(!none.elicitation_form() && !none.sampling());
        assert!(!ClientCapabilities::default().roots());
    }
}
