//! Plain mode: operations as they were declared.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use bytes::Bytes;

use crate::service::{CacheHint, Envelope, Invoked, OperationPage, Outcome, Reply, Shape, Target};
use crate::wire::json::{Kind, ObjectWriter};
use crate::wire::{Error, Features, Method, ProtocolVersion};

use super::Shown;

/// The encoded list, for each version the last one that was asked for.
#[derive(Debug)]
pub(super) struct Plain {
    encoded: [ArcSwapOption<EncodedPage>; ProtocolVersion::ALL.len()],
}

#[derive(Debug)]
struct EncodedPage {
    stamp: u64,
    start: usize,
    members: Bytes,
}

/// Turns what the client sent into what the core understands.
pub(super) fn turn(shown: Shown, envelope: Envelope) -> Result<Envelope, Reply> {
    match shown {
        Shown::List => {
            let cursor = envelope.param("cursor");
            let target = Target::Page { cursor, most: PAGE };
            Ok(envelope.retarget(Method::BROWSE, target))
        }
        Shown::Call => {
            let name = envelope
                .param("name")
                .filter(|name| name.node().kind() == Kind::String);
            let Some(name) = name else {
                return Err(Error::invalid_params("name must be a string").into());
            };
            let target = Target::Operation {
                name,
                arguments: envelope.param("arguments"),
                native: true,
            };
            Ok(envelope.retarget(Method::INVOKE, target))
        }
    }
}

/// Shows how an operation ended.
pub(super) fn show_call(reply: Reply, features: Features) -> Reply {
    match reply.outcome {
        Outcome::Invoked(invoked) => match protocol_error(&invoked, features) {
            Some(error) => error.into(),
            None => Reply::tool(invoked, Shape::Plain, features),
        },
        Outcome::UnknownOperation => Error::invalid_params("unknown tool").into(),
        _ => reply,
    }
}

/// Older versions expect arguments that do not match the schema to be a protocol error.
fn protocol_error(invoked: &Invoked, features: Features) -> Option<Error> {
    if features.argument_errors_are_results() {
        return None;
    }
    let failure = invoked.outcome.as_ref().err()?;
    (failure.code() == "invalid_arguments").then(|| {
        let error = Error::invalid_params(failure.message());
        match failure.details() {
            Some(details) => error.with_data(details),
            None => error,
        }
    })
}

impl Plain {
    pub(super) fn new() -> Self {
        Self {
            encoded: Default::default(),
        }
    }

    /// Shows a page of operations. Pages that are the same for everybody are encoded once.
    pub(super) fn show_list(&self, reply: Reply, features: Features) -> Reply {
        let Outcome::Browsed(page) = reply.outcome else {
            return reply;
        };
        let Some(stamp) = page.stamp else {
            return Reply::cacheable(encode(&page, features), CacheHint::NONE);
        };
        let slot = &self.encoded[features.version() as usize];
        let start = page.range.start;
        if let Some(known) = &*slot.load()
            && known.stamp == stamp
            && known.start == start
        {
            return Reply::cacheable(known.members.clone(), CacheHint::NONE);
        }
        let members = Bytes::from(encode(&page, features));
        slot.store(Some(Arc::new(EncodedPage {
            stamp,
            start,
            members: members.clone(),
        })));
        Reply::cacheable(members, CacheHint::NONE)
    }
}

fn encode(page: &OperationPage, features: Features) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::members(&mut out);
    object.array("tools", &page.tools[page.range.clone()], |out, tool| {
        tool.push(out, features);
    });
    object.optional_string("nextCursor", page.next.as_deref());
    out
}

/// Tools on a page.
const PAGE: usize = 1000;
