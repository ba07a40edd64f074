//! Sends the lines of the table and compares what comes back.

use bytes::Bytes;
use http_body_util::Full;
use portcullis::testing;
use portcullis::wire::ProtocolVersion;

use crate::support::message::{self, LEGACY, META as MODERN_META, tool};
use crate::support::stdio::Pipe;
use crate::support::{Probe, Server, gate, http1, http2};

use super::{Answer, Era, Line, META};

/// What came back for one message.
#[derive(Debug)]
struct Seen {
    /// None on stdio.
    status: Option<u16>,
    reply: Option<String>,
}

/// Runs the table over everything.
pub(super) async fn matrix(lines: Vec<Line>) {
    for era in [Era::Modern, Era::Legacy] {
        let of_era = |line: &&Line| line.only.is_none_or(|only| only == era);
        let lines: Vec<_> = lines.iter().filter(of_era).collect();
        // Shown when a line fails.
        eprintln!("{era:?} over HTTP/1.1");
        over_http1(era, &lines).await;
        eprintln!("{era:?} over HTTP/2");
        over_http2(era, &lines).await;
        let lines: Vec<_> = lines
            .into_iter()
            .filter(|line| line.head.is_empty())
            .collect();
        eprintln!("{era:?} over stdio");
        over_stdio(era, &lines).await;
        eprintln!("{era:?} in process");
        in_process(era, &lines).await;
    }
}

async fn over_http1(era: Era, lines: &[&Line]) {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = http1::Connection::open(server.address).await;
    let mut judge = Judge::new(era, probe);
    for line in lines {
        let mut request = http1::Request::post(era.fill(&line.message));
        for (name, value) in era.head() {
            request = request.header(name, value);
        }
        for (name, value) in &line.head {
            request = match value {
                Some(value) => request.with(name, value),
                None => request.without(name),
            };
        }
        let response = connection.send(&request).await;
        judge.judge(line, &seen(response.status(), response.text()));
        let healthy = http1::Request::derived(&era.healthy());
        let healthy = match era {
            Era::Modern => healthy,
            Era::Legacy => healthy.header("MCP-Protocol-Version", LEGACY),
        };
        let response = connection.send(&healthy).await;
        judge.is_healthy(line, response.text());
    }
}

async fn over_http2(era: Era, lines: &[&Line]) {
    let (gate, probe) = gate();
    let server = Server::start(gate.http()).await;
    let mut connection = http2::Connection::open(server.address).await;
    let authority = format!("localhost:{}", server.address.port());
    let mut judge = Judge::new(era, probe);
    for line in lines {
        let mut request = http2::post(&authority, "");
        let headers = request.headers_mut().expect("a proper head");
        let proper = era
            .head()
            .into_iter()
            .map(|(name, value)| (name, Some(value.to_owned())));
        for (name, value) in proper.chain(line.head.iter().cloned()) {
            let name: http::HeaderName = name.parse().unwrap();
            match value {
                Some(value) => headers.insert(name, value.parse().unwrap()),
                None => headers.remove(name),
            };
        }
        let body = Full::new(Bytes::from(era.fill(&line.message)));
        let (status, text) = connection.send(request.body(body).unwrap()).await;
        judge.judge(line, &seen(status, &text));
        let mut healthy = http2::post(&authority, &era.healthy());
        if era == Era::Legacy {
            healthy = healthy.header("MCP-Protocol-Version", LEGACY);
        }
        let body = Full::new(Bytes::from(era.healthy()));
        let (_, text) = connection.send(healthy.body(body).unwrap()).await;
        judge.is_healthy(line, &text);
    }
}

async fn over_stdio(era: Era, lines: &[&Line]) {
    let (gate, probe) = gate();
    let mut pipe = Pipe::open(&gate);
    if era == Era::Legacy {
        let hello = message::request("0", "initialize", &message::handshake(LEGACY));
        pipe.ask(&hello).await;
        let done = message::notification("notifications/initialized", "");
        pipe.write(&done).await;
    }
    let mut judge = Judge::new(era, probe);
    for line in lines {
        let message = era.fill(&line.message);
        // In a message on one line there are none.
        if message.contains(&b'\n') {
            continue;
        }
        pipe.write_bytes(&[&*message, b"\n"].concat()).await;
        let silent = line.silent_on_stdio || matches!(line.answer, Answer::Taken);
        if !silent {
            let reply = Some(pipe.line().await);
            judge.judge(
                line,
                &Seen {
                    status: None,
                    reply,
                },
            );
        }
        // After silence the next line belongs to this one.
        let reply = pipe.ask(&era.healthy()).await;
        judge.is_healthy(line, &reply);
    }
    let (rest, ended) = pipe.close().await;
    assert_eq!(rest, [""; 0]);
    ended.unwrap();
}

async fn in_process(era: Era, lines: &[&Line]) {
    let (gate, probe) = gate();
    let client = match era {
        Era::Modern => testing::Client::modern(&gate),
        Era::Legacy => testing::Client::legacy(&gate, ProtocolVersion::LATEST_LEGACY).await,
    };
    let mut judge = Judge::new(era, probe);
    for line in lines {
        // What is no JSON, or too large, never gets to be a frame.
        let is_frame = !matches!(
            line.answer,
            Answer::Refused { code: -32700, .. } | Answer::Refused { status: 413, .. }
        );
        let Ok(text) = String::from_utf8(era.fill(&line.message)) else {
            assert!(!is_frame, "{}", line.name);
            continue;
        };
        if is_frame {
            let answer = client.send(&text).await;
            let status = Some(answer.status);
            judge.judge(
                line,
                &Seen {
                    status,
                    reply: answer.raw,
                },
            );
            let answer = client.send(&era.healthy()).await;
            judge.is_healthy(line, &answer.raw.unwrap());
        }
    }
}

fn seen(status: u16, body: &str) -> Seen {
    Seen {
        status: Some(status),
        reply: (!body.is_empty()).then(|| body.to_owned()),
    }
}

impl Era {
    /// The message as this era writes it.
    pub(super) fn fill(self, message: &[u8]) -> Vec<u8> {
        let meta = match self {
            Self::Modern => MODERN_META,
            Self::Legacy => r#""x.example/era":"legacy""#,
        };
        let mut filled = Vec::with_capacity(message.len() + meta.len());
        let mut rest = message;
        while let Some(at) = memchr::memmem::find(rest, META.as_bytes()) {
            filled.extend_from_slice(&rest[..at]);
            filled.extend_from_slice(meta.as_bytes());
            rest = &rest[at + META.len()..];
        }
        filled.extend_from_slice(rest);
        filled
    }

    /// The headers of the proper call.
    pub(super) fn head(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Modern => vec![
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", "tally_bump"),
            ],
            Self::Legacy => vec![("MCP-Protocol-Version", LEGACY)],
        }
    }

    /// A call of the tool that reads the count.
    pub(super) fn healthy(self) -> String {
        let params = tool("tally_read", "{}");
        match self {
            Self::Modern => message::modern(HEALTHY, "tools/call", &params),
            Self::Legacy => message::request(HEALTHY, "tools/call", &params),
        }
    }
}

/// Compares answers with the table, and counts what may have run.
struct Judge {
    era: Era,
    probe: Probe,
    ran: usize,
}

impl Judge {
    fn new(era: Era, probe: Probe) -> Self {
        Self { era, probe, ran: 0 }
    }

    fn judge(&mut self, line: &Line, seen: &Seen) {
        let name = &line.name;
        let reply = seen.reply.as_deref();
        let status = match &line.answer {
            Answer::Refused { status, code, id } => {
                let reply = reply.unwrap_or_else(|| panic!("{name}: no reply"));
                let json: serde_json::Value = serde_json::from_str(reply).expect(name);
                assert_eq!(json["error"]["code"], *code, "{name}: {reply}");
                assert!(json["error"]["message"].is_string(), "{name}: {reply}");
                let start = match id {
                    Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"#),
                    None => r#"{"jsonrpc":"2.0","error":"#.to_owned(),
                };
                assert!(reply.starts_with(&start), "{name}: {reply}");
                assert!(
                    reply.len() <= LONGEST_ERROR,
                    "{name}: {} bytes",
                    reply.len()
                );
                *status
            }
            Answer::Served { id, runs } => {
                let reply = reply.unwrap_or_else(|| panic!("{name}: no reply"));
                let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
                assert!(reply.starts_with(&start), "{name}: {reply}");
                assert!(!reply.contains(r#""isError":true"#), "{name}: {reply}");
                self.ran += usize::from(*runs);
                200
            }
            Answer::Taken => {
                assert_eq!(reply, None, "{name}");
                202
            }
        };
        let status = match line.legacy_status {
            Some(other) if self.era == Era::Legacy => other,
            _ => status,
        };
        assert!(
            seen.status.is_none_or(|seen| seen == status),
            "{name}: {seen:?}"
        );
    }

    /// The call after a line is served, and only what the table says has run.
    fn is_healthy(&self, line: &Line, reply: &str) {
        let start = format!(r#"{{"jsonrpc":"2.0","id":{HEALTHY},"result":"#);
        assert!(reply.starts_with(&start), "after {}: {reply}", line.name);
        let count = format!(r#""text":"{}""#, self.ran);
        assert!(reply.contains(&count), "after {}: {reply}", line.name);
        assert_eq!(self.probe.tally.get(), self.ran, "{}", line.name);
    }
}

const HEALTHY: &str = r#""healthy""#;
/// An error, with what stands around it.
const LONGEST_ERROR: usize = 9 * 1024;
