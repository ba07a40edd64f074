//! One JSON-RPC message as data.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::budget::Reserved;
use super::error::Error;
use super::id::{InvalidId, RequestId};
use super::json::{Document, DuplicateName, Kind, Node, RawJson, SyntaxError};
use super::method::{LONGEST_METHOD, Method};

/// One message: its text, the index of its values, and what it is.
///
/// ```
/// use portcullis::wire::{Frame, Message, Method};
///
/// let frame = Frame::parse(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_vec(), 128)?;
/// let Message::Request(call) = frame.message() else { panic!() };
/// assert_eq!(call.method, Method::TOOLS_LIST);
/// # Ok::<(), portcullis::wire::json::SyntaxError>(())
/// ```
#[derive(Clone)]
pub struct Frame {
    document: Arc<Document>,
    members: Members,
}

/// What a frame turns out to be.
#[derive(Clone, Debug)]
pub enum Message {
    /// Something to answer.
    Request(Call),
    /// Something not to answer.
    Notification(Call),
    /// The peer's answer to a request of ours.
    Response(RequestId),
    /// Several messages in an array.
    Batch,
    /// None of these.
    Invalid {
        /// The id, if it could be read.
        id: Option<RequestId>,
        /// What is wrong.
        error: Error,
    },
}

/// A request or a notification.
#[derive(Clone, Debug)]
pub struct Call {
    /// The id; none for a notification.
    pub id: Option<RequestId>,
    /// The method.
    pub method: Method,
    /// The parameters: an object.
    pub params: Option<RawJson>,
}

/// Which kind of message a frame is, as far as a glance can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// It names a method and has an id.
    Request,
    /// It names a method and has no id.
    Notification,
    /// It has a result or an error.
    Response,
    /// An array, or no message at all.
    Other,
}

/// Where the members of the message are: cursors without a lifetime.
#[derive(Clone, Copy, Default)]
struct Members {
    version: Option<u32>,
    id: Option<u32>,
    method: Option<u32>,
    params: Option<u32>,
    result: Option<u32>,
    error: Option<u32>,
}

impl Frame {
    /// Scans a message, which may nest at most `depth` containers.
    ///
    /// # Errors
    ///
    /// As [`Document::parse`]: what is JSON but not a message is a frame all the same.
    pub fn parse(bytes: Vec<u8>, depth: u32) -> Result<Self, SyntaxError> {
        Document::parse(bytes, depth).map(Self::new)
    }

    /// The same for a message that was read within a budget, of which it holds what it takes up.
    pub(crate) fn parse_within(
        bytes: Vec<u8>,
        depth: u32,
        held: Reserved,
    ) -> Result<Self, SyntaxError> {
        Document::parse_within(bytes, depth, held).map(Self::new)
    }

    fn new(document: Document) -> Self {
        let mut members = Members::default();
        for (name, value) in document.root().members() {
            let slot = match &*name {
                "jsonrpc" => &mut members.version,
                "id" => &mut members.id,
                "method" => &mut members.method,
                "params" => &mut members.params,
                "result" => &mut members.result,
                "error" => &mut members.error,
                _ => continue,
            };
            slot.get_or_insert(value.position());
        }
        Self {
            document: Arc::new(document),
            members,
        }
    }

    /// The text of the message, as it was received.
    pub fn text(&self) -> &str {
        self.document.text()
    }

    /// What kind of message this is, at a glance.
    pub fn kind(&self) -> FrameKind {
        let Members {
            id,
            method,
            result,
            error,
            ..
        } = self.members;
        match (method, id) {
            (Some(_), Some(_)) => FrameKind::Request,
            (Some(_), None) => FrameKind::Notification,
            (None, _) if result.is_some() || error.is_some() => FrameKind::Response,
            (None, _) => FrameKind::Other,
        }
    }

    /// The method named, whether or not the rest is in order.
    pub fn method(&self) -> Option<Cow<'_, str>> {
        self.node(self.members.method)?.as_str()
    }

    /// The parameters, whether or not the rest is in order.
    pub fn params(&self) -> Option<Node<'_>> {
        self.node(self.members.params)
    }

    /// The id, if there is one that can be read: not with two of them.
    pub fn id(&self) -> Option<RequestId> {
        let twice = self
            .duplicate()
            .is_some_and(|duplicate| duplicate.name == "id");
        if twice {
            None
        } else {
            self.valid_id().ok().flatten()
        }
    }

    /// Two members of one object with the same decoded name, if there are any.
    pub fn duplicate(&self) -> Option<DuplicateName<'_>> {
        self.document.duplicate()
    }

    /// What the message is.
    pub fn message(&self) -> Message {
        let root = self.document.root();
        match root.kind() {
            Kind::Object => {}
            Kind::Array => return Message::Batch,
            _ => return self.invalid("a message is an object"),
        }
        if !self.node(self.members.version).is_some_and(is_version_two) {
            return self.invalid("jsonrpc must be \"2.0\"");
        }
        let id = match self.valid_id() {
            Ok(id) => id,
            Err(error) => return self.invalid(error),
        };
        let answers = self.members.result.is_some() || self.members.error.is_some();
        if self.members.method.is_some() && answers {
            return self.invalid("a message with a method has no result and no error");
        }
        let Some(method) = self.node(self.members.method) else {
            return match (
                id,
                self.members.result.is_some() != self.members.error.is_some(),
            ) {
                (Some(id), true) => Message::Response(id),
                _ => self.invalid("method is missing"),
            };
        };
        let Some(name) = method.as_str() else {
            return self.invalid("method must be a string");
        };
        if method.text().len() > LONGEST_METHOD {
            return self.invalid("method is longer than 256 bytes");
        }
        let params = self.node(self.members.params);
        if params.is_some_and(|params| !params.is_object()) {
            return self.invalid("params must be an object");
        }
        let call = Call {
            method: Method::from_wire(&name),
            params: params.map(|params| self.raw(params)),
            id,
        };
        if call.id.is_some() {
            Message::Request(call)
        } else {
            Message::Notification(call)
        }
    }

    /// The `result` member of a response, or its `error`.
    pub fn answer(&self) -> Option<Result<RawJson, RawJson>> {
        let result = self
            .node(self.members.result)
            .map(|node| Ok(self.raw(node)));
        result.or_else(|| {
            self.node(self.members.error)
                .map(|node| Err(self.raw(node)))
        })
    }

    fn valid_id(&self) -> Result<Option<RequestId>, InvalidId> {
        match self.node(self.members.id) {
            Some(id) => RequestId::from_value(self.raw(id)).map(Some),
            None => Ok(None),
        }
    }

    fn invalid(&self, cause: impl fmt::Display) -> Message {
        Message::Invalid {
            id: self.id(),
            error: Error::invalid_request(cause),
        }
    }

    fn node(&self, position: Option<u32>) -> Option<Node<'_>> {
        position.map(|position| self.document.node_at(position))
    }

    fn raw(&self, node: Node<'_>) -> RawJson {
        RawJson::at(&self.document, node)
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Frame").field(&self.text()).finish()
    }
}

fn is_version_two(version: Node<'_>) -> bool {
    version.as_str().is_some_and(|version| version == "2.0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> Frame {
        Frame::parse(text.as_bytes().to_vec(), 128).unwrap()
    }

    fn refusal(text: &str) -> (Option<String>, String) {
        match frame(text).message() {
            Message::Invalid { id, error } => {
                assert_eq!(error.code(), Error::INVALID_REQUEST);
                (
                    id.map(|id| id.text().to_owned()),
                    error.message().to_owned(),
                )
            }
            other => panic!("{text} became {other:?}"),
        }
    }

    /// Contract: P-17, case J07.
    #[test]
    fn says_what_is_wrong_and_keeps_the_id() {
        let long = "m".repeat(300);
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":4}"#.to_owned(),
                Some("4"),
                "method is missing",
            ),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":17}"#.to_owned(),
                Some("5"),
                "string",
            ),
            (
                r#"{"jsonrpc":"1.0","id":6,"method":"x"}"#.to_owned(),
                Some("6"),
                "jsonrpc",
            ),
            (r#"{"id":7,"method":"x"}"#.to_owned(), Some("7"), "jsonrpc"),
            (
                r#"{"jsonrpc":2.0,"id":8,"method":"x"}"#.to_owned(),
                Some("8"),
                "jsonrpc",
            ),
            ("42".to_owned(), None, "object"),
            (
                format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{long}"}}"#),
                Some("9"),
                "256",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}"#.to_owned(),
                Some("1"),
                "params",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"Method":"x"}"#.to_owned(),
                Some("1"),
                "method is missing",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#.to_owned(),
                Some("1"),
                "method",
            ),
        ];
        for (text, id, cause) in cases {
            let (found, message) = refusal(&text);
            assert_eq!(found.as_deref(), id, "{text}");
            assert!(message.contains(cause), "{text}: {message}");
        }
    }

    /// Contract: case J03.
    #[test]
    fn illegal_ids_make_an_invalid_message_never_a_notification() {
        for id in [
            "null",
            "3.5",
            "true",
            "[1]",
            r#"{"n":1}"#,
            &format!("\"{}\"", "x".repeat(300)),
        ] {
            let (found, message) =
                refusal(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#));
            assert_eq!(found, None);
            assert!(message.contains("id"), "{message}");
        }
    }

    #[test]
    fn two_ids_are_no_id() {
        assert_eq!(
            frame(r#"{"jsonrpc":"2.0","id":2,"\u0069d":3,"method":"x"}"#).id(),
            None
        );
        assert!(
            frame(r#"{"jsonrpc":"2.0","id":2,"method":"x","method":"y"}"#)
                .id()
                .is_some()
        );
    }

    #[test]
    fn tells_requests_notifications_responses_and_batches_apart() {
        let message = |text: &str| frame(text).message();
        assert!(matches!(
            message(r#"{"jsonrpc":"2.0","id":0,"method":"x"}"#),
            Message::Request(_)
        ));
        assert!(matches!(
            message(r#"{"jsonrpc":"2.0","id":"","method":""}"#),
            Message::Request(_)
        ));
        assert!(matches!(
            message(r#"{"jsonrpc":"2.0","method":"x"}"#),
            Message::Notification(_)
        ));
        let response = r#"{"jsonrpc":"2.0","id":"srv-1","result":{"a":1}}"#;
        assert!(matches!(message(response), Message::Response(_)));
        assert_eq!(
            frame(response).answer().unwrap().unwrap().text(),
            r#"{"a":1}"#
        );
        assert!(matches!(message("[]"), Message::Batch));
    }
}
