//! Tools that take their time and stop when their caller gives up.

use std::time::Duration;

use portcullis::service::RegistryBuilder;
use portcullis::service::handler::{Args, State, Structured};
use portcullis::{Operation, Registry};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use crate::endings::{Counts, Endings};

pub(crate) fn offers() -> RegistryBuilder {
    Registry::builder()
        .state(Endings::default())
        .operation(
            Operation::new("slow_cancellable")
                .describe("Sleep, unless the caller gives up")
                .read_only(true)
                .handler(slow_cancellable),
        )
        .operation(
            Operation::new("slow_compute")
                .describe("Pretend to compute for a while")
                .read_only(true)
                .handler(slow_compute),
        )
        .operation(
            Operation::new("cancel_stats")
                .describe("Tell how many slow calls were started, cancelled and completed")
                .read_only(true)
                .handler(cancel_stats),
        )
}

#[derive(Deserialize, JsonSchema)]
struct Nap {
    /// How long to sleep
    #[schemars(range(min = 0, max = 3600))]
    seconds: f64,
}

async fn slow_cancellable(Args(nap): Args<Nap>, State(endings): State<Endings>) -> String {
    let under_way = endings.begin();
    sleep(Duration::from_secs_f64(nap.seconds)).await;
    under_way.complete();
    format!("Slept {} s.", nap.seconds)
}

#[derive(Deserialize, JsonSchema)]
struct Computation {
    /// How long it takes
    #[schemars(range(min = 0, max = 3600))]
    seconds: f64,
    /// What to call it
    label: Option<String>,
}

async fn slow_compute(Args(work): Args<Computation>, State(endings): State<Endings>) -> String {
    let under_way = endings.begin();
    sleep(Duration::from_secs_f64(work.seconds)).await;
    under_way.complete();
    let label = work.label.as_deref().unwrap_or("The computation");
    format!("{label} took {} s.", work.seconds)
}

async fn cancel_stats(State(endings): State<Endings>) -> Structured<Counts> {
    Structured(endings.counts())
}
