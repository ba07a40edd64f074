//! Every bound that can be set, with its default, its ceiling and the answer beyond it.

use std::time::Duration;

use super::config::ConfigError;
use crate::wire::Budget;
use crate::wire::json::scan_bytes;

/// One row of the table of bounds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LimitRow {
    /// The name of the setting.
    pub name: &'static str,
    /// What it bounds.
    pub bounds: &'static str,
    /// The default, in the unit the name ends with.
    pub default: u64,
    /// What it can be raised to.
    pub ceiling: u64,
    /// What happens beyond it.
    pub answer: &'static str,
}

macro_rules! limits {
    ($(#[doc = $doc:literal] $name:ident = $default:expr, up to $ceiling:expr, $answer:literal;)*) => {
        /// Bounds on everything that could grow. The defaults are meant to be kept.
        ///
        /// ```
        /// use portcullis::service::Limits;
        ///
        /// let limits = Limits::default().message_bytes(64 * 1024);
        /// assert!(limits.check().is_ok());
        /// assert!(limits.message_bytes(0).check().is_err());
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[must_use]
        pub struct Limits { $(pub(crate) $name: u64,)* }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Limits {
            /// All bounds, for documentation.
            pub const ROWS: &'static [LimitRow] = &[$(LimitRow {
                name: stringify!($name),
                bounds: $doc,
                default: $default,
                ceiling: $ceiling,
                answer: $answer,
            },)*];

            $(
                #[doc = $doc]
                #[doc = concat!(" Beyond it: ", $answer, ".")]
                pub fn $name(mut self, most: u64) -> Self {
                    self.$name = most;
                    self
                }
            )*

            /// Whether every bound can be as it was set.
            ///
            /// # Errors
            ///
            /// The first bound that is zero or above its ceiling.
            pub fn check(&self) -> Result<(), ConfigError> {
                $(
                    if self.$name == 0 || self.$name > $ceiling {
                        return Err(ConfigError::new(
                            stringify!($name),
                            format!("must be between 1 and {}", $ceiling),
                        ));
                    }
                )*
                Ok(())
            }
        }
    };
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;

limits! {
    /// One message on its way in, in bytes.
    message_bytes = 2 * MIB, up to 64 * MIB, "HTTP 413 and -32600 without an id; on stdio the same error, and the line is skipped";
    /// All messages being read or held, with the index of their values, in bytes: never less than one needs.
    ingress_bytes = 256 * MIB, up to 64 * 1024 * MIB, "HTTP 503 and -32603 `overloaded`; a stdio line waits, as long as a body may take, and is then skipped with the same error";
    /// Containers around a value.
    nesting = 128, up to 1024, "-32700";
    /// The protocol's own headers together, names and values, in bytes.
    protocol_header_bytes = 8 * KIB, up to 64 * KIB, "HTTP 431";
    /// Reading the body of one request, in milliseconds.
    body_read_ms = 30 * SECOND, up to 10 * MINUTE, "HTTP 408";
    /// Waiting for a request until its head is read, in milliseconds.
    header_read_ms = 10 * SECOND, up to 10 * MINUTE, "the connection is closed, half of that late at most";
    /// A client that takes nothing we write, in milliseconds.
    write_stall_ms = 30 * SECOND, up to 10 * MINUTE, "the connection is closed, half of that late at most; a call whose stream alone is not read sends no more";
    /// An HTTP/2 connection without a request under way, in milliseconds.
    idle_ms = MINUTE, up to 60 * MINUTE, "the connection is closed, half of that late at most; with HTTP/1.1 after `header_read_ms`";
    /// Connections at once.
    connections = 4096, up to 1_000_000, "further ones are accepted when one ends";
    /// Streams of one HTTP/2 connection.
    http2_streams = 64, up to 10_000, "the stream is refused";
    /// One response: encoded JSON-RPC, in bytes.
    response_bytes = 16 * MIB, up to 256 * MIB, "`tools/call`: the failure `result_too_large`; else -32603 `response_too_large`";
    /// Calls under way in the whole server.
    calls = 1024, up to 1_000_000, "HTTP 503 and -32603 `overloaded`";
    /// Calls under way on one stdio connection.
    connection_calls = 64, up to 100_000, "they are parked";
    /// Calls of one stdio connection that wait for others to end.
    parked_calls = 64, up to 100_000, "-32603 `overloaded`";
    /// Text of the calls that wait, in bytes.
    parked_bytes = 16 * MIB, up to 1024 * MIB, "-32603 `overloaded`";
    /// Calls of a stdio connection whose client has closed its side, in milliseconds.
    eof_drain_ms = 5 * SECOND, up to 60 * MINUTE, "they are cancelled";
    /// Silence on an open stream before a comment keeps it alive, in milliseconds.
    keep_alive_ms = 20 * SECOND, up to 60 * MINUTE, "a comment is sent";
    /// Ending calls and connections at shutdown, in milliseconds.
    drain_ms = 30 * SECOND, up to 60 * MINUTE, "what is left is dropped";
}

/// Room in a response for what is written around a result (id, identity, framing), in bytes.
pub(crate) const RESERVE: usize = 8 * 1024;

impl Limits {
    pub(crate) fn message(&self) -> usize {
        count(self.message_bytes)
    }

    /// What all messages share: at least what one of them takes up while it is scanned, with a part of
    /// the next one behind it.
    pub(crate) fn budget(&self) -> Budget {
        let one = scan_bytes(self.message()) + 2 * self.message() + count(MIB);
        Budget::new(count(self.ingress_bytes).max(one))
    }

    pub(crate) fn depth(&self) -> u32 {
        u32::try_from(self.nesting).unwrap_or(u32::MAX)
    }
}

/// A number of things.
pub(crate) fn count(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// A number of milliseconds.
pub(crate) fn millis(limit: u64) -> Duration {
    Duration::from_millis(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_below_their_ceilings() {
        assert_eq!(Limits::default().check(), Ok(()));
        for row in Limits::ROWS {
            assert!(row.default <= row.ceiling, "{}", row.name);
        }
    }

    #[test]
    fn ceilings_hold_on_both_sides() {
        let ceiling = 64 * MIB;
        assert!(Limits::default().message_bytes(ceiling).check().is_ok());
        let error = Limits::default()
            .message_bytes(ceiling + 1)
            .check()
            .unwrap_err();
        assert_eq!(error.setting(), "message_bytes");
    }
}
