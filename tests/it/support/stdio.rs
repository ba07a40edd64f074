//! A server behind a pair of pipes: whole lines in, whole lines out.

use std::io;

use portcullis::Gate;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::task::JoinHandle;

/// The client's end.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) input: DuplexStream,
    pub(crate) output: Lines,
    pub(crate) running: JoinHandle<io::Result<()>>,
}

/// What the server writes.
#[derive(Debug)]
pub(crate) struct Lines(BufReader<DuplexStream>);

impl Pipe {
    /// A server that runs until its input ends.
    pub(crate) fn open<H>(gate: &Gate<H>) -> Self {
        Self::with_room(gate, 64 * 1024)
    }

    /// The same with so many bytes of room in each pipe.
    pub(crate) fn with_room<H>(gate: &Gate<H>, room: usize) -> Self {
        let (input, reader) = tokio::io::duplex(room);
        let (writer, output) = tokio::io::duplex(room);
        Self {
            input,
            output: Lines(BufReader::new(output)),
            running: tokio::spawn(gate.stdio().streams(reader, writer).run()),
        }
    }

    /// Writes a line.
    pub(crate) async fn write(&mut self, line: &str) {
        self.write_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub(crate) async fn write_bytes(&mut self, bytes: &[u8]) {
        super::soon("room in the pipe", self.input.write_all(bytes))
            .await
            .unwrap();
    }

    /// The next line.
    pub(crate) async fn line(&mut self) -> String {
        self.output.next().await.expect("a line")
    }

    /// Writes a line and reads one.
    pub(crate) async fn ask(&mut self, line: &str) -> String {
        self.write(line).await;
        self.line().await
    }

    /// Closes the input; what the server still writes, and how it ends.
    pub(crate) async fn close(self) -> (Vec<String>, io::Result<()>) {
        let Self {
            input,
            mut output,
            running,
        } = self;
        drop(input);
        let mut rest = Vec::new();
        while let Some(line) = output.next().await {
            rest.push(line);
        }
        let ended = super::soon("the end of the server", running).await.unwrap();
        (rest, ended)
    }
}

impl Lines {
    /// The next line without its end; none when there are no more.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        super::soon("a line", self.0.read_line(&mut line))
            .await
            .unwrap();
        line.strip_suffix('\n').map(str::to_owned)
    }

    /// The next line, however long it takes.
    pub(crate) async fn wait(&mut self) -> Option<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).await.ok()?;
        line.strip_suffix('\n').map(str::to_owned)
    }
}
