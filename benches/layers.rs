//! What each layer costs: `cargo bench --bench layers`.

mod support;

use support::clock::Clock;
use support::layered;

fn main() {
    let mut clock = Clock::new();
    layered::measure(&mut clock);
    clock.report();
}
