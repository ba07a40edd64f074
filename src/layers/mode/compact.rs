//! Compact mode: three tools, whatever the server can do.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::service::{
    Apps, CacheHint, Envelope, Failure, Invoked, Outcome, Output, Reply, Shape, Target,
};
use crate::wire::json::{Document, Kind, MAX_DEPTH, ObjectWriter, RawJson};
use crate::wire::{Error, Features, Method, ProtocolVersion, ToolDefinition};

use super::{Asked, Turned, unknown_tool};

/// How compact mode shows operations.
#[derive(Clone, Debug, Default)]
pub struct Compact {
    apps: Option<Apps>,
}

impl Compact {
    /// Three tools and nothing else.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says on `call_tool` that hosts can show results in this shell.
    ///
    /// The shell itself is served by [`AppsLayer`](crate::layers::AppsLayer), which the standard
    /// stack adds.
    #[must_use]
    pub fn apps(mut self, apps: Apps) -> Self {
        self.apps = Some(apps);
        self
    }

    /// The shell, if there is one.
    pub fn shell(&self) -> Option<&Apps> {
        self.apps.as_ref()
    }
}

/// The three tools, encoded once for each version.
#[derive(Debug)]
pub(super) struct CompactTools {
    compact: Compact,
    lists: [OnceLock<Bytes>; ProtocolVersion::ALL.len()],
}

impl CompactTools {
    pub(super) fn new(compact: Compact) -> Self {
        Self {
            compact,
            lists: Default::default(),
        }
    }

    /// The list is the same for every client and every request.
    pub(super) fn list(&self, envelope: &Envelope) -> Reply {
        if envelope
            .param("cursor")
            .is_some_and(|cursor| !cursor.node().is_null())
        {
            return Error::invalid_params("the cursor is not valid").into();
        }
        let features = envelope.features();
        let list = self.lists[features.version() as usize].get_or_init(|| self.encode(features));
        Reply::cacheable(list.clone(), CacheHint::NONE)
    }

    fn encode(&self, features: Features) -> Bytes {
        let mut out = Vec::new();
        let mut object = ObjectWriter::members(&mut out);
        object.array(
            "tools",
            TOOLS,
            |out, (name, description, schema, read_only)| {
                let mut tool = ObjectWriter::new(out);
                tool.string("name", name);
                tool.string("description", description);
                tool.raw("inputSchema", schema);
                if features.tool_annotations() && read_only {
                    tool.raw(
                        "annotations",
                        r#"{"readOnlyHint":true,"openWorldHint":false}"#,
                    );
                }
                if let (CALL, Some(apps), true) = (name, self.compact.shell(), features.titles()) {
                    tool.object("_meta", |meta| {
                        meta.object("ui", |ui| {
                            ui.string("resourceUri", apps.uri());
                            ui.raw("visibility", r#"["model","app"]"#);
                        });
                    });
                }
                tool.end();
            },
        );
        out.into()
    }
}

/// Turns a call of one of the three tools into what the core understands.
pub(super) fn turn(envelope: Envelope) -> Turned {
    let name = envelope.param("name");
    let name = name.as_ref().and_then(|name| name.node().as_str());
    let asked = match name.as_deref() {
        Some(SEARCH) => search(&envelope),
        Some(DETAILS) => details(&envelope),
        Some(CALL) => call(&envelope),
        Some(_) => return Turned::Answered(unknown_tool()),
        None => Err(Error::invalid_params("name must be a string")),
    };
    match asked {
        Ok((method, target)) => Turned::Asked(envelope.retarget(method, target), Asked::Operation),
        Err(error) => Turned::Answered(error.into()),
    }
}

fn search(envelope: &Envelope) -> Result<(Method, Target), Error> {
    let arguments = strict(envelope, &["query", "limit"])?;
    let query = text(&arguments, "query")?;
    let limit = match arguments.get("limit") {
        None => DEFAULT_RESULTS,
        Some(limit) => {
            let limit = limit.decode::<usize>().ok();
            limit
                .filter(|limit| (1..=MOST_RESULTS).contains(limit))
                .ok_or_else(|| {
                    Error::invalid_params(format_args!(
                        "limit must be an integer from 1 to {MOST_RESULTS}"
                    ))
                })?
        }
    };
    Ok((Method::SEARCH, Target::Search { query, limit }))
}

fn details(envelope: &Envelope) -> Result<(Method, Target), Error> {
    let arguments = strict(envelope, &["name"])?;
    let name = text(&arguments, "name")?;
    Ok((Method::INSPECT, Target::Name(name)))
}

fn call(envelope: &Envelope) -> Result<(Method, Target), Error> {
    let arguments = strict(envelope, &["name", "arguments"])?;
    let target = Target::Operation {
        name: text(&arguments, "name")?,
        arguments: arguments.get("arguments"),
        native: false,
    };
    Ok((Method::INVOKE, target))
}

/// The arguments of one of the three tools, which knows exactly these.
fn strict(envelope: &Envelope, known: &[&str]) -> Result<RawJson, Error> {
    let arguments = envelope
        .param("arguments")
        .filter(|arguments| arguments.node().is_object());
    let arguments =
        arguments.ok_or_else(|| Error::invalid_params("arguments must be an object"))?;
    let unknown = arguments
        .node()
        .members()
        .find(|(name, _)| !known.contains(&&**name));
    match unknown {
        Some((name, _)) => {
            let shown: String = name.chars().take(64).collect();
            Err(Error::invalid_params(format_args!(
                "unknown argument {shown:?}"
            )))
        }
        None => Ok(arguments),
    }
}

fn text(arguments: &RawJson, name: &str) -> Result<RawJson, Error> {
    let found = arguments
        .get(name)
        .filter(|value| value.node().kind() == Kind::String);
    found.ok_or_else(|| Error::invalid_params(format_args!("{name} must be a string")))
}

/// Shows what the core answered.
pub(super) fn show(reply: Reply, features: Features) -> Reply {
    let Reply {
        outcome,
        status,
        headers,
    } = reply;
    let outcome = match outcome {
        Outcome::Invoked(invoked) => return Reply::tool(*invoked, Shape::Wrapped, features),
        Outcome::Found(tools) => Ok(structured(|value| push_found(value, &tools))),
        Outcome::Inspected(tool) => Ok(structured(|value| tool.push_details(value))),
        // Absent and hidden operations look the same.
        Outcome::UnknownOperation => Err(Failure::new(
            "unavailable",
            "there is no such operation; search for it",
        )),
        outcome => {
            return Reply {
                outcome,
                status,
                headers,
            };
        }
    };
    let declares_output = false;
    Reply::tool(
        Invoked {
            outcome,
            declares_output,
        },
        Shape::Wrapped,
        features,
    )
}

/// A structured value that `push` writes the members of.
fn structured(push: impl FnOnce(&mut ObjectWriter<'_>)) -> Output {
    let mut out = Vec::new();
    let mut object = ObjectWriter::new(&mut out);
    push(&mut object);
    object.end();
    // Definitions nest deeper here than where they were given.
    match Document::parse(out, 2 * MAX_DEPTH) {
        Ok(document) => Output::new().structured(document.into()),
        Err(_) => unreachable!("the writers write JSON"),
    }
}

fn push_found(value: &mut ObjectWriter<'_>, tools: &[Arc<ToolDefinition>]) {
    value.array("operations", tools, |out, tool| {
        let mut found = ObjectWriter::new(out);
        found.string("name", tool.name());
        found.string("description", tool.description());
        found.end();
    });
}

const SEARCH: &str = "search_tools";
const DETAILS: &str = "get_tool_details";
const CALL: &str = "call_tool";

/// Name, description, input schema, and whether it only reads.
const TOOLS: [(&str, &str, &str, bool); 3] = [
    (
        SEARCH,
        "Search the operations of this server by what they do. Returns names and descriptions.",
        r#"{"type":"object","properties":{"query":{"type":"string","description":"What you want to do, in a few words"},"limit":{"type":"integer","minimum":1,"maximum":20,"default":5}},"required":["query"],"additionalProperties":false}"#,
        true,
    ),
    (
        DETAILS,
        "Get the input schema and all details of one operation by its name, before calling it.",
        r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}"#,
        true,
    ),
    (
        CALL,
        "Call one operation by its name, with arguments that match its input schema.",
        r#"{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name"],"additionalProperties":false}"#,
        false,
    ),
];

/// Results of a search that names no limit, and the most one can ask for.
const DEFAULT_RESULTS: usize = 5;
const MOST_RESULTS: usize = 20;
