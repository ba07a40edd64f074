//! What each layer allocates: `cargo bench --bench allocations`. The figures are exact.
#![allow(
    clippy::cast_precision_loss,
    reason = "counts of allocations and bytes are far below 2^52"
)]

mod support;

use std::fmt::Debug;
use std::hint::black_box;

use allocation_counter::{AllocationInfo, measure};
use tokio::runtime::Runtime;
use tower::Service;

use support::layered;
use support::meter::{Answer, Meter, call, check, runtime};

fn main() {
    println!(
        "{:<40} {:>8} {:>10} {:>10}",
        "per call", "times", "bytes", "most held"
    );
    layered::measure(&mut Tally {
        runtime: runtime(),
        group: String::new(),
    });
}

/// Counts allocations. What the request itself is made of is not counted; a buffer that grows counts
/// each time it does, with its whole new size.
struct Tally {
    runtime: Runtime,
    group: String,
}

impl Tally {
    /// What one of many calls allocates.
    fn of_each(&self, mut call: impl AsyncFnMut()) -> AllocationInfo {
        // What the first calls make is kept for the others.
        self.runtime.block_on(async {
            for _ in 0..CALLS {
                call().await;
            }
        });
        measure(|| {
            self.runtime.block_on(async {
                for _ in 0..CALLS {
                    call().await;
                }
            });
        })
    }
}

impl Meter for Tally {
    fn group(&mut self, name: &str) {
        name.clone_into(&mut self.group);
    }

    fn calls<S, R>(&mut self, name: &str, mut service: S, request: R)
    where
        S: Service<R, Response: Answer, Error: Debug>,
        R: Clone,
    {
        check(name, &mut service, request.clone());
        let requests = self.of_each(async || drop(black_box(request.clone())));
        let calls = self.of_each(async || drop(call(&mut service, request.clone()).await));
        let each = |calls: u64, requests: u64| (calls - requests) as f64 / CALLS as f64;
        println!(
            "{:<40} {:>8.2} {:>10.1} {:>10}",
            format!("{}/{name}", self.group),
            each(calls.count_total, requests.count_total),
            each(calls.bytes_total, requests.bytes_total),
            calls.bytes_max - requests.bytes_max,
        );
    }
}

const CALLS: u64 = 100;
