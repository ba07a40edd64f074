//! What is said: the shapes of JSON, JSON-RPC and MCP. Pure data, parsing and encoding.
//!
//! ```
//! use portcullis::wire::{Frame, FrameKind};
//!
//! let text = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
//! let frame = Frame::parse(text.into(), 128)?;
//! assert_eq!(frame.kind(), FrameKind::Request);
//! assert_eq!(frame.id().unwrap().text(), r#""a""#);
//! # Ok::<(), portcullis::wire::json::SyntaxError>(())
//! ```

mod budget;
mod capability;
mod content;
mod definition;
mod error;
mod frame;
pub(crate) mod header_value;
mod icon;
mod id;
pub mod json;
mod method;
mod prompt;
mod version;

pub(crate) use self::budget::{Budget, Exhausted, Reserved};
pub use self::capability::{Capability, ClientCapabilities, ClientCapability};
pub use self::content::{Annotations, Content, ResourceContents, ResourceLink, Role};
pub use self::definition::{
    PromptArgument, PromptDefinition, ResourceDefinition, ToolDefinition, ToolHints,
};
pub use self::error::{Error, Refusal};
pub use self::frame::{Call, Frame, FrameKind, Message};
pub use self::icon::{Icon, Implementation, Theme};
pub use self::id::{InvalidId, RequestId};
pub use self::method::Method;
pub use self::prompt::PromptMessage;
pub use self::version::{Era, Features, ProtocolVersion, StructuredContent, Versions};
