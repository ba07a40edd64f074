//! Whether the headers beside a modern request say what the request says.

use std::borrow::Cow;

use crate::service::{Declared, Field};
use crate::wire::header_value;
use crate::wire::{Call, Error, Method};

/// Names the version of the request.
pub(super) const VERSION: Header = Header {
    shown: "MCP-Protocol-Version",
    field: "mcp-protocol-version",
};

const METHOD: Header = Header {
    shown: "Mcp-Method",
    field: "mcp-method",
};

const NAME: Header = Header {
    shown: "Mcp-Name",
    field: "mcp-name",
};

/// A header, as the protocol writes it and as it is looked up.
#[derive(Clone, Copy)]
pub(super) struct Header {
    shown: &'static str,
    field: &'static str,
}

/// Compares the headers every request repeats itself in. Its version is `version`.
pub(super) fn verify(declared: &dyn Declared, call: &Call, version: &str) -> Result<(), Error> {
    VERSION.must_be(version, declared, plain)?;
    METHOD.must_be(call.method.name(), declared, plain)?;
    let Some(member) = named_by(&call.method) else {
        return Ok(());
    };
    let name = call
        .params
        .as_ref()
        .and_then(|params| params.node().get(member)?.as_str());
    match name {
        Some(name) => NAME.must_be(&name, declared, header_value::decode),
        None => NAME.must_be_absent(declared),
    }
}

/// The parameter that `Mcp-Name` repeats.
fn named_by(method: &Method) -> Option<&'static str> {
    match *method {
        Method::TOOLS_CALL | Method::PROMPTS_GET => Some("name"),
        Method::RESOURCES_READ => Some("uri"),
        _ => None,
    }
}

type Decode = fn(&[u8]) -> Result<Cow<'_, str>, &'static str>;

fn plain(value: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    header_value::plain(value).map(Cow::Borrowed)
}

impl Header {
    pub(super) fn read<'a>(&self, declared: &'a dyn Declared) -> Result<Option<&'a str>, Error> {
        match declared.field(self.field) {
            Field::Absent => Ok(None),
            Field::Several => Err(self.mismatch("stands more than once")),
            Field::One(value) => header_value::plain(value)
                .map(Some)
                .map_err(|problem| self.mismatch(problem)),
        }
    }

    fn must_be(
        &self,
        expected: &str,
        declared: &dyn Declared,
        decode: Decode,
    ) -> Result<(), Error> {
        let problem = match declared.field(self.field) {
            Field::Absent => "is missing",
            Field::Several => "stands more than once",
            // Nothing that needs to be decoded equals what it says.
            Field::One(value) if value == expected.as_bytes() && !value.starts_with(b"=?") => {
                return Ok(());
            }
            Field::One(value) => match decode(value) {
                Ok(value) if value == expected => return Ok(()),
                Ok(_) => "differs from the message",
                Err(problem) => problem,
            },
        };
        Err(self.mismatch(problem))
    }

    fn must_be_absent(&self, declared: &dyn Declared) -> Result<(), Error> {
        match declared.field(self.field) {
            Field::Absent => Ok(()),
            _ => Err(self.mismatch("names something the message does not")),
        }
    }

    fn mismatch(&self, problem: &str) -> Error {
        Error::header_mismatch(format_args!("{} {problem}", self.shown))
    }
}
