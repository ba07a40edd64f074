//! How a conversation begins: the handshake of the legacy era, discovery in the modern one.

use crate::service::context::{CacheHint, Envelope, Reply};
use crate::wire::json::{Node, ObjectWriter, push_array, push_str};
use crate::wire::{Capability, ClientCapabilities, Error, Features, ProtocolVersion};

use super::Core;

impl Core {
    /// `initialize`. The decoder has chosen the version already: the one asked for if it is spoken
    /// here, else the newest with a handshake.
    pub(super) fn initialize(&self, envelope: &Envelope) -> Reply {
        let capabilities = match handshake(envelope) {
            Ok(capabilities) => capabilities,
            Err(error) => return error.into(),
        };
        let version = envelope.features().version();
        if let Some(session) = envelope.session()
            && !session.negotiate(version, capabilities)
        {
            return Error::invalid_request("the session is initialized already").into();
        }
        let mut out = Vec::new();
        let mut object = ObjectWriter::members(&mut out);
        object.string("protocolVersion", version.as_str());
        self.push_capabilities(object.value("capabilities"), envelope.features());
        self.identity
            .push(object.value("serverInfo"), envelope.features());
        object.optional_string("instructions", self.instructions.as_deref());
        Reply::result(out)
    }

    /// `server/discover`.
    pub(super) fn discover(&self, envelope: &Envelope) -> Reply {
        let mut out = Vec::new();
        let mut object = ObjectWriter::members(&mut out);
        let versions = self.versions.iter().map(ProtocolVersion::as_str);
        push_array(object.value("supportedVersions"), versions, push_str);
        self.push_capabilities(object.value("capabilities"), envelope.features());
        object.optional_string("instructions", self.instructions.as_deref());
        Reply::cacheable(out, CacheHint::NONE)
    }

    fn push_capabilities(&self, out: &mut Vec<u8>, features: Features) {
        let mut object = ObjectWriter::new(out);
        for capability in [
            Capability::Completions,
            Capability::Prompts,
            Capability::Resources,
            Capability::Tools,
        ] {
            let known = capability != Capability::Completions || features.completions_capability();
            if known && self.offers(capability) {
                object.raw(capability.name(), "{}");
            }
        }
        if !self.extensions.is_empty() {
            object.object("extensions", |extensions| {
                for (id, settings) in &self.extensions {
                    extensions.raw(id, settings);
                }
            });
        }
        object.end();
    }
}

/// Checks the parameters of `initialize`; what the client can do.
fn handshake(envelope: &Envelope) -> Result<ClientCapabilities, Error> {
    let invalid = |what: &str| Error::invalid_params(format_args!("initialize: {what}"));
    let params = envelope
        .raw_params()
        .ok_or_else(|| invalid("params are missing"))?;
    let is_string = |node: Option<Node<'_>>| node.is_some_and(|node| node.as_str().is_some());
    if !is_string(params.node().get("protocolVersion")) {
        return Err(invalid("protocolVersion must be a string"));
    }
    let client = params.node().get("clientInfo");
    let member = |name: &str| client.and_then(|client| client.get(name));
    if !is_string(member("name")) || !is_string(member("version")) {
        return Err(invalid("clientInfo must have a name and a version"));
    }
    let capabilities = params
        .get("capabilities")
        .filter(|declared| declared.node().is_object());
    let capabilities = capabilities.ok_or_else(|| invalid("capabilities must be an object"))?;
    Ok(ClientCapabilities::new(capabilities))
}
