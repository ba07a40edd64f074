//! The encoded members of a result, and what comes around them.

use bytes::{Buf as _, Bytes};

use super::payload::Payload;

/// Members of an object without its braces: `"a":1,"b":2`.
#[derive(Debug)]
pub(crate) enum Members {
    /// Kept elsewhere as well.
    Shared(Bytes),
    /// Written for this one reply, behind [`HEADROOM`] bytes that mean nothing yet. What comes
    /// before the members is put there, so they need not move.
    Own(Vec<u8>),
}

impl Members {
    /// Has `write` append the members, which may take so many bytes.
    pub(crate) fn write(room: usize, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut buffer = Vec::with_capacity(HEADROOM + room);
        buffer.resize(HEADROOM, b' ');
        write(&mut buffer);
        Self::Own(buffer)
    }

    /// The members alone.
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Own(buffer) => &buffer[HEADROOM..],
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.as_slice().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members between `head` and what `tail` appends, which takes so many bytes. They are
    /// copied only if they are short or stand in a buffer of their own.
    pub(crate) fn between(
        self,
        head: &[&[u8]],
        tail_room: usize,
        tail: impl FnOnce(&mut Vec<u8>),
    ) -> Payload {
        let head_length = head.iter().map(|piece| piece.len()).sum();
        match self {
            Self::Own(buffer) if head_length <= HEADROOM => {
                in_place(buffer, head, head_length, tail_room, tail)
            }
            members => {
                let inline = members.len() <= INLINE;
                let members = members.into_bytes();
                let room = if inline { members.len() + tail_room } else { 0 };
                let mut out = Vec::with_capacity(head_length + room);
                for piece in head {
                    out.extend_from_slice(piece);
                }
                if inline {
                    out.extend_from_slice(&members);
                    tail(&mut out);
                    return out.into();
                }
                let mut behind = Vec::with_capacity(tail_room);
                tail(&mut behind);
                let mut payload = Payload::from(out);
                payload.push(members);
                payload.push(behind.into());
                payload
            }
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Own(buffer) => Bytes::from(buffer).slice(HEADROOM..),
        }
    }
}

/// Puts the head right before the members, and the tail behind them.
fn in_place(
    mut buffer: Vec<u8>,
    head: &[&[u8]],
    head_length: usize,
    tail_room: usize,
    tail: impl FnOnce(&mut Vec<u8>),
) -> Payload {
    let start = HEADROOM - head_length;
    let mut at = start;
    for piece in head {
        buffer[at..at + piece.len()].copy_from_slice(piece);
        at += piece.len();
    }
    buffer.reserve_exact(tail_room);
    tail(&mut buffer);
    let mut bytes = Bytes::from(buffer);
    bytes.advance(start);
    bytes.into()
}

impl From<Bytes> for Members {
    fn from(bytes: Bytes) -> Self {
        Self::Shared(bytes)
    }
}

impl From<Vec<u8>> for Members {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}

impl From<&'static str> for Members {
    fn from(text: &'static str) -> Self {
        Self::Shared(Bytes::from_static(text.as_bytes()))
    }
}

/// Room for what comes before the members of nearly every reply, in bytes.
const HEADROOM: usize = 112;
/// Members up to this length are copied behind their head, in bytes.
const INLINE: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_come_around_members_of_every_kind() {
        let own = |length| Members::write(length / 2, |out| out.extend(vec![b'm'; length]));
        let shared = |length| Members::from(vec![b'm'; length]);
        for make in [&own as &dyn Fn(usize) -> Members, &shared] {
            for length in [0, 1, INLINE, INLINE + 1] {
                for head in [0, 1, HEADROOM, HEADROOM + 1] {
                    let members = make(length);
                    assert_eq!((members.len(), members.is_empty()), (length, length == 0));
                    let (one, other) = (vec![b'h'; head / 2], vec![b'h'; head - head / 2]);
                    let payload = members.between(&[&one, &other], 2, |out| out.extend(b"tt"));
                    let expected = [vec![b'h'; head], vec![b'm'; length], b"tt".to_vec()].concat();
                    assert_eq!(payload.into_bytes(), expected, "{head} and {length}");
                }
            }
        }
    }

    #[test]
    fn long_members_are_not_copied() {
        let members = Members::write(INLINE * 2, |out| out.resize(INLINE * 2, b'm'));
        let before = members.as_slice().as_ptr();
        let payload = members.between(&[b"h"], 0, |_| ());
        assert_eq!(payload.into_bytes()[1..].as_ptr(), before);
        let shared = Bytes::from(vec![b'm'; INLINE * 2]);
        let payload = Members::from(shared.clone()).between(&[b"h"], 1, |out| out.push(b't'));
        assert!(
            payload
                .pieces()
                .any(|piece| piece.as_ptr() == shared.as_ptr())
        );
    }
}
