//! One typed call with everything known about its caller.

use std::borrow::Cow;
use std::sync::Arc;

use crate::wire::json::{Kind, RawJson};
use crate::wire::{ClientCapabilities, Features, Method, ProtocolVersion, RequestId};

use super::extensions::Extensions;
use super::inbound::Declared;
use super::link::{CallLink, Cancellation};
use super::output::Shape;
use super::peer::Peer;
use super::principal::Principal;
use super::session::Session;

/// A request or notification: the request type of the message plane.
///
/// Cloning it is cheap.
///
/// ```
/// use portcullis::service::Envelope;
/// use portcullis::wire::{Method, ProtocolVersion};
///
/// let envelope = Envelope::new(Method::TOOLS_LIST, ProtocolVersion::July2026).id(1);
/// assert_eq!(envelope.request_id().unwrap().text(), "1");
/// ```
#[derive(Clone, Debug)]
pub struct Envelope {
    /// An envelope passes through many hands: a pointer is quicker to pass on than all this.
    pub(crate) details: Box<Details>,
}

/// What stands in an envelope.
#[derive(Clone, Debug)]
pub(crate) struct Details {
    pub(crate) id: Option<RequestId>,
    pub(crate) method: Method,
    pub(crate) params: Option<RawJson>,
    pub(crate) features: Features,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) principal: Option<Principal>,
    pub(crate) session: Option<Session>,
    pub(crate) declared: Option<Arc<dyn Declared>>,
    pub(crate) extensions: Extensions,
    pub(crate) link: CallLink,
    pub(crate) shape: Shape,
    /// What an encoded result may have, in bytes: longer ones need not be encoded.
    pub(crate) ceiling: usize,
    pub(crate) target: Option<Target>,
}

/// What an internal method is about.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Operations that match a query: a JSON string.
    Search { query: RawJson, limit: usize },
    /// The operation of this name: a JSON string.
    Name(RawJson),
    /// A page of operations.
    Page {
        cursor: Option<RawJson>,
        most: usize,
    },
    /// One operation and its arguments.
    Operation {
        /// A JSON string.
        name: RawJson,
        arguments: Option<RawJson>,
        /// Whether the client saw the operation's own schema, and so mirrors arguments in headers.
        native: bool,
    },
}

impl Envelope {
    /// A call that nothing is known about but its method and version: for tests and for layers
    /// that call on their own account.
    pub fn new(method: Method, version: ProtocolVersion) -> Self {
        Self::from(Details {
            id: None,
            method,
            params: None,
            features: version.features(),
            capabilities: ClientCapabilities::default(),
            principal: None,
            session: None,
            declared: None,
            extensions: Extensions::default(),
            link: CallLink::detached(),
            shape: Shape::Plain,
            ceiling: usize::MAX,
            target: None,
        })
    }

    /// Sets the id, which makes it a request.
    #[must_use]
    pub fn id(mut self, id: impl Into<RequestId>) -> Self {
        self.details.id = Some(id.into());
        self
    }

    /// Sets the parameters: an object.
    #[must_use]
    pub fn params(mut self, params: RawJson) -> Self {
        self.details.params = Some(params);
        self
    }

    /// Sets who is calling.
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.details.principal = Some(principal);
        self
    }

    /// The id; none for a notification.
    pub fn request_id(&self) -> Option<&RequestId> {
        self.details.id.as_ref()
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.details.method
    }

    /// The parameters: an object.
    pub fn raw_params(&self) -> Option<&RawJson> {
        self.details.params.as_ref()
    }

    /// What the caller's version permits.
    pub fn features(&self) -> Features {
        self.details.features
    }

    /// What the client can do.
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.details.capabilities
    }

    /// Who is calling, if anything in front found out.
    pub fn caller(&self) -> Option<&Principal> {
        self.details.principal.as_ref()
    }

    /// The conversation this belongs to; none for callers without one.
    pub fn session(&self) -> Option<&Session> {
        self.details.session.as_ref()
    }

    /// What layers above found out. Over HTTP the request's `http::request::Parts` are here.
    pub fn extensions(&self) -> &Extensions {
        &self.details.extensions
    }

    /// What layers above found out, to add to it.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.details.extensions
    }

    /// The caller, reachable while the call runs.
    pub fn peer(&self) -> Peer {
        Peer::new(self.details.link.outlet())
    }

    /// Whether the caller has given up.
    pub fn cancellation(&self) -> Cancellation {
        self.details.link.cancellation()
    }

    /// The operation this invokes: known below the mode layer, in every mode.
    pub fn operation(&self) -> Option<Cow<'_, str>> {
        match &self.details.target {
            Some(Target::Operation { name, .. }) => name.node().as_str(),
            _ => None,
        }
    }

    /// The arguments of the operation this invokes.
    pub fn arguments(&self) -> Option<&RawJson> {
        match &self.details.target {
            Some(Target::Operation { arguments, .. }) => arguments.as_ref(),
            _ => None,
        }
    }

    /// The member `name` of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<RawJson> {
        self.details.params.as_ref()?.get(name)
    }

    /// The caller's progress token, if it gave a valid one: a string or an integer of at most 256
    /// bytes, as it was written.
    pub(crate) fn progress_token(&self) -> Option<RawJson> {
        let params = self.details.params.as_ref()?;
        let token = params.node().get("_meta")?.get("progressToken")?;
        let valid = token.kind() == Kind::String || token.kind() == Kind::Number;
        (valid && token.text().len() <= LONGEST_TOKEN).then(|| params.part(token))
    }

    /// The same call, turned into an internal one.
    pub(crate) fn retarget(mut self, method: Method, target: Target) -> Self {
        self.details.method = method;
        self.details.target = Some(target);
        self
    }
}

impl From<Details> for Envelope {
    fn from(details: Details) -> Self {
        let details = Box::new(details);
        Self { details }
    }
}

/// The longest encoded progress token, in bytes.
const LONGEST_TOKEN: usize = 256;
