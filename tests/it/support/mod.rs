//! What the integration tests share: a client written by hand for every way to reach a server, and a
//! small registry with watchers.

pub(crate) mod client;
pub(crate) mod example;
pub(crate) mod http1;
pub(crate) mod http2;
pub(crate) mod layers;
pub(crate) mod message;
pub(crate) mod probe;
pub(crate) mod registry;
pub(crate) mod server;
pub(crate) mod stdio;

use std::time::Duration;

pub(crate) use self::client::{Answer, Client, HttpPlane, Way, each_transport, over};
pub(crate) use self::message::LEGACY;
pub(crate) use self::probe::Probe;
pub(crate) use self::registry::{fixture, gate};
pub(crate) use self::server::Server;

/// Waits for something that takes no time worth mentioning, and fails if it never comes.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(WATCHDOG, future).await;
    waited.unwrap_or_else(|_| panic!("never came: {what}"))
}

/// Far longer than anything here takes on a machine that is busy with other things.
const WATCHDOG: Duration = Duration::from_secs(20);
