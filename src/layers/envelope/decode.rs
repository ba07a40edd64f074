//! What a message is: its era, its version, and whether it may pass.

use crate::service::{Declared, Details, Envelope, Inbound, Outbound, Shape};
use crate::wire::json::Node;
use crate::wire::{
    Call, ClientCapabilities, Era, Error, Features, Message, Method, ProtocolVersion, RequestId,
    Versions,
};

use super::headers;

/// A message that does not pass.
pub(super) struct Refused {
    pub(super) error: Error,
    id: Option<RequestId>,
    /// The status, where it does not follow from the error.
    status: Option<u16>,
}

impl Refused {
    pub(super) fn into_outbound(self) -> Outbound {
        let outbound = Outbound::error(self.id.as_ref(), &self.error, None);
        match self.status {
            Some(status) => outbound.status(status),
            None => outbound,
        }
    }
}

/// Who speaks, and how.
struct Speaker {
    features: Features,
    capabilities: ClientCapabilities,
}

pub(super) fn decode(inbound: Inbound, versions: Versions) -> Result<Envelope, Refused> {
    let call = match inbound.frame.message() {
        Message::Request(call) | Message::Notification(call) => call,
        Message::Response(_) => {
            return Err(refused(
                None,
                Error::invalid_request("no request of ours awaits an answer"),
            ));
        }
        Message::Batch => {
            return Err(refused(
                None,
                Error::invalid_request("batches are not accepted"),
            ));
        }
        Message::Invalid { id, error } => return Err(refused(id, error)),
    };
    match speaker(&inbound, &call, versions) {
        Ok(speaker) => Ok(Envelope::from(Details {
            id: call.id,
            method: call.method,
            params: call.params,
            features: speaker.features,
            capabilities: speaker.capabilities,
            principal: inbound.principal,
            session: inbound.session,
            declared: inbound.declared,
            extensions: inbound.extensions,
            link: inbound.link,
            shape: Shape::Plain,
            ceiling: usize::MAX,
            target: None,
        })),
        Err(error) => Err(Refused {
            error,
            id: call.id,
            status: Some(400),
        }),
    }
}

fn refused(id: Option<RequestId>, error: Error) -> Refused {
    Refused {
        error,
        id,
        status: None,
    }
}

/// The rules by which an era is recognised. A request that says who it is is modern, whatever was
/// said before on the connection and whatever its method; the handshake is legacy; the rest goes by
/// what was negotiated, or by what the transport declares.
fn speaker(inbound: &Inbound, call: &Call, versions: Versions) -> Result<Speaker, Error> {
    let declared = inbound.declared.as_deref();
    let meta = call
        .params
        .as_ref()
        .and_then(|params| params.node().get("_meta"));
    let version = meta.and_then(|meta| meta.get(PROTOCOL_VERSION));
    if version.is_some() {
        return modern(declared, call, version, versions);
    }
    if call.method == Method::INITIALIZE {
        return handshake(call, versions);
    }
    if let Some(negotiated) = inbound
        .session
        .as_ref()
        .and_then(|session| session.negotiated())
    {
        return Ok(Speaker {
            features: negotiated.version.features(),
            capabilities: negotiated.capabilities.clone(),
        });
    }
    match declared {
        Some(declared) => match declared_version(declared, versions)? {
            // What is missing is for a request to say; a notification need not.
            version if version.era() == Era::Modern && call.id.is_some() => {
                modern(Some(declared), call, None, versions)
            }
            version => Ok(bare(version)),
        },
        // Without headers only what needs no version is served before the handshake.
        None => match versions.latest(Era::Legacy) {
            Some(version) if call.method == Method::PING || call.id.is_none() => Ok(bare(version)),
            _ => Err(missing_meta(PROTOCOL_VERSION)),
        },
    }
}

/// A request of the modern era carries everything itself.
fn modern(
    declared: Option<&dyn Declared>,
    call: &Call,
    version: Option<Node<'_>>,
    versions: Versions,
) -> Result<Speaker, Error> {
    let is_request = call.id.is_some();
    let Some(text) = version.and_then(Node::as_str) else {
        return Err(missing_meta(PROTOCOL_VERSION));
    };
    let params = call.params.as_ref();
    let capabilities = params.and_then(|params| {
        let declared = params.node().get("_meta")?.get(CLIENT_CAPABILITIES)?;
        declared.is_object().then(|| params.part(declared))
    });
    if capabilities.is_none() && is_request {
        return Err(Error::invalid_params(format_args!(
            "_meta must have `{CLIENT_CAPABILITIES}`, an object"
        )));
    }
    // Which headers a notification needs is not defined, so it needs none.
    if let (Some(declared), true) = (declared, is_request) {
        headers::verify(declared, call, &text)?;
    }
    match versions.parse(&text) {
        Some(version) if version.era() == Era::Modern => Ok(Speaker {
            features: version.features(),
            capabilities: capabilities
                .map(ClientCapabilities::new)
                .unwrap_or_default(),
        }),
        _ => Err(Error::unsupported_version(&text, versions)),
    }
}

/// The handshake speaks the version it asks for if that is one with a handshake, else the newest
/// such version. Where there is none, a client learns from the error which versions there are.
fn handshake(call: &Call, versions: Versions) -> Result<Speaker, Error> {
    let params = call.params.as_ref();
    let asked = params.and_then(|params| params.node().get("protocolVersion"));
    let asked = asked.and_then(Node::as_str).unwrap_or_default();
    let version = versions
        .parse(&asked)
        .filter(|version| version.era() == Era::Legacy);
    match version.or_else(|| versions.latest(Era::Legacy)) {
        Some(version) => Ok(bare(version)),
        None => Err(Error::unsupported_version(&asked, versions)),
    }
}

/// Somebody who speaks a version and has not said what else.
fn bare(version: ProtocolVersion) -> Speaker {
    Speaker {
        features: version.features(),
        capabilities: ClientCapabilities::default(),
    }
}

/// The version the header names, or the one to assume without.
fn declared_version(declared: &dyn Declared, versions: Versions) -> Result<ProtocolVersion, Error> {
    match headers::VERSION.read(declared)? {
        None => Ok(ProtocolVersion::ASSUMED),
        Some(date) => versions
            .parse(date)
            .ok_or_else(|| Error::unsupported_version(date, versions)),
    }
}

fn missing_meta(name: &str) -> Error {
    Error::invalid_params(format_args!(
        "_meta must have `{name}`; or send `initialize` first"
    ))
}

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
