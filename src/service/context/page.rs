//! A page of operations, as the registry holds them.

use std::ops::Range;
use std::sync::Arc;

use crate::wire::ToolDefinition;

/// What the core answers to a layer that shows operations as tools.
#[derive(Clone, Debug)]
pub(crate) struct OperationPage {
    /// All definitions the caller may see, in order.
    pub(crate) tools: Arc<[Arc<ToolDefinition>]>,
    /// Those on this page.
    pub(crate) range: Range<usize>,
    /// Where the next page begins.
    pub(crate) next: Option<String>,
    /// The stamp of the catalogue, if every caller sees the same. Pages with the same stamp and
    /// range are the same.
    pub(crate) stamp: Option<u64>,
}
