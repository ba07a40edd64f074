//! Who is calling and how to answer: the types every layer meets.
//!
//! A transport makes an [`Inbound`] of each message. Decoded, it is an [`Envelope`], which carries
//! the caller ([`Principal`], [`Session`], [`Peer`]) down to the core. The core's [`Reply`] travels
//! back up and becomes an [`Outbound`].

mod envelope;
mod extensions;
mod failure;
mod inbound;
mod link;
mod members;
mod output;
mod page;
mod payload;
mod peer;
mod principal;
mod reply;
mod session;

pub use self::envelope::Envelope;
pub(crate) use self::envelope::{Details, Target};
pub use self::extensions::Extensions;
pub use self::failure::Failure;
pub use self::inbound::{Declared, Field, Hints, Inbound, Outbound};
pub use self::link::{CallLink, Cancellation, Outlet, Unreachable};
pub(crate) use self::link::{CancelOnDrop, Messages, Told};
pub use self::output::{Output, Shape};
pub(crate) use self::page::OperationPage;
pub use self::payload::Payload;
pub(crate) use self::peer::notification;
pub use self::peer::{NotSent, Peer};
pub use self::principal::Principal;
pub use self::reply::{CacheHint, CacheScope, Reply};
pub(crate) use self::reply::{Invoked, Outcome, ResultBody};
pub use self::session::{Negotiated, Session};
