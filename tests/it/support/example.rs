//! An example as a process of its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::soon;

/// A running example. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: Lines<BufReader<ChildStdout>>,
    errors: Lines<BufReader<ChildStderr>>,
    child: Child,
}

impl Example {
    /// Starts an example with everything it could log.
    pub(crate) fn start(name: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(path(name))
            .args(arguments)
            .env("RUST_LOG", "trace")
            .env("RUST_BACKTRACE", "full")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: lines(child.stdout.take().unwrap()),
            errors: lines(child.stderr.take().unwrap()),
            child,
        }
    }

    /// The address it says it serves.
    pub(crate) async fn address(&mut self) -> SocketAddr {
        loop {
            let line = soon("an address", self.errors.next_line()).await.unwrap();
            let line = line.expect("it says where it serves");
            if let Some((_, rest)) = line.split_once("http://") {
                let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':');
                if let Ok(address) = rest[..end.unwrap_or(rest.len())].parse() {
                    return address;
                }
            }
        }
    }

    /// What it logs, up to and with the line that starts like this.
    pub(crate) async fn logged_up_to(&mut self, last: &str) -> String {
        let mut logged = Vec::new();
        while logged
            .last()
            .is_none_or(|line: &String| !line.starts_with(last))
        {
            let line = soon("a line of the log", self.errors.next_line()).await;
            logged.push(line.unwrap().expect("it logs that line"));
        }
        logged.join("\n")
    }

    /// The next line of its output; none at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        soon("a line", self.output.next_line()).await.unwrap()
    }

    /// Waits for its end; how it ended and what else it logged.
    pub(crate) async fn ended(mut self) -> (ExitStatus, String) {
        let mut logged = String::new();
        while let Some(line) = soon("the end of the log", self.errors.next_line())
            .await
            .unwrap()
        {
            logged.push_str(&line);
            logged.push('\n');
        }
        (soon("the end", self.child.wait()).await.unwrap(), logged)
    }

    /// Tells it to end, as a terminal or a supervisor does.
    #[cfg(unix)]
    pub(crate) async fn interrupt(&self) {
        let id = self.child.id().expect("it runs").to_string();
        let told = Command::new("kill").args(["-INT", &id]).status().await;
        assert!(told.unwrap().success());
    }
}

fn lines<R: AsyncRead>(reader: R) -> Lines<BufReader<R>> {
    BufReader::new(reader).lines()
}

/// Cargo builds examples beside the folder of the tests.
fn path(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test
        .parent()
        .and_then(|deps| deps.parent())
        .unwrap()
        .join("examples");
    let path = folder
        .join(name)
        .with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "no example {name}: `cargo test` builds it, `cargo test --test it` does not"
    );
    path
}
