//! The matrix of malformed messages: one table, run over every transport and in both eras.
//!
//! Each line changes one thing about a proper call of a tool that counts how often it runs. It says
//! what the answer is: status, code and whether there is an id. After each line a healthy call is
//! served on the same connection, and the tool has run exactly as often as the table says.

mod bytes;
mod engine;
mod envelopes;
mod errors;
mod headers;
mod ids;
mod names;
mod sizes;
mod truncated;

use self::engine::matrix;

/// A proper call. What an era wants in `_meta` stands where [`META`] is.
const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{<META>},"name":"tally_bump","arguments":{}}}"#;
/// The place of what a modern request says of itself.
const META: &str = "<META>";

/// One line of the table.
#[derive(Clone, Debug)]
struct Line {
    name: String,
    message: Vec<u8>,
    /// Header lines besides those of a proper request, or instead of them; none takes one away.
    head: Vec<(&'static str, Option<String>)>,
    answer: Answer,
    /// Where nobody can be told, nobody is.
    silent_on_stdio: bool,
    /// Where the legacy era has another status.
    legacy_status: Option<u16>,
    only: Option<Era>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Modern,
    Legacy,
}

/// What comes back.
#[derive(Clone, Debug)]
enum Answer {
    /// An error with the id of the request, if it could be read.
    Refused {
        status: u16,
        code: i64,
        id: Option<String>,
    },
    /// The result of a request; the tool runs if it is the one that counts.
    Served { id: String, runs: bool },
    /// Nothing but a status.
    Taken,
}

/// A message; `<META>` in it is filled in.
fn message(name: impl Into<String>, message: impl Into<Vec<u8>>) -> Line {
    Line {
        name: name.into(),
        message: message.into(),
        head: Vec::new(),
        answer: Answer::Taken,
        silent_on_stdio: false,
        legacy_status: None,
        only: None,
    }
}

/// The proper call with one thing changed.
fn changed(from: &str, to: &str) -> Line {
    changed_to_bytes(from, to.as_bytes())
}

/// The proper call with one thing changed to something that need not be text.
fn changed_to_bytes(from: &str, to: &[u8]) -> Line {
    let (before, after) = CALL.split_once(from).expect("a part of the call");
    assert!(!after.contains(from), "{from} stands there twice");
    let shown: String = to.escape_ascii().take(100).map(char::from).collect();
    let text = [before.as_bytes(), to, after.as_bytes()].concat();
    message(format!("{from} becomes {shown}"), text)
}

/// The proper call with these arguments.
fn arguments(json: &str) -> Line {
    changed(r#""arguments":{}"#, &format!(r#""arguments":{json}"#))
}

impl Line {
    /// No request: no id could be read.
    fn invalid(self) -> Self {
        self.refused(400, -32600, None)
    }

    /// No request, but its id could be read.
    fn invalid_with_id(self) -> Self {
        self.refused(400, -32600, Some("7"))
    }

    /// No JSON.
    fn unparsable(self) -> Self {
        self.refused(400, -32700, None)
    }

    fn refused(mut self, status: u16, code: i64, id: Option<&str>) -> Self {
        let id = id.map(str::to_owned);
        self.answer = Answer::Refused { status, code, id };
        self
    }

    /// A call that counts.
    fn runs(self, id: &str) -> Self {
        self.served(id, true)
    }

    /// A request of another kind.
    fn served(mut self, id: &str, runs: bool) -> Self {
        let id = id.to_owned();
        self.answer = Answer::Served { id, runs };
        self
    }

    fn silent_on_stdio(mut self) -> Self {
        self.silent_on_stdio = true;
        self
    }

    fn legacy_status(mut self, status: u16) -> Self {
        self.legacy_status = Some(status);
        self
    }

    fn modern_only(mut self) -> Self {
        self.only = Some(Era::Modern);
        self
    }

    fn legacy_only(mut self) -> Self {
        self.only = Some(Era::Legacy);
        self
    }

    /// Another value of a header.
    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.head.push((name, Some(value.into())));
        self
    }

    /// A header left out.
    fn without(mut self, name: &'static str) -> Self {
        self.head.push((name, None));
        self
    }

    fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}
