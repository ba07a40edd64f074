//! A tool that tells how far it is.

use std::time::Duration;

use portcullis::service::handler::Progress;
use portcullis::service::{CallContext, RegistryBuilder};
use portcullis::{Operation, Registry};
use tokio::time::sleep;

pub(crate) fn offers() -> RegistryBuilder {
    Registry::builder().operation(
        Operation::new("test_tool_with_progress")
            .describe("Report progress three times, then answer")
            .read_only(true)
            .handler(with_progress),
    )
}

async fn with_progress(context: CallContext) -> &'static str {
    for done in [0, 50, 100] {
        context.progress(Progress::new(done).total(100)).await;
        sleep(STEP).await;
    }
    "The work is done."
}

/// More than the 100 ms within which a further update is left out.
const STEP: Duration = Duration::from_millis(120);
