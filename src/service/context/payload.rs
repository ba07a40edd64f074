//! Encoded bytes on their way out, in pieces that need not be copied together.

use bytes::Bytes;

/// A message in one or several pieces. Pieces that are cached elsewhere are shared, not copied.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    first: Bytes,
    rest: Vec<Bytes>,
}

impl Payload {
    /// Appends a piece.
    pub(crate) fn push(&mut self, piece: Bytes) {
        if self.first.is_empty() {
            self.first = piece;
        } else if !piece.is_empty() {
            self.rest.push(piece);
        }
    }

    /// The length of all pieces together.
    pub fn len(&self) -> usize {
        self.pieces().map(Bytes::len).sum()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The pieces in their order.
    pub fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// Takes the first piece that is left.
    pub(crate) fn take_piece(&mut self) -> Option<Bytes> {
        if self.first.is_empty() {
            return None;
        }
        let next = if self.rest.is_empty() {
            Bytes::new()
        } else {
            self.rest.remove(0)
        };
        Some(std::mem::replace(&mut self.first, next))
    }

    /// All pieces as one: a copy, unless there is one anyway.
    pub fn into_bytes(self) -> Bytes {
        if self.rest.is_empty() {
            return self.first;
        }
        let mut out = Vec::with_capacity(self.len());
        self.pieces().for_each(|piece| out.extend_from_slice(piece));
        out.into()
    }

    /// The same message on one line. In a JSON text line breaks stand between tokens only, so a
    /// space does as well; most messages have none and stay as they are.
    pub(crate) fn on_one_line(self) -> Self {
        let broken = |piece: &Bytes| memchr::memchr2(b'\n', b'\r', piece).is_some();
        if !self.pieces().any(broken) {
            return self;
        }
        let mut out = Self::default();
        for piece in self.pieces() {
            let spaced = piece
                .iter()
                .map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b });
            out.push(spaced.collect());
        }
        out
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self {
            first: bytes,
            rest: Vec::new(),
        }
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_their_order() {
        let mut payload = Payload::from(b"a".to_vec());
        payload.push(Bytes::from_static(b""));
        payload.push(Bytes::from_static(b"b"));
        payload.push(Bytes::from_static(b"c"));
        assert_eq!(payload.len(), 3);
        assert_eq!(payload.clone().into_bytes(), "abc");
        let taken: Vec<_> = std::iter::from_fn(|| payload.take_piece()).collect();
        assert_eq!(taken, ["a", "b", "c"]);
        assert!(payload.is_empty());
    }

    /// Contract: P-90.
    #[test]
    fn line_breaks_become_spaces() {
        let mut payload = Payload::from(b"{\r\n".to_vec());
        payload.push(Bytes::from_static(b"\"a\\n\":1\n}"));
        assert_eq!(payload.on_one_line().into_bytes(), "{  \"a\\n\":1 }");
    }
}
