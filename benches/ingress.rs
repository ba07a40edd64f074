//! What reading a message costs: `cargo bench --bench ingress`.
//!
//! Each group is one text. Its first row is the least a reader of JSON can do, `serde_json` looking
//! for the end of the value; `frame` is our scan with its index; `value` is `serde_json`'s tree.

mod support;

use std::hint::black_box;
use std::time::Duration;

use portcullis::wire::Frame;
use portcullis::wire::json::MAX_DEPTH;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::time::Instant;

use support::clock::Clock;
use support::texts::{Sample, samples};

fn main() {
    let mut clock = Clock::new();
    for Sample { name, text } in samples() {
        let bytes = text.into_bytes();
        clock.group_of(&format!("ingress/{name}"), bytes.len());
        consume(&mut clock, "ignored_any", &bytes, |bytes| {
            serde_json::from_slice::<IgnoredAny>(&bytes).is_ok()
        });
        consume(&mut clock, "frame", &bytes, |bytes| {
            Frame::parse(bytes, MAX_DEPTH).is_ok_and(|frame| frame.duplicate().is_none())
        });
        consume(&mut clock, "value", &bytes, |bytes| {
            serde_json::from_slice::<Value>(&bytes).is_ok()
        });
    }
    clock.report();
}

/// Measures a reader that is given the bytes, and that lets go of them and of what it made.
fn consume(clock: &mut Clock, name: &str, bytes: &[u8], read: impl Fn(Vec<u8>) -> bool) {
    assert!(read(bytes.to_vec()), "{name} refuses the text");
    let batch = (BATCH / bytes.len()).max(1) as u64;
    clock.iterations(name, |iterations| {
        let mut took = Duration::ZERO;
        let mut left = iterations;
        while left > 0 {
            // Copied before the clock runs, and few at a time, so that they stay in the caches.
            let copies: Vec<_> = (0..batch.min(left)).map(|_| bytes.to_vec()).collect();
            left -= copies.len() as u64;
            let start = Instant::now();
            for copy in copies {
                black_box(read(copy));
            }
            took += start.elapsed();
        }
        took
    });
}

/// Bytes that are copied at a time.
const BATCH: usize = 64 * 1024;
