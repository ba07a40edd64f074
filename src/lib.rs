//! wip
#![warn(clippy::print_stdout, clippy::exit, clippy::unwrap_used)]

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
