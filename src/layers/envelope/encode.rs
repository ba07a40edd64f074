//! Replies as bytes, for the caller's era.

use bytes::Bytes;

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
                Some(id) => Outbound::new(self.result(&body, id, features)),
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

    /// Joins what goes around the members with the members. Short ones are copied into one buffer
    /// of the right size, long ones are sent as they are.
    fn result(&self, body: &ResultBody, id: &RequestId, features: Features) -> Payload {
        let inline = body.members.len() <= INLINE;
        let meta = body.meta.as_ref().map_or(0, |meta| meta.text().len());
        let around = HEAD + id.text().len() + self.server.len() + meta;
        let room = around + if inline { body.members.len() } else { 0 };
        let mut out = Vec::with_capacity(room);
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        out.extend_from_slice(id.text().as_bytes());
        out.extend_from_slice(b",\"result\":{");
        if features.is_modern() {
            out.extend_from_slice(b"\"resultType\":\"complete\"");
            if !body.members.is_empty() {
                out.push(b',');
            }
        }
        if inline {
            out.extend_from_slice(&body.members);
            self.push_tail(&mut out, body, features);
            return out.into();
        }
        let mut tail = Vec::with_capacity(around);
        self.push_tail(&mut tail, body, features);
        let mut payload = Payload::from(out);
        payload.push(body.members.clone());
        payload.push(Bytes::from(tail));
        payload
    }

    /// What stands behind the members.
    fn push_tail(&self, out: &mut Vec<u8>, body: &ResultBody, features: Features) {
        let modern = features.is_modern();
        // A modern result has a member before these in any case.
        let mut object = ObjectWriter::members_after(out, modern || !body.members.is_empty());
        if let (true, Some(cache)) = (modern, body.cache) {
            object.number("ttlMs", cache.ttl_ms);
            object.string("cacheScope", cache.scope.name());
        }
        let own = body
            .meta
            .as_ref()
            .map(RawJson::node)
            .filter(|meta| meta.is_object());
        let tells_server = modern && own.is_none_or(|meta| meta.get(SERVER_INFO).is_none());
        if own.is_some() || tells_server {
            object.object("_meta", |meta| {
                if tells_server {
                    meta.fragment(&self.server);
                }
                meta.fragment(own.map_or("", inner_text).as_bytes());
            });
        }
        out.extend_from_slice(b"}}");
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
/// Members up to this length are copied behind their head, in bytes.
const INLINE: usize = 16 * 1024;
/// Room for what is always the same around the members, in bytes.
const HEAD: usize = 160;
