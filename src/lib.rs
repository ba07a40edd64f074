//! A Model Context Protocol server as a stack of [Tower](tower) layers.
//!
//! The core, [`McpService`](service::McpService), knows what a call means: it finds the operation,
//! checks the arguments against its schema, runs the handler. Everything around it is a layer of its
//! own, which can be taken out, replaced, tested and measured alone: who may call, how much may be
//! sent, what happens to a panic. [`Stack`] puts the standard ones together, and the same stack then
//! answers HTTP, stdio and callers in the same process.
//!
//! ```
//! use portcullis::service::Failure;
//! use portcullis::service::handler::{Args, Structured};
//! use portcullis::testing::Client;
//! use portcullis::{Mode, Operation, Registry, Stack};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Numbers { a: i64, b: i64 }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Sum { sum: i64 }
//!
//! async fn add(Args(input): Args<Numbers>) -> Result<Structured<Sum>, Failure> {
//!     let sum = input.a.checked_add(input.b);
//!     let sum = sum.ok_or_else(|| Failure::new("too_large", "the sum does not fit 64 bits"))?;
//!     Ok(Structured(Sum { sum }))
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let registry = Registry::builder()
//!     .operation(Operation::new("add").describe("Add two integers").handler(add))
//!     .build()?;
//! let gate = Stack::new(registry)
//!     .identity("calculator", "1.0.0")
//!     .mode(Mode::Plain)
//!     .build()?;
//!
//! // What a server does with the gate is one of
//! //     axum::Router::new().route_service("/mcp", gate.http())
//! //     portcullis::serve(listener, gate.http().at("/mcp")).await?
//! //     gate.stdio().run().await?
//! // and what a test does is
//! let client = Client::modern(&gate);
//! let answer = client.call_tool("add", r#"{"a":19,"b":23}"#).await;
//! assert_eq!(answer.structured(), Some(r#"{"sum":42}"#));
//! let answer = client.call_tool("add", r#"{"a":19}"#).await;
//! assert!(answer.is_error());
//! # Ok::<(), portcullis::ConfigError>(())
//! # }).unwrap();
//! ```
//!
//! # The picture
//!
//! ```text
//!  serve, axum, any hyper stack                         stdio   testing::Client
//!    │                                                    │            │
//!    ▼  HTTP plane: http::Request to http::Response       │            │
//!  rescue             what fails below becomes a response │            │
//!  [layer_http]       yours                               │            │
//!  origin             Host and Origin                     │            │
//!  ingress            media types, bounds; reads the body │            │
//!  streamable_http    one JSON answer, or an event stream │            │
//!    │                                                    │            │
//!    ▼  frame plane: Inbound to Outbound   ◄──────────────┴────────────┘
//!  erase              one stack, shared by all transports
//!  [layer_frame]      yours
//!  duplicate_keys     no name twice in one object
//!  envelope           decodes on the way in, encodes on the way out
//!    │
//!    ▼  message plane: Envelope to Reply
//!  rescue             what fails below becomes a reply
//!  catch_panic        a panic ends one call, not the others
//!  trace              a span for each call
//!  load_shed, concurrency_limit     tower's own
//!  [layer]            yours: sees calls as clients make them
//!  preflight          an answer that is too large becomes one that is not
//!  apps               the Apps shell, if one is mounted
//!  mode               how operations are shown as tools
//!  [operation_layer]  yours: sees operations, whatever they are shown as
//!  catch_panic        once more, directly over the handlers
//!  McpService         the core, over a Registry
//! ```
//!
//! A layer on the HTTP plane governs an exchange up to the head of the response; one on the message
//! plane the whole call, its stream included. So limits and timeouts for calls belong on the message
//! plane. [`Gate::describe`] prints the picture of a stack as it was built, and the [guide] shows how
//! to write a layer for each place.
//!
//! The modules are the floors of the house, and each imports only from those below: [`wire`] is what
//! is said, [`service`] what it means, [`layers`] what stands around it, [`transport`] what owns
//! sockets and pipes. [`testing`] has a client that needs neither.
//!
//! # Versions of the protocol
//!
//! One pipeline serves the stateless protocol of 2026-07-28, where each request says what its client
//! can, and the four older versions, which open with a handshake. Nothing has to be configured. Over
//! HTTP the older versions are served without sessions.
//!
//! # Bounds
//!
//! Everything a client could make grow has a bound with a name, a default and an answer beyond it:
//! [`Limits`], and one table in `docs/limits.md`.
//!
//! # Cargo features
//!
//! None changes what the others do.
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `http` | yes | the layers over `http::Request`, and [`serve`] on hyper |
//! | `stdio` | yes | the [stdio](transport::Stdio) driver |
//! | `schemars` | yes | [`Args`](service::handler::Args) and [`Structured`](service::handler::Structured), whose schemas are derived |
//! | `arbitrary-precision` | no | schemas may divide by numbers of more than 19 digits (`multipleOf`); it switches on `serde_json/arbitrary_precision` for the whole build |
//! | `full` | no | `http`, `stdio` and `schemars` |
//!
//! # Tenets
//!
//! Correct, then small, then fast, then flexible; where two of them disagree, the earlier one wins.
#![cfg_attr(
    not(all(feature = "http", feature = "stdio")),
    allow(
        dead_code,
        unused_imports,
        reason = "each transport uses a part of what they share"
    )
)]
#![warn(clippy::print_stdout, clippy::exit, clippy::unwrap_used)]

#[cfg(all(any(test, fuzzing), feature = "http", feature = "stdio"))]
pub mod fuzzing;
pub mod guide;
pub mod layers;
pub mod service;
mod stack;
pub mod testing;
pub mod transport;
pub mod wire;

pub use self::layers::Mode;
pub use self::service::{
    ConfigError, Limits, Operation, Prompt, Registry, Resource, ResourceTemplate,
};
pub use self::stack::{FrameCore, Gate, MessageCore, OperationCore, Stack};
#[cfg(feature = "http")]
pub use self::transport::{Http, serve};

/// The README's code, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
