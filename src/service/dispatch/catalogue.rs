//! What there is to call: pages of operations, searches, and one by its name.

use std::sync::Arc;

use crate::service::context::{Envelope, OperationPage, Outcome, Reply, Target};
use crate::wire::Error;

use super::Core;
use super::lists::{scope, text_of};

impl Core {
    /// A page of operations.
    pub(super) fn browse(&self, envelope: &Envelope) -> Reply {
        let Some(Target::Page { cursor, most }) = &envelope.details.target else {
            return Error::method_not_found().into();
        };
        let snapshot = self.registry.snapshot();
        let scope = scope("tools", envelope);
        let page = text_of(cursor.as_ref()).and_then(|cursor| {
            self.pager
                .page(scope, &snapshot.tools, cursor.as_deref(), *most)
        });
        match page {
            Ok((range, next)) => Reply::new(Outcome::Browsed(OperationPage {
                tools: Arc::clone(&snapshot.tools),
                range,
                next,
                stamp: Some(snapshot.stamp),
            })),
            Err(error) => error.into(),
        }
    }

    /// The operations that match a query best.
    pub(super) fn search(&self, envelope: &Envelope) -> Reply {
        let Some(Target::Search { query, limit }) = &envelope.details.target else {
            return Error::method_not_found().into();
        };
        let snapshot = self.registry.snapshot();
        let query = query.node().as_str().unwrap_or_default();
        let found = snapshot.search.find(&query, *limit);
        let tools = found.into_iter().map(|at| Arc::clone(&snapshot.tools[at]));
        Reply::new(Outcome::Found(tools.collect()))
    }

    /// One operation by its name.
    pub(super) fn inspect(&self, envelope: &Envelope) -> Reply {
        let Some(Target::Name(name)) = &envelope.details.target else {
            return Error::method_not_found().into();
        };
        let snapshot = self.registry.snapshot();
        let found = name
            .node()
            .as_str()
            .and_then(|name| snapshot.operations.get(&name));
        Reply::new(match found {
            Some(operation) => Outcome::Inspected(Arc::clone(&operation.definition)),
            None => Outcome::UnknownOperation,
        })
    }
}
