//! Pages of tools, encoded once for each version as long as they are the same for everybody.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use bytes::Bytes;

use crate::service::{CacheHint, OperationPage, Reply};
use crate::wire::json::ObjectWriter;
use crate::wire::{Features, ProtocolVersion, ToolDefinition};

/// For each version the page that was encoded last. Most servers have one page.
#[derive(Debug, Default)]
pub(super) struct Pages {
    last: [ArcSwapOption<Encoded>; ProtocolVersion::ALL.len()],
}

#[derive(Debug)]
struct Encoded {
    stamp: u64,
    start: usize,
    members: Bytes,
}

impl Pages {
    /// The result for a page, each of whose tools `push` writes.
    pub(super) fn show(
        &self,
        page: &OperationPage,
        features: Features,
        push: impl Fn(&mut Vec<u8>, &Arc<ToolDefinition>),
    ) -> Reply {
        let Some(stamp) = page.stamp else {
            return Reply::cacheable(encode(page, push), CacheHint::NONE);
        };
        let last = &self.last[features.version() as usize];
        let start = page.range.start;
        let known = last.load();
        let known = known
            .as_ref()
            .filter(|known| known.stamp == stamp && known.start == start);
        let members = match known {
            Some(known) => known.members.clone(),
            None => {
                let members = Bytes::from(encode(page, push));
                last.store(Some(Arc::new(Encoded {
                    stamp,
                    start,
                    members: members.clone(),
                })));
                members
            }
        };
        Reply::cacheable(members, CacheHint::NONE)
    }
}

fn encode(page: &OperationPage, push: impl Fn(&mut Vec<u8>, &Arc<ToolDefinition>)) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::members(&mut out);
    object.array("tools", &page.tools[page.range.clone()], |out, tool| {
        push(out, tool);
    });
    object.optional_string("nextCursor", page.next.as_deref());
    out
}
