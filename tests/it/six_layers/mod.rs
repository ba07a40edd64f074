//! The six layers that have a name: what each of them keeps out of the default stack, shown by taking
//! it away, and that another can stand in its place. What each does alone is tested beside it.

mod apps;
mod duplicate_keys;
mod ingress;
mod mode;
mod origin;
mod parts;
mod preflight;

use portcullis::service::handler::{Args, Text};
use portcullis::service::{Apps, Limits, Secret};
use portcullis::{Operation, Registry, Stack};
use schemars::JsonSchema;
use serde::Deserialize;
use tower::layer::util::Identity;

use self::ingress::ReadAll;
use self::parts::Parts;
use crate::support::http1::{self, Connection, Request};
use crate::support::message::{modern, request, tool};
use crate::support::{LEGACY, Probe, Server, soon};

const NAME: &str = "six";
const SHELL: &str = "ui://six/shell";

fn secret() -> Secret {
    Secret::new(b"thirty-two bytes, and then a few more").unwrap()
}

#[derive(Deserialize, JsonSchema)]
struct Length {
    length: usize,
}

/// Two operations with effects and one with a long answer.
fn registry(probe: &Probe) -> Registry {
    let open = probe.tally.clone();
    let close = probe.finished.clone();
    Registry::builder()
        .operation(
            Operation::new("open_gate")
                .describe("Open the gate")
                .handler(move || {
                    open.add();
                    async { "it is open" }
                }),
        )
        .operation(
            Operation::new("close_gate")
                .describe("Close the gate")
                .handler(move || {
                    close.add();
                    async { "it is closed" }
                }),
        )
        .operation(
            Operation::new("write")
                .describe("Write a long letter")
                .handler(|Args(input): Args<Length>| async move { Text("x".repeat(input.length)) }),
        )
        .build()
        .unwrap()
}

fn shell() -> Apps {
    Apps::new(SHELL, "<!doctype html><title>six</title>").unwrap()
}

/// The default stack by hand; the probe counts openings as `tally`, closings as `finished`.
fn standard() -> (Parts, Probe) {
    let probe = Probe::default();
    let parts = Parts::standard(registry(&probe), Limits::default(), None);
    (parts, probe)
}

/// One connection to a server of its own.
struct Wire {
    connection: Connection,
    server: Server,
}

impl Wire {
    async fn open<S>(service: S) -> Self
    where
        S: crate::support::server::HttpService<portcullis::layers::Body>,
        S::Future: Send,
    {
        let server = Server::start(service).await;
        Self {
            connection: Connection::open(server.address).await,
            server,
        }
    }

    fn address(&self) -> std::net::SocketAddr {
        self.server.address
    }

    /// Sends a message as a modern client does.
    async fn send(&mut self, text: &str) -> http1::Response {
        self.connection.send(&Request::derived(text)).await
    }
}

/// A call of an operation in compact mode.
fn call(name: &str, arguments: &str) -> String {
    modern(
        "1",
        "tools/call",
        &tool("call_tool", &tool(name, arguments)),
    )
}

fn read(uri: &str) -> String {
    modern("1", "resources/read", &format!(r#"{{"uri":"{uri}"}}"#))
}

/// Requests that every layer of the stack has something to say about.
fn corpus() -> Vec<Request> {
    let open = call("open_gate", "{}");
    let legacy = |method, params| Request::legacy(&request("1", method, params), LEGACY);
    let search = tool("search_tools", r#"{"query":"gate"}"#);
    let mut all: Vec<_> = [
        modern("1", "server/discover", ""),
        modern("\"a\"", "tools/list", ""),
        modern("2", "tools/list", r#"{"cursor":"x"}"#),
        modern("3", "tools/call", &search),
        modern(
            "4",
            "tools/call",
            &tool("get_tool_details", r#"{"name":"write"}"#),
        ),
        modern("5", "tools/call", &tool("open_gate", "{}")),
        modern("6", "tools/call", "{}"),
        modern("7", "resources/list", ""),
        modern("8", "prompts/list", ""),
        modern("9", "no/such/method", ""),
        open.clone(),
        call("close_gate", "{}"),
        call("write", r#"{"length":100}"#),
        call("write", r#"{"length":20000}"#),
        call("write", r#"{"length":50000}"#),
        call("write", r#"{"length":"x"}"#),
        call("nothing", "{}"),
        read(SHELL),
        read("ui://six/other"),
        open.replace(
            r#""name":"call_tool""#,
            r#""name":"call_tool","name":"call_tool""#,
        ),
        open.replace(r#""id":1"#, r#""id":1,"i\u0064":2"#),
        "{".to_owned(),
        "[]".to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/x"}"#.to_owned(),
        format!("{open}{}", " ".repeat(100_000)),
    ]
    .iter()
    .map(|text| Request::derived(text))
    .collect();
    all.extend([
        legacy("initialize", &crate::support::message::handshake(LEGACY)),
        legacy("ping", ""),
        legacy("tools/list", ""),
        legacy("tools/call", &search),
        legacy(
            "tools/call",
            &tool("call_tool", &tool("write", r#"{"length":50000}"#)),
        ),
        Request::new("GET"),
        Request::new("DELETE"),
        Request::derived(&open).with("Host", "evil.example"),
        Request::derived(&open).with("Origin", "https://evil.example"),
        Request::derived(&open).with("Content-Type", "text/plain"),
        Request::derived(&open).with("Accept", "text/html"),
        Request::derived(&open).with("Accept", "text/event-stream"),
        Request::derived(&open).header("Mcp-Param-X", &"x".repeat(9000)),
    ]);
    all
}

/// Everything a server says, but for the time of the day.
async fn answers<S>(service: S) -> Vec<String>
where
    S: crate::support::server::HttpService<portcullis::layers::Body>,
    S::Future: Send,
{
    let server = Server::start(service).await;
    let mut said = Vec::new();
    for request in corpus() {
        let mut connection = Connection::open(server.address).await;
        connection.write_until_refused(&request.encode()).await;
        let mut response = soon("a response", connection.whole_response()).await;
        response
            .head
            .headers
            .retain(|(name, _)| !name.eq_ignore_ascii_case("date"));
        said.push(format!("{response:?}\n{}", response.text()));
    }
    said
}

/// The composition by hand cannot drift from the stack it stands for.
#[tokio::test]
async fn by_hand_with_nothing_left_out_every_byte_is_that_of_the_default_stack() {
    let small = Limits::default()
        .message_bytes(50_000)
        .response_bytes(40_000);
    for limits in [Limits::default(), small] {
        for apps in [None, Some(shell())] {
            let stack = Stack::new(registry(&Probe::default()))
                .identity(NAME, "0")
                .secret(secret())
                .limits(limits);
            let stack = match apps.clone() {
                Some(apps) => stack.apps(apps),
                None => stack,
            };
            let standard = answers(stack.build().unwrap().http()).await;
            let parts = Parts::standard(registry(&Probe::default()), limits, apps);
            let by_hand = answers(parts.http()).await;
            for (standard, by_hand) in standard.iter().zip(&by_hand) {
                assert_eq!(standard, by_hand);
            }
            assert_eq!(standard.len(), by_hand.len());
            // The corpus has something for each of the six.
            let told = standard.join("\n");
            let tells = |what: &str| told.contains(what);
            assert!(tells("status: 403") && tells("stands twice") && tells("search_tools"));
            let bounded = limits == small;
            assert_eq!(tells("status: 413"), bounded);
            assert_eq!(tells("result_too_large"), bounded);
        }
    }
}

/// What was compared above would tell if one of the six were missing.
#[tokio::test]
async fn each_of_the_six_has_a_part_in_those_bytes() {
    let limits = Limits::default()
        .message_bytes(50_000)
        .response_bytes(40_000);
    let parts = || Parts::standard(registry(&Probe::default()), limits, Some(shell()));
    let whole = answers(parts().http()).await;
    let less = [
        answers(parts().origin(Identity::new()).http()).await,
        answers(parts().ingress(ReadAll::layer()).http()).await,
        answers(parts().duplicate_keys(Identity::new()).http()).await,
        answers(parts().preflight(Identity::new()).http()).await,
        answers(parts().apps(Identity::new()).http()).await,
        answers(parts().mode(Identity::new()).http()).await,
    ];
    for (missing, answers) in less.iter().enumerate() {
        let differ = whole
            .iter()
            .zip(answers)
            .filter(|(one, other)| one != other);
        assert!(
            differ.count() > 0,
            "layer {missing} has no part in any answer"
        );
    }
}
