//! Direct mode: operations as tools, their results wrapped.

use crate::service::{Outcome, Reply, Shape};
use crate::wire::Features;

use super::pages::Pages;
use super::unknown_tool;
use super::wrapper::Wrappers;

/// Tools on a page.
pub(super) const PAGE: usize = 20;

/// What direct mode keeps between requests.
#[derive(Debug, Default)]
pub(super) struct DirectTools {
    pages: Pages,
    wrappers: Wrappers,
}

impl DirectTools {
    pub(super) fn show_page(&self, reply: Reply, features: Features) -> Reply {
        let Outcome::Browsed(page) = &reply.outcome else {
            return reply;
        };
        for tool in &page.tools[page.range.clone()] {
            if let Err(error) = self.wrappers.prepare(tool) {
                return error.into();
            }
        }
        self.pages.show(page, features, |out, tool| {
            let output = self.wrappers.prepare(tool).ok().flatten();
            tool.push_with_output(out, features, output.as_ref());
        })
    }
}

/// Shows how an operation ended.
pub(super) fn show_call(reply: Reply, features: Features) -> Reply {
    match reply.outcome {
        Outcome::Invoked(invoked) => Reply::tool(*invoked, Shape::Wrapped, features),
        Outcome::UnknownOperation => unknown_tool(),
        _ => reply,
    }
}
