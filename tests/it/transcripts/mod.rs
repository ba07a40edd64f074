//! Recorded conversations: what the server says is the same to the byte over every transport.
//!
//! A file has a header in prose, with a line `Contract:` and perhaps a line `Over:` that names the
//! transports it holds for. Then come lines of the client (`> `) and, behind each, what the server
//! answers (`< `). With `UPDATE=1` in the environment the server's lines are rewritten.

mod registry;
mod run;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::sync::OnceCell;
use tower::layer::util::Identity;

use self::run::Transport;

/// A recorded conversation.
#[derive(Debug)]
struct Transcript {
    path: PathBuf,
    /// The version the client speaks over HTTP, where each request says so.
    version: String,
    header: String,
    over: Vec<Transport>,
    exchanges: Vec<Exchange>,
}

/// A line of the client and what the server answers.
#[derive(Clone, Debug)]
struct Exchange {
    sent: String,
    answered: Vec<String>,
}

impl Transcript {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        let start = text.find("\n> ").map(|at| at + 1);
        let start = start.unwrap_or_else(|| panic!("{} says nothing", path.display()));
        let (header, lines) = text.split_at(start);
        let mut exchanges: Vec<Exchange> = Vec::new();
        for line in lines.lines().filter(|line| !line.is_empty()) {
            match line.split_at_checked(2) {
                Some(("> ", sent)) => {
                    exchanges.push(Exchange {
                        sent: sent.to_owned(),
                        answered: Vec::new(),
                    });
                }
                Some(("< ", answer)) => {
                    let exchange = exchanges.last_mut().expect("the client begins");
                    exchange.answered.push(answer.to_owned());
                }
                _ => panic!("{}: neither side says {line:?}", path.display()),
            }
        }
        let over = header.lines().find_map(|line| line.strip_prefix("Over: "));
        let over = over.map_or_else(|| Transport::ALL.to_vec(), Transport::named);
        let folder = path
            .parent()
            .and_then(Path::parent)
            .and_then(Path::file_name);
        let version = folder.unwrap().to_string_lossy().into_owned();
        Self {
            version,
            header: header.to_owned(),
            over,
            exchanges,
            path,
        }
    }

    fn write(&self) {
        let mut text = self.header.clone();
        for (at, exchange) in self.exchanges.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            let _ = writeln!(text, "> {}", exchange.sent);
            for answer in &exchange.answered {
                let _ = writeln!(text, "< {answer}");
            }
        }
        fs::write(&self.path, text).unwrap();
    }

    /// The answers must be those that were recorded.
    fn compare(&self, transport: Transport, found: &[Exchange]) {
        assert_eq!(self.exchanges.len(), found.len());
        for (recorded, found) in self.exchanges.iter().zip(found) {
            assert_eq!(
                recorded.answered,
                found.answered,
                "{} over {transport:?}: to {}",
                self.path.display(),
                recorded.sent
            );
        }
    }
}

/// All recorded conversations, brought up to date first if that is asked for.
async fn recorded() -> &'static [Transcript] {
    static RECORDED: OnceCell<Vec<Transcript>> = OnceCell::const_new();
    RECORDED
        .get_or_init(async || {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
            let mut paths = Vec::new();
            collect(&root, &mut paths);
            paths.sort();
            let mut all: Vec<_> = paths.into_iter().map(Transcript::read).collect();
            if std::env::var_os("UPDATE").is_some() {
                let gate = registry::stack().build().unwrap();
                for transcript in &mut all {
                    // Over stdio one would have to know how many lines to wait for.
                    let mut told = transcript.over.iter().filter(|it| **it != Transport::Stdio);
                    let transport = *told.next().expect("not over stdio alone");
                    transcript.exchanges = transport.play(&gate, transcript).await;
                    transcript.write();
                }
            }
            assert!(all.len() > 30, "the recordings are there");
            all
        })
        .await
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "transcript")
        {
            paths.push(path);
        }
    }
}

/// Contract: P-5, P-10, P-90.
#[tokio::test]
async fn recorded_conversations_are_the_same_over_every_transport() {
    let gate = registry::stack().build().unwrap();
    for transcript in recorded().await {
        for transport in &transcript.over {
            let found = transport.play(&gate, transcript).await;
            transcript.compare(*transport, &found);
        }
    }
}

#[tokio::test]
async fn identity_layers_change_no_byte_of_them() {
    let gate = registry::stack()
        .layer_http(Identity::new())
        .layer_frame(Identity::new())
        .layer(Identity::new())
        .operation_layer(Identity::new())
        .build()
        .unwrap();
    for transcript in recorded().await {
        for transport in &transcript.over {
            let found = transport.play(&gate, transcript).await;
            transcript.compare(*transport, &found);
        }
    }
}

/// Contract: P-4, P-6, P-8, P-11, P-12, P-13, P-14, P-92, P-256.
#[tokio::test]
async fn everything_recorded_keeps_to_the_rules_for_messages() {
    const MODERN_CODES: [i64; 8] = [
        -32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022,
    ];
    for transcript in recorded().await {
        for exchange in &transcript.exchanges {
            let modern = exchange
                .sent
                .contains("io.modelcontextprotocol/protocolVersion");
            for answer in &exchange.answered {
                let message: Value = serde_json::from_str(answer).unwrap();
                let place = format!("{}: {answer}", transcript.path.display());
                assert_eq!(message["jsonrpc"], "2.0", "{place}");
                assert!(message.get("method").is_none(), "asks the client: {place}");
                if let Some(error) = message.get("error") {
                    let code = error["code"].as_i64().expect("an integer");
                    let known = MODERN_CODES.contains(&code) || (code == -32002 && !modern);
                    assert!(known && error["message"].is_string(), "{place}");
                    assert!(message.get("result").is_none(), "{place}");
                } else {
                    let kind = message["result"].get("resultType");
                    assert_eq!(kind.is_some(), modern, "{place}");
                    assert!(kind.is_none_or(|kind| kind == "complete"), "{place}");
                }
                for secret in ["tok-42", "src/", "panicked"] {
                    assert!(!answer.contains(secret), "tells {secret}: {place}");
                }
            }
        }
    }
}
