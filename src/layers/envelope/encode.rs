//! Replies as bytes, for the caller's era.

use crate::service::{ConfigError, Outbound, Outcome, Payload, Reply, ResultBody};
use crate::wire::json::{Node, ObjectWriter, RawJson};
use crate::wire::{Error, Features, Implementation, ProtocolVersion, Refusal, RequestId};

/// Encodes replies of one server.
#[derive(Debug)]
pub(super) struct Encoder {
    /// What modern results say of the server: a member of `_meta`.
    server: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(identity: &Implementation) -> Result<Self, ConfigError> {
        let mut encoded = Vec::new();
        identity.push(&mut encoded, ProtocolVersion::July2026.features());
        if encoded.len() > LONGEST_IDENTITY {
            return Err(ConfigError::new(
                "identity",
                "its encoded form is longer than 4 KiB",
            ));
        }
        let mut server = Vec::new();
        let mut member = ObjectWriter::members(&mut server);
        member.value(SERVER_INFO).extend_from_slice(&encoded);
        Ok(Self { server })
    }

    pub(super) fn encode(
        &self,
        reply: Reply,
        id: Option<&RequestId>,
        features: Features,
    ) -> Outbound {
        let Reply {
            outcome,
            status,
            headers,
        } = reply;
        let mut outbound = match outcome {
            Outcome::Accepted => Outbound::accepted(),
            Outcome::Error(error) => Outbound::error(id, &error, Some(features)),
            Outcome::Result(body) => match id {
                Some(id) => Outbound::new(self.result(body, id, features)),
                None => Outbound::accepted(),
            },
            // A stack without a mode layer: nothing says how to show this.
            _ => {
                tracing::error!(target: "portcullis::envelope", "no mode layer shaped the reply");
                Outbound::error(id, &Error::refused(Refusal::Internal), Some(features))
            }
        };
        if let Some(status) = status {
            outbound.hints.status = status;
        }
        outbound.hints.headers.extend(headers);
        outbound
    }

    /// The members with what goes around them.
    fn result(&self, body: ResultBody, id: &RequestId, features: Features) -> Payload {
        let ResultBody {
            members,
            meta,
            cache,
        } = body;
        let modern = features.is_modern();
        let before = match (modern, members.is_empty()) {
            (false, _) => ",\"result\":{",
            (true, true) => ",\"result\":{\"resultType\":\"complete\"",
            (true, false) => ",\"result\":{\"resultType\":\"complete\",",
        };
        let head = ["{\"jsonrpc\":\"2.0\",\"id\":", id.text(), before].map(str::as_bytes);
        // A modern result has a member before those of the tail in any case.
        let started = modern || !members.is_empty();
        if !modern && meta.is_none() {
            return members.between(&head, END.len(), |out| out.extend_from_slice(END));
        }
        let told = meta.as_ref().map_or(0, |meta| meta.text().len());
        let cached = cache.map_or(0, |_| CACHE);
        let room = cached + META + self.server.len() + told + END.len();
        members.between(&head, room, |out| {
            let mut object = ObjectWriter::members_after(out, started);
            if let (true, Some(cache)) = (modern, cache) {
                object.number("ttlMs", cache.ttl_ms);
                object.string("cacheScope", cache.scope.name());
            }
            self.push_meta(&mut object, meta.as_ref(), modern);
            out.extend_from_slice(END);
        })
    }

    /// The result's own `_meta`, and who the server is.
    fn push_meta(&self, object: &mut ObjectWriter<'_>, meta: Option<&RawJson>, modern: bool) {
        let own = meta.map(RawJson::node).filter(|meta| meta.is_object());
        let tells_server = modern && own.is_none_or(|meta| meta.get(SERVER_INFO).is_none());
        if own.is_some() || tells_server {
            object.object("_meta", |meta| {
                if tells_server {
                    meta.fragment(&self.server);
                }
                meta.fragment(own.map_or("", inner_text).as_bytes());
            });
        }
    }
}

/// The members of an object as they were written.
fn inner_text(object: Node<'_>) -> &str {
    let text = object.text();
    text[1..text.len() - 1].trim()
}

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The longest encoded identity, in bytes.
const LONGEST_IDENTITY: usize = 4 * 1024;
/// What closes the result and the message.
const END: &[u8] = b"}}";
/// `,"_meta":{}`, in bytes.
const META: usize = 11;
/// Room for the members that say how long a result may be kept, in bytes.
const CACHE: usize = 48;
