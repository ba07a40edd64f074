//! Counts how calls end, and sees the ones whose caller has given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::Serialize;

/// Counts of calls. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endings(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    started: AtomicU64,
    cancelled: AtomicU64,
    completed: AtomicU64,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
pub(crate) struct Counts {
    pub(crate) started: u64,
    pub(crate) cancelled: u64,
    pub(crate) completed: u64,
}

/// A call under way. When its caller gives up the handler's future is dropped, and this with it.
#[derive(Debug)]
pub(crate) struct UnderWay {
    endings: Endings,
    completed: bool,
}

impl Endings {
    /// Counts a call until it ends.
    pub(crate) fn begin(&self) -> UnderWay {
        self.0.started.fetch_add(1, Ordering::Relaxed);
        UnderWay {
            endings: self.clone(),
            completed: false,
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            started: self.0.started.load(Ordering::Relaxed),
            cancelled: self.0.cancelled.load(Ordering::Relaxed),
            completed: self.0.completed.load(Ordering::Relaxed),
        }
    }
}

impl UnderWay {
    /// The call has done what it was asked for.
    pub(crate) fn complete(mut self) {
        self.completed = true;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let counters = &self.endings.0;
        let ending = if self.completed {
            &counters.completed
        } else {
            &counters.cancelled
        };
        ending.fetch_add(1, Ordering::Relaxed);
    }
}
