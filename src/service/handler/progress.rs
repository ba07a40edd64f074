//! Progress of a call: exact, increasing, spaced and bounded.

use tokio::time::{Duration, Instant};

use crate::service::context::{CallLink, Told, notification};
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

/// Tells the caller, which gave this token for it.
pub(super) async fn report(link: &CallLink, token: &RawJson, progress: Progress) {
    let mut encoded = Vec::new();
    progress.push(token, &mut encoded);
    let fits = progress.is_finite() && encoded.len() <= LONGEST;
    if !admit(&mut link.told(), progress.done, fits) {
        return;
    }
    let message = notification("notifications/progress", |out| {
        out.extend_from_slice(&encoded);
    });
    // Whoever asked may have gone; the call finds out by its own end.
    let _ = link.outlet().send(message).await;
}

/// Whether an update is sent.
fn admit(told: &mut Told, done: f64, fits: bool) -> bool {
    if !fits {
        if !std::mem::replace(&mut told.complained, true) {
            tracing::debug!(target: "portcullis::progress", "progress update dropped");
        }
        return false;
    }
    let now = Instant::now();
    if let Some((last, at)) = told.last
        && (done <= last || now.duration_since(at) < SPACING)
    {
        return false;
    }
    told.last = Some((done, now));
    true
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

    fn token() -> RawJson {
        RawJson::parse("9007199254740993").unwrap()
    }

    /// Contract: S-130, S-131.
    #[test]
    fn token_and_zero_total_are_exact() {
        let mut out = Vec::new();
        Progress::new(0).total(0).push(&token(), &mut out);
        assert_eq!(
            out,
            br#"{"progressToken":9007199254740993,"progress":0,"total":0}"#
        );
    }

    /// Contract: S-133, P-110.
    #[tokio::test(start_paused = true)]
    async fn updates_go_forward_and_are_spaced() {
        let mut told = Told::default();
        assert!(admit(&mut told, 1.0, true));
        assert!(!admit(&mut told, 2.0, true), "too soon");
        tokio::time::advance(SPACING).await;
        assert!(!admit(&mut told, 1.0, true), "not forward");
        assert!(admit(&mut told, 1.5, true));
    }

    /// Contract: S-136.
    #[tokio::test(start_paused = true)]
    async fn updates_are_bounded_on_both_sides() {
        let mut out = Vec::new();
        Progress::new(1).message("").push(&token(), &mut out);
        let room = LONGEST - out.len();
        let told = async |progress: Progress| {
            let link = CallLink::detached();
            report(&link, &token(), progress).await;
            link.told().last.is_some()
        };
        assert!(!told(Progress::new(1).message("x".repeat(room + 1))).await);
        assert!(!told(Progress::new(f64::NAN)).await);
        assert!(told(Progress::new(1).message("x".repeat(room))).await);
    }
}
