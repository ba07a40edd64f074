//! Writing JSON objects and arrays piece by piece, without a tree and without formatting.

use super::push_str;

/// Writes one object. Member names are the caller's constants and need no escapes.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    started: bool,
    braces: bool,
}

impl<'a> ObjectWriter<'a> {
    /// Begins an object.
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self {
            out,
            started: false,
            braces: true,
        }
    }

    /// Writes the first members of an object whose braces others write.
    pub(crate) fn members(out: &'a mut Vec<u8>) -> Self {
        Self::members_after(out, false)
    }

    /// Writes members for an object whose braces others write, and maybe members before these.
    pub(crate) fn members_after(out: &'a mut Vec<u8>, started: bool) -> Self {
        Self {
            out,
            started,
            braces: false,
        }
    }

    /// The place for the value of the member `name`.
    pub(crate) fn value(&mut self, name: &str) -> &mut Vec<u8> {
        if self.started {
            self.out.push(b',');
        }
        self.started = true;
        self.out.reserve(name.len() + 4);
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(crate) fn string(&mut self, name: &str, value: &str) -> &mut Self {
        push_str(self.value(name), value);
        self
    }

    /// A value that is JSON already.
    pub(crate) fn raw(&mut self, name: &str, json: &str) -> &mut Self {
        self.value(name).extend_from_slice(json.as_bytes());
        self
    }

    pub(crate) fn boolean(&mut self, name: &str, value: bool) -> &mut Self {
        self.raw(name, if value { "true" } else { "false" })
    }

    pub(crate) fn number(&mut self, name: &str, value: impl Into<i128>) -> &mut Self {
        let value: i128 = value.into();
        self.raw(name, &value.to_string())
    }

    pub(crate) fn object(
        &mut self,
        name: &str,
        members: impl FnOnce(&mut ObjectWriter<'_>),
    ) -> &mut Self {
        let mut inner = ObjectWriter::new(self.value(name));
        members(&mut inner);
        inner.end();
        self
    }

    pub(crate) fn array<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        push: impl FnMut(&mut Vec<u8>, T),
    ) -> &mut Self {
        push_array(self.value(name), items, push);
        self
    }

    /// Members written elsewhere, without braces; nothing if there are none.
    pub(crate) fn fragment(&mut self, members: &[u8]) -> &mut Self {
        if !members.is_empty() {
            if self.started {
                self.out.push(b',');
            }
            self.started = true;
            self.out.extend_from_slice(members);
        }
        self
    }

    pub(crate) fn optional_string(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.string(name, value);
        }
        self
    }

    pub(crate) fn optional_raw(&mut self, name: &str, json: Option<&str>) -> &mut Self {
        if let Some(json) = json {
            self.raw(name, json);
        }
        self
    }

    pub(crate) fn optional_boolean(&mut self, name: &str, value: Option<bool>) -> &mut Self {
        if let Some(value) = value {
            self.boolean(name, value);
        }
        self
    }

    /// Ends the object.
    pub(crate) fn end(&mut self) {
        if self.braces {
            self.out.push(b'}');
        }
    }
}

/// Appends an array whose elements `push` writes.
pub(crate) fn push_array<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push(out, item);
    }
    out.push(b']');
}
