//! Plain mode: operations as they were declared.

use crate::service::{Invoked, Outcome, Reply, Shape};
use crate::wire::{Error, Features};

use super::pages::Pages;
use super::unknown_tool;

/// Tools on a page.
pub(super) const PAGE: usize = 1000;

/// What plain mode keeps between requests.
#[derive(Debug, Default)]
pub(super) struct PlainTools {
    pages: Pages,
}

impl PlainTools {
    pub(super) fn show_page(&self, reply: Reply, features: Features) -> Reply {
        match &reply.outcome {
            Outcome::Browsed(page) => self
                .pages
                .show(page, features, |out, tool| tool.push(out, features)),
            _ => reply,
        }
    }
}

/// Shows how an operation ended.
pub(super) fn show_call(reply: Reply, features: Features) -> Reply {
    match reply.outcome {
        Outcome::Invoked(invoked) => match protocol_error(&invoked, features) {
            Some(error) => error.into(),
            None => Reply::tool(*invoked, Shape::Plain, features),
        },
        Outcome::UnknownOperation => unknown_tool(),
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
