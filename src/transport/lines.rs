//! Messages framed by line breaks, read within bounds.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

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
}

/// What a stream holds next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line with something in it.
    Message(Vec<u8>),
    /// A line that was longer than allowed.
    TooLong,
    /// Nothing more.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            taken: 0,
            searched: 0,
            longest,
            skipping: false,
            started: false,
        }
    }

    /// The next line that is not blank. A last one need not end with a line break.
    pub(super) async fn next(&mut self) -> io::Result<Line> {
        loop {
            if let Some(line) = self.take_line() {
                match line {
                    Line::Message(bytes) if is_blank(&bytes) => continue,
                    line => return Ok(line),
                }
            }
            self.make_room();
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return Ok(self.take_rest());
            }
        }
    }

    /// A whole line from the buffer, if there is one.
    fn take_line(&mut self) -> Option<Line> {
        let from = self.searched.max(self.taken);
        match memchr::memchr(b'\n', &self.buffer[from..]) {
            Some(at) => {
                let line = self.taken..from + at;
                let taken = std::mem::replace(&mut self.taken, line.end + 1);
                self.searched = self.taken;
                if std::mem::take(&mut self.skipping) {
                    return Some(Line::Message(Vec::new()));
                }
                if line.end - taken > self.longest + usize::from(self.ends_with_return(line.end)) {
                    return Some(Line::TooLong);
                }
                let bytes = self.without_mark(line);
                Some(Line::Message(bytes))
            }
            None => {
                self.searched = self.buffer.len();
                let held = self.buffer.len() - self.taken;
                // One byte more may be the carriage return of a line of just the right length.
                if self.skipping || held > self.longest + 1 {
                    self.buffer.clear();
                    self.taken = 0;
                    self.searched = 0;
                    return (!std::mem::replace(&mut self.skipping, true)).then_some(Line::TooLong);
                }
                None
            }
        }
    }

    fn take_rest(&mut self) -> Line {
        let rest = self.taken..self.buffer.len();
        self.taken = rest.end;
        self.searched = rest.end;
        let skipping = std::mem::take(&mut self.skipping);
        let bytes = self.without_mark(rest);
        if skipping || is_blank(&bytes) {
            return Line::End;
        }
        if bytes.len() > self.longest {
            Line::TooLong
        } else {
            Line::Message(bytes)
        }
    }

    /// Some programs begin a stream with a byte order mark.
    fn without_mark(&mut self, mut line: std::ops::Range<usize>) -> Vec<u8> {
        if self.ends_with_return(line.end) && line.end > line.start {
            line.end -= 1;
        }
        let bytes = &self.buffer[line];
        let bytes = match (std::mem::replace(&mut self.started, true), bytes) {
            (false, [0xef, 0xbb, 0xbf, rest @ ..]) => rest,
            (_, bytes) => bytes,
        };
        bytes.to_vec()
    }

    fn ends_with_return(&self, end: usize) -> bool {
        end > 0 && self.buffer.get(end - 1) == Some(&b'\r')
    }

    /// Moves what is left to the front and makes room behind it.
    fn make_room(&mut self) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.searched -= self.taken;
            self.taken = 0;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > LARGE {
            self.buffer = Vec::new();
        }
        self.buffer.reserve(CHUNK);
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// Bytes asked for at once.
const CHUNK: usize = 64 * 1024;
/// A buffer this large is given back when it is empty.
const LARGE: usize = 4 * CHUNK;

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &[u8], longest: usize) -> Vec<Line> {
        let mut lines = Lines::new(text, longest);
        let mut all = Vec::new();
        loop {
            match lines.next().await.unwrap() {
                Line::End => return all,
                line => all.push(line),
            }
        }
    }

    fn message(text: &str) -> Line {
        Line::Message(text.as_bytes().to_vec())
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
                Line::TooLong,
                message("1234"),
                message("123"),
            ]
        );
        assert_eq!(read(b"12345", 4).await, [Line::TooLong]);
        let long = [vec![b'x'; 1_000_000], b"\nok\n".to_vec()].concat();
        assert_eq!(read(&long, 10).await, [Line::TooLong, message("ok")]);
        assert_eq!(read(&long[..500_000], 10).await, [Line::TooLong]);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_can_be_given_up() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut lines = Lines::new(reader, 100);
        for part in ["{\"a\"", ":1}", "\n"] {
            let given_up = tokio::time::timeout(std::time::Duration::from_millis(1), lines.next());
            assert!(given_up.await.is_err());
            tokio::io::AsyncWriteExt::write_all(&mut writer, part.as_bytes())
                .await
                .unwrap();
        }
        assert_eq!(lines.next().await.unwrap(), message("{\"a\":1}"));
    }
}
