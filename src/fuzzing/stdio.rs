//! The stdio loop over pipes: whole lines out, one answer for each request, and an end.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Duration, timeout};

use crate::wire::json::MAX_DEPTH;
use crate::wire::{Frame, FrameKind, Method};

use super::gate::{LONGEST, Written, gate, written};
use super::halves;

/// The first line says in which pieces the rest is read, and the answers are written.
pub fn stdio(data: &[u8]) {
    let (pace, input) = halves(data);
    let (gate, _) = gate();
    let reader = Reader {
        rest: input.to_vec(),
        pace: Pace::new(pace),
    };
    let output = Arc::default();
    let writer = Writer {
        written: Arc::clone(&output),
        pace: Pace::new(pace),
    };
    let running = gate.stdio().streams(reader, writer).run();
    let ended = runtime().block_on(async { timeout(Duration::from_secs(3600), running).await });
    ended
        .expect("it ends with its input")
        .expect("nothing broke");

    let output = output.lock().expect("nothing panicked");
    let output = std::str::from_utf8(&output).expect("output is UTF-8");
    assert!(output.is_empty() || output.ends_with('\n'), "{output}");
    let expected = Expected::of(input);
    if !expected.is_exact {
        return;
    }
    let mut open = expected.answers;
    for id in output.lines().filter_map(answer) {
        let left = open.get_mut(&id).filter(|left| **left > 0);
        *left.unwrap_or_else(|| panic!("{id} is answered too often: {output}")) -= 1;
    }
    open.retain(|_, left| *left > 0);
    assert!(
        open.is_empty() || expected.may_lack,
        "{open:?} without answer: {output}"
    );
}

/// A runtime whose time passes only when nothing else happens.
pub(super) fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().start_paused(true);
    builder.build().expect("a runtime")
}

/// The id that a line answers, if it is an answer: its text, or nothing.
fn answer(line: &str) -> Option<String> {
    match written(line) {
        Written::Notification => None,
        Written::Result(id) => Some(id.text().to_owned()),
        Written::Error(id) => Some(id.map_or_else(String::new, |id| id.text().to_owned())),
    }
}

/// What has to be answered.
struct Expected {
    /// How many answers each id gets; nothing stands for an id that cannot be read.
    answers: HashMap<String, usize>,
    /// A request that was taken back may be answered.
    may_lack: bool,
    /// Whether every line is clearly within bounds or clearly beyond them.
    is_exact: bool,
}

impl Expected {
    fn of(input: &[u8]) -> Self {
        let mut expected = Self {
            answers: HashMap::new(),
            may_lack: false,
            is_exact: true,
        };
        for (at, line) in input.split(|b| *b == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.len() > LONGEST {
                // A mark or a blank end may or may not count.
                expected.is_exact &= line.len() > LONGEST + 3;
                expected.answer(None);
                continue;
            }
            let line = match line.strip_prefix(b"\xef\xbb\xbf") {
                Some(rest) if at == 0 => rest,
                _ => line,
            };
            if !line.iter().all(u8::is_ascii_whitespace) {
                expected.message(line);
            }
        }
        expected
    }

    fn answer(&mut self, id: Option<String>) {
        *self.answers.entry(id.unwrap_or_default()).or_default() += 1;
    }

    fn message(&mut self, line: &[u8]) {
        let Ok(frame) = Frame::parse(line.to_vec(), MAX_DEPTH) else {
            self.answer(None);
            return;
        };
        match frame.kind() {
            FrameKind::Request | FrameKind::Other => {
                self.answer(frame.id().map(|id| id.text().to_owned()));
            }
            FrameKind::Notification => {
                let method = frame.method();
                self.may_lack |= method.is_some_and(|method| method == Method::CANCELLED.name());
            }
            FrameKind::Response => {}
        }
    }
}

/// How many bytes move at a time, again and again; zero is a pause.
struct Pace {
    steps: Vec<u8>,
    at: usize,
}

impl Pace {
    fn new(steps: &[u8]) -> Self {
        Self {
            steps: steps.to_vec(),
            at: 0,
        }
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        let step = self.steps.get(self.at % self.steps.len().max(1));
        self.at += 1;
        match step.map(|step| step % 64) {
            // Never twice in a row.
            Some(0) if self.at.is_multiple_of(2) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(step) => Poll::Ready(1 + usize::from(step)),
            None => Poll::Ready(usize::MAX),
        }
    }
}

struct Reader {
    rest: Vec<u8>,
    pace: Pace,
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.pace.next(cx).map(|step| {
            let length = step.min(buffer.remaining()).min(self.rest.len());
            buffer.put_slice(&self.rest[..length]);
            self.rest.drain(..length);
            Ok(())
        })
    }
}

struct Writer {
    written: Arc<Mutex<Vec<u8>>>,
    pace: Pace,
}

impl AsyncWrite for Writer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.pace.next(cx).map(|step| {
            let length = step.min(bytes.len());
            let mut written = self.written.lock().expect("nothing panicked");
            written.extend_from_slice(&bytes[..length]);
            Ok(length)
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
