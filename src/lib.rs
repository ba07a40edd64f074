//! wip
#![warn(clippy::print_stdout, clippy::exit, clippy::unwrap_used)]

pub mod layers;
pub mod service;
mod stack;
pub mod testing;
pub mod transport;
pub mod wire;

pub use self::service::{ConfigError, Limits, Operation, Prompt, Registry, Resource, ResourceTemplate};
pub use self::stack::{Gate, Stack, FrameCore, MessageCore, OperationCore};
#[cfg(feature = "http")]
pub use self::transport::{Http, serve};
