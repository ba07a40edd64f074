//! Watchers that handlers report to, so that tests wait for what happens and not for time to pass.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

/// What handlers of one registry did. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probe {
    /// Side effects.
    pub(crate) tally: Counter,
    /// Calls that have begun to wait in a handler.
    pub(crate) begun: Counter,
    /// Calls whose handler was let go, finished or not.
    pub(crate) ended: Counter,
    /// Calls that finished.
    pub(crate) finished: Counter,
    /// The most calls that were in a handler at once.
    pub(crate) peak: Counter,
}

impl Probe {
    /// A call is in its handler until the guard is dropped.
    pub(crate) fn enter(&self) -> Inside {
        self.begun.add();
        let running = self.begun.get() - self.ended.get();
        self.peak.raise(running);
        Inside(self.clone())
    }
}

/// A call in its handler.
#[derive(Debug)]
pub(crate) struct Inside(Probe);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.ended.add();
    }
}

/// A number that can be waited for.
#[derive(Clone)]
pub(crate) struct Counter(Arc<watch::Sender<usize>>);

impl Default for Counter {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Counter {
    pub(crate) fn add(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    fn raise(&self, to: usize) {
        self.0.send_modify(|count| *count = to.max(*count));
    }

    pub(crate) fn get(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until it is at least `count`.
    pub(crate) async fn reach(&self, count: usize) {
        let what = format!("a count of {count}");
        let mut changes = self.0.subscribe();
        let reached = changes.wait_for(|now| *now >= count);
        super::soon(&what, reached).await.expect("it lives here");
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
