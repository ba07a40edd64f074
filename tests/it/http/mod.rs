//! What HTTP adds to messages: heads, bodies, hosts, origins, statuses and streams, over real sockets.

mod bounds;
mod eras;
mod hosts;
mod negotiation;
mod notifications;
mod streams;
