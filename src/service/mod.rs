//! What it means: the core, the registry and everything calls are made of. No HTTP, no sockets.

mod apps;
mod catalog;
mod config;
pub mod context;
pub mod dispatch;
pub mod handler;
mod limits;
mod operation;
mod pager;
mod param_headers;
mod plane;
mod prompts;
mod refusal;
mod registry;
mod resources;
mod schema;
mod search;
mod secret;

pub use apps::Apps;
#[cfg(any(test, fuzzing))]
pub(crate) use catalog::Named;
pub use config::ConfigError;
pub use context::*;
pub use dispatch::McpService;
pub use handler::CallContext;
pub use limits::{LimitRow, Limits};
pub(crate) use limits::{RESERVE, count, millis};
pub use operation::{Operation, OperationError, OperationFuture, OperationService};
#[cfg(any(test, fuzzing))]
pub(crate) use pager::{Pager, Scope};
#[cfg(any(test, fuzzing))]
pub(crate) use param_headers::ParamHeaders;
pub use plane::{FrameService, MessageService};
pub use prompts::Prompt;
pub use refusal::Refused;
pub(crate) use refusal::classify;
pub use registry::{Registry, RegistryBuilder};
#[cfg(any(test, fuzzing))]
pub(crate) use resources::Template;
pub use resources::{Resource, ResourceTemplate};
pub(crate) use schema::Schema;
pub use secret::Secret;
