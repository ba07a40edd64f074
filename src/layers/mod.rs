//! Everything around the core: one layer for each concern.

mod body;
pub mod catch_panic;
pub mod duplicate_keys;
pub mod envelope;
pub mod erase;
mod http_reply;
pub mod ingress;
mod macros;
pub mod mode;
pub mod origin;
pub mod rescue;
pub mod streamable_http;
pub mod wait;

pub use self::body::Body;
pub use self::catch_panic::CatchPanicLayer;
pub use self::duplicate_keys::DuplicateKeysLayer;
pub use self::envelope::EnvelopeLayer;
pub use self::erase::{EraseLayer, Erased};
pub use self::ingress::{IngressLayer, Posted};
pub use self::mode::{Mode, ModeLayer};
pub use self::origin::OriginLayer;
pub use self::rescue::RescueLayer;
pub use self::streamable_http::StreamableHttpLayer;
pub use self::wait::WaitLayer;
