//! What owns sockets and pipes: drivers that turn a stack into something clients can reach.

#[cfg(feature = "http")]
mod http;
#[cfg(feature = "stdio")]
mod lines;
#[cfg(feature = "http")]
mod serve;
#[cfg(feature = "stdio")]
mod stall;
#[cfg(feature = "stdio")]
mod stdio;
#[cfg(feature = "http")]
mod watch;

#[cfg(feature = "http")]
pub use self::http::{Http, HttpCore, ResponseFuture};
#[cfg(feature = "http")]
pub use self::serve::{Serve, serve};
#[cfg(feature = "stdio")]
pub use self::stdio::Stdio;
