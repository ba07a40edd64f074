//! Which method is answered by what: one row each.

use crate::service::context::{Envelope, Reply};
use crate::wire::{Capability, Error, Method};

use super::{Answer, Core};

impl Core {
    pub(super) fn route(&self, envelope: Envelope) -> Answer {
        let method = envelope.method();
        if envelope.request_id().is_none() {
            // Notifications are taken and not answered, whatever they say.
            return Answer::now(Reply::accepted());
        }
        if !method.exists_for(envelope.features()) {
            return Answer::now(Error::method_not_found());
        }
        if let Some(capability) = method.capability()
            && !self.offers(capability)
        {
            return Answer::now(Error::not_offered(capability));
        }
        match *method {
            Method::PING => Answer::now(Reply::result("")),
            Method::INITIALIZE => Answer::now(self.initialize(&envelope)),
            Method::DISCOVER => Answer::now(self.discover(&envelope)),
            Method::BROWSE => Answer::now(self.browse(&envelope)),
            Method::SEARCH => Answer::now(self.search(&envelope)),
            Method::INSPECT => Answer::now(self.inspect(&envelope)),
            Method::INVOKE => self.invoke(envelope),
            Method::RESOURCES_LIST => Answer::now(self.list_resources(&envelope)),
            Method::TEMPLATES_LIST => Answer::now(self.list_templates(&envelope)),
            Method::RESOURCES_READ => self.read_resource(envelope),
            Method::PROMPTS_LIST => Answer::now(self.list_prompts(&envelope)),
            Method::PROMPTS_GET => self.get_prompt(envelope),
            Method::COMPLETE => self.complete(envelope),
            _ => Answer::now(Error::method_not_found()),
        }
    }

    /// Whether there is anything of the kind.
    pub(super) fn offers(&self, capability: Capability) -> bool {
        let snapshot = self.registry.snapshot();
        match capability {
            Capability::Tools => self.always_tools || !snapshot.operations.is_empty(),
            Capability::Resources => {
                self.always_resources
                    || !snapshot.resources.is_empty()
                    || !snapshot.templates.is_empty()
            }
            Capability::Prompts => !snapshot.prompts.is_empty(),
            Capability::Completions => snapshot.completes(),
        }
    }
}
