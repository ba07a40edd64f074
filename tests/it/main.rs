//! The integration tests: the standard stack behind every transport, driven from outside.
#![expect(clippy::disallowed_methods, reason = "tests own what they spawn")]

mod exact;
mod examples;
mod http;
mod library;
mod malformed;
mod memory;
mod modes;
mod output;
mod panics;
mod serve;
mod six_layers;
mod stdio;
mod support;
mod tower_contract;
mod tower_planes;
mod transcripts;
