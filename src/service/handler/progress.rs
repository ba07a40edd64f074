//! Progress of a call: exact, increasing, spaced and bounded.

use std::sync::{Mutex, PoisonError};

use tokio::time::{Duration, Instant};

use crate::service::context::{Peer, notification};
use crate::wire::json::{ObjectWriter, RawJson};

/// How far a call is.
///
/// ```
/// use portcullis::service::handler::Progress;
///
/// let half = Progress::new(50).total(100).message("half way");
/// # let _ = half;
/// ```
#[derive(Clone, Debug)]
pub struct Progress {
    done: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Progress {
    /// What is done so far, in units of the handler's choice.
    pub fn new(done: impl Into<f64>) -> Self {
        Self {
            done: done.into(),
            total: None,
            message: None,
        }
    }

    /// What there is to do, if it is known. Zero is a total.
    #[must_use]
    pub fn total(mut self, total: impl Into<f64>) -> Self {
        self.total = Some(total.into());
        self
    }

    /// What is going on, for people.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    fn is_finite(&self) -> bool {
        self.done.is_finite() && self.total.is_none_or(f64::is_finite)
    }

    fn push(&self, token: &RawJson, out: &mut Vec<u8>) {
        let mut object = ObjectWriter::new(out);
        object.raw("progressToken", token.text());
        object.raw("progress", &decimal(self.done));
        object.optional_raw("total", self.total.map(decimal).as_deref());
        object.optional_string("message", self.message.as_deref());
        object.end();
    }
}

/// The progress of one call, shared by all clones of its context.
#[derive(Debug)]
pub(super) struct Reporter {
    token: RawJson,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    sent: Option<(f64, Instant)>,
    /// An update was refused and the log has been told: once a call is enough.
    complained: bool,
}

impl Reporter {
    pub(super) fn new(token: RawJson) -> Self {
        Self {
            token,
            last: Mutex::default(),
        }
    }

    pub(super) async fn report(&self, peer: &Peer, progress: Progress) {
        if !self.admit(&progress) {
            return;
        }
        let message = notification("notifications/progress", |out| {
            progress.push(&self.token, out);
        });
        // Whoever asked may have gone; the call finds out by its own end.
        let _ = peer.outlet().send(message).await;
    }

    /// Whether an update is sent.
    fn admit(&self, progress: &Progress) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut encoded = Vec::new();
        progress.push(&self.token, &mut encoded);
        if !progress.is_finite() || encoded.len() > LONGEST {
            if !std::mem::replace(&mut last.complained, true) {
                tracing::debug!(target: "portcullis::progress", "progress update dropped");
            }
            return false;
        }
        let now = Instant::now();
        if let Some((done, at)) = last.sent
            && (progress.done <= done || now.duration_since(at) < SPACING)
        {
            return false;
        }
        last.sent = Some((progress.done, now));
        true
    }
}

/// A finite number as JSON; integers without a fraction.
fn decimal(value: f64) -> String {
    value.to_string()
}

const SPACING: Duration = Duration::from_millis(100);
/// Encoded parameters, in bytes.
const LONGEST: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn reporter() -> Reporter {
        Reporter::new(RawJson::parse("9007199254740993").unwrap())
    }

    /// Contract: S-130, S-131.
    #[test]
    fn token_and_zero_total_are_exact() {
        let mut out = Vec::new();
        Progress::new(0).total(0).push(&reporter().token, &mut out);
        assert_eq!(
            out,
            br#"{"progressToken":9007199254740993,"progress":0,"total":0}"#
        );
    }

    /// Contract: S-133, P-110.
    #[tokio::test(start_paused = true)]
    async fn updates_go_forward_and_are_spaced() {
        let reporter = reporter();
        assert!(reporter.admit(&Progress::new(1)));
        assert!(!reporter.admit(&Progress::new(2)), "too soon");
        tokio::time::advance(SPACING).await;
        assert!(!reporter.admit(&Progress::new(1)), "not forward");
        assert!(reporter.admit(&Progress::new(1.5)));
    }

    /// Contract: S-136.
    #[tokio::test(start_paused = true)]
    async fn updates_are_bounded_on_both_sides() {
        let reporter = reporter();
        let mut out = Vec::new();
        Progress::new(1).message("").push(&reporter.token, &mut out);
        let room = LONGEST - out.len();
        assert!(!reporter.admit(&Progress::new(1).message("x".repeat(room + 1))));
        assert!(!reporter.admit(&Progress::new(f64::NAN)));
        assert!(reporter.admit(&Progress::new(1).message("x".repeat(room))));
    }
}
