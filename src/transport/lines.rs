//! Messages framed by line breaks, read within bounds.
//!
//! What a long line takes up is reserved from a budget before it is read, and what its index will take
//! up before it is handed out. Where there is not so much left a line waits for it, for a while.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Duration, Instant, timeout_at};

use crate::service::{Limits, millis};
use crate::wire::json::scan_bytes;
use crate::wire::{Budget, Reserved};

/// Reads lines. Waiting for one can be given up and taken up again: nothing is lost.
pub(super) struct Lines<R> {
    reader: R,
    /// What was read and not handed out, from `taken` on.
    buffer: Vec<u8>,
    taken: usize,
    /// How much of `buffer` is known to hold no line break.
    searched: usize,
    longest: usize,
    /// The rest of a line that was too long is thrown away.
    skipping: bool,
    started: bool,
    /// What a long `buffer` takes up.
    held: Reserved,
    /// A line that waits for what it will take up.
    ready: Option<(Vec<u8>, Reserved)>,
    /// Until when it waits.
    until: Option<Instant>,
    patience: Duration,
}

/// What a stream holds next.
#[derive(Debug)]
pub(super) enum Line {
    /// A line with something in it, and what it takes up.
    Message(Vec<u8>, Reserved),
    /// A line that was longer than allowed.
    TooLong,
    /// A line for which there was no room in the budget.
    NoRoom,
    /// Nothing more.
    End,
}

/// A line as it stands in the buffer.
enum Found {
    Message(Vec<u8>, Reserved),
    Long,
    /// The rest of a line that was refused already.
    Rest,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, limits: &Limits, budget: &Budget) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            taken: 0,
            searched: 0,
            longest: limits.message(),
            skipping: false,
            started: false,
            held: budget.reserve_nothing(),
            ready: None,
            until: None,
            patience: millis(limits.body_read_ms),
        }
    }

    /// The next line that is not blank. A last one need not end with a line break.
    pub(super) async fn next(&mut self) -> io::Result<Line> {
        loop {
            if let Some((line, held)) = &mut self.ready {
                let wanted = scan_bytes(line.capacity());
                if !wait(held, wanted, &mut self.until, self.patience).await {
                    self.ready = None;
                    return Ok(Line::NoRoom);
                }
                if let Some((line, held)) = self.ready.take() {
                    return Ok(Line::Message(line, held));
                }
            }
            match self.take_line() {
                Some(Found::Message(line, held)) => self.hand_out(line, held),
                Some(Found::Long) => return Ok(Line::TooLong),
                Some(Found::Rest) => {}
                None => {
                    if !self.make_room().await {
                        return Ok(Line::NoRoom);
                    }
                    if self.reader.read_buf(&mut self.buffer).await? > 0 {
                        continue;
                    }
                    match self.take_rest() {
                        Some(Found::Message(line, held)) => self.hand_out(line, held),
                        Some(Found::Long) => return Ok(Line::TooLong),
                        Some(Found::Rest) | None => return Ok(Line::End),
                    }
                }
            }
        }
    }

    /// The line is next, unless it is blank.
    fn hand_out(&mut self, line: Vec<u8>, held: Reserved) {
        if !is_blank(&line) {
            self.ready = Some((line, held));
        }
    }

    /// A whole line from the buffer, if there is one.
    fn take_line(&mut self) -> Option<Found> {
        let from = self.searched.max(self.taken);
        match memchr::memchr(b'\n', &self.buffer[from..]) {
            Some(at) => {
                let line = self.taken..from + at;
                let taken = std::mem::replace(&mut self.taken, line.end + 1);
                self.searched = self.taken;
                if std::mem::take(&mut self.skipping) {
                    return Some(Found::Rest);
                }
                if line.end - taken > self.longest + usize::from(self.ends_with_return(line.end)) {
                    return Some(Found::Long);
                }
                let (line, held) = self.take(line);
                Some(Found::Message(line, held))
            }
            None => {
                self.searched = self.buffer.len();
                let held = self.buffer.len() - self.taken;
                // One byte more may be the carriage return of a line of just the right length.
                if self.skipping || held > self.longest + 1 {
                    self.forget();
                    return (!std::mem::replace(&mut self.skipping, true)).then_some(Found::Long);
                }
                None
            }
        }
    }

    fn take_rest(&mut self) -> Option<Found> {
        let rest = self.taken..self.buffer.len();
        self.taken = rest.end;
        self.searched = rest.end;
        let skipping = std::mem::take(&mut self.skipping);
        let (line, held) = self.take(rest);
        if skipping || is_blank(&line) {
            None
        } else if line.len() > self.longest {
            Some(Found::Long)
        } else {
            Some(Found::Message(line, held))
        }
    }

    /// The line alone: without what ends it, and without the byte order mark some programs begin a
    /// stream with. One that fills most of the buffer is not copied.
    fn take(&mut self, mut line: std::ops::Range<usize>) -> (Vec<u8>, Reserved) {
        if self.ends_with_return(line.end) && line.end > line.start {
            line.end -= 1;
        }
        if !std::mem::replace(&mut self.started, true)
            && self.buffer[line.clone()].starts_with(b"\xef\xbb\xbf")
        {
            line.start += 3;
        }
        if line.len() <= LARGE || line.len() < self.buffer.capacity() / 2 {
            return (self.buffer[line].to_vec(), self.held.reserve_nothing());
        }
        let rest = self.buffer[self.taken..].to_vec();
        let mut taken = std::mem::replace(&mut self.buffer, rest);
        self.taken = 0;
        self.searched = 0;
        taken.truncate(line.end);
        taken.drain(..line.start);
        let held = self.held.split_off();
        // Was counted so far. If it cannot be, it waits as soon as it grows.
        let _ = self.held.grow(self.buffer.capacity());
        (taken, held)
    }

    fn ends_with_return(&self, end: usize) -> bool {
        end > 0 && self.buffer.get(end - 1) == Some(&b'\r')
    }

    /// Throws away what was read.
    fn forget(&mut self) {
        self.buffer.clear();
        self.taken = 0;
        self.searched = 0;
    }

    /// Moves what is left to the front and makes room behind it. False if there was nothing left of
    /// the budget to do so: the line is then given up.
    async fn make_room(&mut self) -> bool {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.searched -= self.taken;
            self.taken = 0;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > LARGE {
            self.buffer = Vec::new();
            self.held.shrink(0);
        }
        let (length, room) = (self.buffer.len(), self.buffer.capacity());
        if room - length >= CHUNK {
            return true;
        }
        // A line of the greatest length fits without being moved again for its end.
        let wanted = (2 * room).min(self.longest + CHUNK).max(length + CHUNK);
        if wanted > LARGE {
            let both = room + wanted;
            if !wait(&mut self.held, both, &mut self.until, self.patience).await {
                self.forget();
                self.skipping = true;
                return false;
            }
        }
        self.buffer.reserve_exact(wanted - length);
        self.held.shrink(self.buffer.capacity());
        true
    }
}

/// Whether so much is held, which it is as soon as others have given it back or never.
async fn wait(
    held: &mut Reserved,
    bytes: usize,
    until: &mut Option<Instant>,
    patience: Duration,
) -> bool {
    if held.grow(bytes).is_ok() {
        return true;
    }
    let end = *until.get_or_insert_with(|| Instant::now() + patience);
    let grown = std::future::poll_fn(|cx| held.poll_grow(bytes, cx));
    let grown = timeout_at(end, grown).await.is_ok();
    *until = None;
    grown
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// Bytes asked for at once.
const CHUNK: usize = 64 * 1024;
/// A buffer up to this size belongs to the connection and counts for no message.
const LARGE: usize = 4 * CHUNK;

#[cfg(test)]
mod tests {
    use super::*;

    /// A line without what it holds.
    #[derive(Debug, PartialEq, Eq)]
    enum Plain {
        Message(Vec<u8>),
        TooLong,
        NoRoom,
        End,
    }

    impl From<Line> for Plain {
        fn from(line: Line) -> Self {
            match line {
                Line::Message(bytes, _) => Self::Message(bytes),
                Line::TooLong => Self::TooLong,
                Line::NoRoom => Self::NoRoom,
                Line::End => Self::End,
            }
        }
    }

    async fn read(text: &[u8], longest: u64) -> Vec<Plain> {
        let limits = Limits::default().message_bytes(longest);
        let mut lines = Lines::new(text, &limits, &limits.budget());
        let mut all = Vec::new();
        loop {
            match lines.next().await.unwrap().into() {
                Plain::End => return all,
                line => all.push(line),
            }
        }
    }

    fn message(text: &str) -> Plain {
        Plain::Message(text.as_bytes().to_vec())
    }

    /// Contract: case J12.
    #[tokio::test]
    async fn understands_every_kind_of_line_end() {
        let text = b"\xef\xbb\xbfa\r\n\n\n  \n\r\nb\nc";
        assert_eq!(
            read(text, 10).await,
            [message("a"), message("b"), message("c")]
        );
        assert_eq!(read(b"", 10).await, []);
        assert_eq!(read(b"a\n\xef\xbb\xbfb\n", 10).await.len(), 2);
    }

    #[tokio::test]
    async fn length_is_bounded_on_both_sides() {
        assert_eq!(
            read(b"1234\n12345\n1234\r\n123\n", 4).await,
            [
                message("1234"),
                Plain::TooLong,
                message("1234"),
                message("123"),
            ]
        );
        assert_eq!(read(b"12345", 4).await, [Plain::TooLong]);
        let long = [vec![b'x'; 1_000_000], b"\nok\n".to_vec()].concat();
        assert_eq!(read(&long, 10).await, [Plain::TooLong, message("ok")]);
        assert_eq!(read(&long[..500_000], 10).await, [Plain::TooLong]);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_can_be_given_up() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let limits = Limits::default().message_bytes(100);
        let mut lines = Lines::new(reader, &limits, &limits.budget());
        for part in ["{\"a\"", ":1}", "\n"] {
            let given_up = tokio::time::timeout(std::time::Duration::from_millis(1), lines.next());
            assert!(given_up.await.is_err());
            tokio::io::AsyncWriteExt::write_all(&mut writer, part.as_bytes())
                .await
                .unwrap();
        }
        assert_eq!(
            Plain::from(lines.next().await.unwrap()),
            message("{\"a\":1}")
        );
    }

    /// Long lines are handed out without being copied; what follows them is not lost.
    #[tokio::test]
    async fn long_lines_and_short_ones_keep_their_order() {
        let long = "x".repeat(700_000);
        let text = format!("\u{feff}{long}\r\na\n{long}\nb\n\n{long}");
        let all = read(text.as_bytes(), 1_000_000).await;
        let expected = [&long, "a", &long, "b", &long].map(message);
        assert!(all == expected, "{} lines", all.len());
    }

    /// What others hold is waited for, but not for ever, and the next line is read.
    #[tokio::test(start_paused = true)]
    async fn a_line_waits_for_room_in_the_budget() {
        let limits = Limits::default().message_bytes(1_000_000).ingress_bytes(1);
        let budget = limits.budget();
        let long = "x".repeat(600_000);
        let text = format!("{long}\nshort\n{long}\n{long}\n");
        let mut lines = Lines::new(text.as_bytes(), &limits, &budget);
        let mut next = async || lines.next().await.unwrap();
        let Line::Message(_, first) = next().await else {
            panic!("there is room for one");
        };
        let Line::Message(_, short) = next().await else {
            panic!("a short line needs little");
        };
        let started = Instant::now();
        assert_eq!(Plain::from(next().await), Plain::NoRoom);
        assert_eq!(started.elapsed(), millis(limits.body_read_ms));
        let (line, ()) = tokio::join!(next(), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop((first, short));
        });
        assert_eq!(Plain::from(line), message(&long));
        assert_eq!(Plain::from(next().await), Plain::End);
    }
}
