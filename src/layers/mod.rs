//! Everything around the core: one layer for each concern.

pub mod apps;
#[cfg(feature = "http")]
mod body;
pub mod catch_panic;
#[cfg(test)]
mod contract;
pub mod duplicate_keys;
pub mod envelope;
pub mod erase;
pub mod from_fn;
#[cfg(feature = "http")]
mod http_reply;
#[cfg(feature = "http")]
pub mod ingress;
mod macros;
pub mod mode;
#[cfg(feature = "http")]
pub mod origin;
pub mod preflight;
pub mod rescue;
#[cfg(feature = "http")]
pub mod streamable_http;
pub mod trace;
pub mod wait;

pub use self::apps::AppsLayer;
#[cfg(feature = "http")]
pub use self::body::Body;
pub use self::catch_panic::CatchPanicLayer;
pub use self::duplicate_keys::DuplicateKeysLayer;
pub use self::envelope::EnvelopeLayer;
pub use self::erase::{EraseLayer, Erased};
pub use self::from_fn::{FromFnLayer, Next, from_fn};
#[cfg(feature = "http")]
pub use self::ingress::{IngressLayer, Posted};
pub use self::mode::{Compact, Mode, ModeLayer};
#[cfg(feature = "http")]
pub use self::origin::OriginLayer;
pub use self::preflight::PreflightLayer;
pub use self::rescue::RescueLayer;
#[cfg(feature = "http")]
pub use self::streamable_http::StreamableHttpLayer;
pub use self::trace::TraceLayer;
pub use self::wait::WaitLayer;
