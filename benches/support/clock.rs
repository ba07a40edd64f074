//! The clock: criterion's measurements, and at the end a table of what each costs beside the first
//! of its group.
#![allow(
    clippy::cast_precision_loss,
    reason = "counts of iterations and bytes are far below 2^52"
)]

use std::fmt::Debug;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use tokio::runtime::Runtime;
use tokio::time::Instant;
use tower::Service;

use super::meter::{Answer, Meter, call, check, runtime};

/// Measures time.
pub(crate) struct Clock {
    criterion: Criterion,
    runtime: Rc<Runtime>,
    group: String,
    /// How many bytes an iteration of the open group reads, where that is what matters.
    bytes: Option<usize>,
    rows: Vec<Row>,
}

struct Row {
    group: String,
    name: String,
    nanoseconds: f64,
    bytes: Option<usize>,
}

impl Clock {
    /// A clock that does what the command line says.
    pub(crate) fn new() -> Self {
        let criterion = Criterion::default()
            .sample_size(SAMPLES)
            .warm_up_time(Duration::from_millis(200))
            .measurement_time(Duration::from_millis(800))
            .nresamples(2_000)
            .without_plots()
            .configure_from_args();
        Self {
            criterion,
            runtime: Rc::new(runtime()),
            group: String::new(),
            bytes: None,
            rows: Vec::new(),
        }
    }

    /// Opens a group whose iterations read this many bytes.
    pub(crate) fn group_of(&mut self, name: &str, bytes: usize) {
        self.group(name);
        self.bytes = Some(bytes);
    }

    /// Measures what `run` says it took for so many iterations.
    pub(crate) fn iterations(&mut self, name: &str, mut run: impl FnMut(u64) -> Duration) {
        let mut samples = Vec::new();
        let mut group = self.criterion.benchmark_group(&self.group);
        if let Some(bytes) = self.bytes {
            group.throughput(Throughput::Bytes(bytes as u64));
        }
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|iterations| {
                let took = run(iterations);
                samples.push(took.as_secs_f64() * 1e9 / iterations as f64);
                took
            });
        });
        group.finish();
        // Those before were to warm up.
        let measured = &samples[samples.len().saturating_sub(SAMPLES)..];
        if let Some(least) = measured.iter().copied().reduce(f64::min) {
            self.rows.push(Row {
                group: self.group.clone(),
                name: name.to_owned(),
                nanoseconds: least,
                bytes: self.bytes,
            });
        }
    }

    /// Prints the table: the fastest sample of each, which other work on the machine has disturbed
    /// least.
    pub(crate) fn report(self) {
        self.criterion.final_summary();
        println!(
            "{:<40} {:>12} {:>9} {:>8} {:>8}",
            "fastest sample", "ns", "- first", "ratio", "ns/byte"
        );
        let (mut group, mut first) = ("", 0.0);
        for row in &self.rows {
            if row.group != group {
                (group, first) = (&row.group, row.nanoseconds);
            }
            let (more, ratio) = (row.nanoseconds - first, row.nanoseconds / first);
            print!(
                "{:<40} {:>12.1} {more:>+9.1} {ratio:>8.2}",
                format!("{}/{}", row.group, row.name),
                row.nanoseconds,
            );
            match row.bytes {
                Some(bytes) => println!(" {:>8.3}", row.nanoseconds / bytes as f64),
                None => println!(),
            }
        }
    }
}

impl Meter for Clock {
    fn group(&mut self, name: &str) {
        name.clone_into(&mut self.group);
        self.bytes = None;
    }

    fn calls<S, R>(&mut self, name: &str, mut service: S, request: R)
    where
        S: Service<R, Response: Answer, Error: Debug>,
        R: Clone,
    {
        check(name, &mut service, request.clone());
        let runtime = Rc::clone(&self.runtime);
        self.iterations(name, |calls| {
            runtime.block_on(async {
                let start = Instant::now();
                for _ in 0..calls {
                    black_box(call(&mut service, request.clone()).await);
                }
                start.elapsed()
            })
        });
    }
}

/// How often each thing is measured.
const SAMPLES: usize = 20;
