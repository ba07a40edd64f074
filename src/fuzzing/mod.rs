//! What holds whatever bytes arrive: one property for each place where bytes of others arrive.
//!
//! A property takes any bytes and panics if it does not hold. It is written once and run twice: by
//! the fuzz targets in `tests/fuzz`, and by `cargo test` on the corpus beside them and on inputs that
//! proptest makes. Nothing of this is in a build of the crate.
#![allow(
    clippy::missing_panics_doc,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a property that does not hold panics"
)]

mod cursors;
mod events;
mod frame;
mod gate;
mod headers;
mod post;
mod sse;
mod stdio;
mod templates;
mod tokens;
mod typed;

pub use self::cursors::cursors;
pub use self::frame::frame;
pub use self::headers::headers;
pub use self::post::post;
pub use self::sse::sse;
pub use self::stdio::stdio;
pub use self::templates::templates;
pub use self::typed::typed;

/// Two parts of an input, the first up to a line break.
fn halves(data: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'\n', data) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, &[]),
    }
}

#[cfg(test)]
mod tests;
