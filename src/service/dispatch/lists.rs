//! Lists, page by page, and what is read and got by name.

use std::borrow::Cow;
use std::sync::Arc;

use crate::service::catalog::Named;
use crate::service::context::{CacheHint, Envelope, Failure, Reply};
use crate::service::handler::CallContext;
use crate::service::pager::Scope;
use crate::service::registry::PerVersion;
use crate::service::{prompts, resources};
use crate::wire::json::{Kind, ObjectWriter, RawJson, exceed};
use crate::wire::{Error, Features, PromptMessage, Refusal};

use super::{Answer, Core};

impl Core {
    pub(super) fn list_resources(&self, envelope: &Envelope) -> Reply {
        let snapshot = self.registry.snapshot();
        let list = List {
            name: "resources",
            encoded: &snapshot.lists.resources,
        };
        self.list(
            envelope,
            list,
            snapshot.resources.items(),
            |item, out, features| {
                item.definition.push(out, "uri", features);
            },
        )
    }

    pub(super) fn list_templates(&self, envelope: &Envelope) -> Reply {
        let snapshot = self.registry.snapshot();
        let list = List {
            name: "resourceTemplates",
            encoded: &snapshot.lists.templates,
        };
        self.list(
            envelope,
            list,
            snapshot.templates.items(),
            |item, out, features| {
                item.definition.push(out, "uriTemplate", features);
            },
        )
    }

    pub(super) fn list_prompts(&self, envelope: &Envelope) -> Reply {
        let snapshot = self.registry.snapshot();
        let list = List {
            name: "prompts",
            encoded: &snapshot.lists.prompts,
        };
        self.list(
            envelope,
            list,
            snapshot.prompts.items(),
            |item, out, features| {
                item.definition.push(out, features);
            },
        )
    }

    /// One page. A list that fits one page is encoded once for each version.
    fn list<T: Named>(
        &self,
        envelope: &Envelope,
        list: List<'_>,
        items: &[Arc<T>],
        push: impl Fn(&T, &mut Vec<u8>, Features),
    ) -> Reply {
        let cursor = envelope.param("cursor");
        let page = text_of(cursor.as_ref()).and_then(|cursor| {
            self.pager
                .page(scope(list.name, envelope), items, cursor.as_deref(), PAGE)
        });
        let (range, next) = match page {
            Ok(page) => page,
            Err(error) => return error.into(),
        };
        let features = envelope.features();
        let encode = || {
            let mut out = Vec::new();
            let mut object = ObjectWriter::members(&mut out);
            object.array(list.name, &items[range.clone()], |out, item| {
                push(item, out, features);
            });
            object.optional_string("nextCursor", next.as_deref());
            out
        };
        let whole = range.len() == items.len();
        let members = if whole {
            list.encoded.get_or_encode(features, encode)
        } else {
            encode().into()
        };
        Reply::cacheable(members, CacheHint::NONE)
    }

    pub(super) fn read_resource(&self, envelope: Envelope) -> Answer {
        let Some(subject) = string_param(&envelope, "uri") else {
            return Answer::now(Error::invalid_params("uri must be a string"));
        };
        let uri = subject.node().as_str().unwrap_or_default().into_owned();
        let features = envelope.features();
        let snapshot = self.registry.snapshot();
        let found = match snapshot.resources.get(&uri) {
            Some(resource) => Some((resource.reader.clone(), resource.definition.clone(), None)),
            None => snapshot.templates.items().iter().find_map(|template| {
                let values = template.matches(&uri)?;
                Some((
                    template.reader.clone(),
                    template.definition.clone(),
                    Some(values),
                ))
            }),
        };
        let Some((reader, definition, values)) = found else {
            return Answer::now(Error::resource_not_found(&uri, features));
        };
        let ceiling = envelope.details.ceiling;
        let run = reader(CallContext::new(
            envelope,
            subject,
            values,
            snapshot.state.clone(),
        ));
        Answer::Later(Box::pin(async move {
            match run.await {
                Ok(contents) if contents.is_empty() => {
                    tracing::error!(target: "portcullis::core", uri, "a reader gave no contents");
                    Reply::refused(Refusal::Internal)
                }
                Ok(contents) if contents.exceed(ceiling) => {
                    Reply::refused(Refusal::ResponseTooLarge)
                }
                Ok(contents) => {
                    let members = resources::encode(contents, &uri, &definition, features);
                    Reply::cacheable(members, CacheHint::NONE)
                }
                Err(failure) => failed("resource", &uri, &failure, features),
            }
        }))
    }

    pub(super) fn get_prompt(&self, envelope: Envelope) -> Answer {
        let Some(subject) = string_param(&envelope, "name") else {
            return Answer::now(Error::invalid_params("name must be a string"));
        };
        let features = envelope.features();
        let snapshot = self.registry.snapshot();
        let name = subject.node().as_str().unwrap_or_default().into_owned();
        let Some(prompt) = snapshot.prompts.get(&name).cloned() else {
            return Answer::now(Error::invalid_params("unknown prompt"));
        };
        let arguments = match object_param(&envelope, "arguments") {
            Ok(arguments) => arguments,
            Err(error) => return Answer::now(error),
        };
        if let Err(error) = prompt.check(arguments.as_ref()) {
            return Answer::now(error);
        }
        let ceiling = envelope.details.ceiling;
        let context = CallContext::new(envelope, subject, arguments, snapshot.state.clone());
        let run = (prompt.run)(context);
        Answer::Later(Box::pin(async move {
            match run.await {
                Ok(output) if exceed(ceiling, output.messages.iter().map(PromptMessage::bulk)) => {
                    Reply::refused(Refusal::ResponseTooLarge)
                }
                Ok(output) => Reply::result(prompts::encode(&output, &prompt.definition, features)),
                Err(failure) => failed("prompt", &name, &failure, features),
            }
        }))
    }
}

/// A list: its name on the wire and its encodings.
#[derive(Clone, Copy)]
struct List<'a> {
    name: &'static str,
    encoded: &'a PerVersion,
}

/// The error for a handler that failed where failing has no place in the result. Its cause is
/// logged and not told.
pub(super) fn failed(kind: &str, name: &str, failure: &Failure, features: Features) -> Reply {
    if let Some(cause) = failure.source() {
        tracing::error!(target: "portcullis::core", kind, name, cause, "handler failed");
    }
    if failure.code() == "unavailable" && kind == "resource" {
        return Error::resource_not_found(name, features).into();
    }
    let code = match failure.code() {
        "invalid_arguments" => Error::INVALID_PARAMS,
        _ => Error::INTERNAL_ERROR,
    };
    let message = match failure.code() {
        "internal" => Refusal::Internal.message().to_owned(),
        _ => failure.message().to_owned(),
    };
    let error = Error::new(code, message.clone()).data_object(|data| {
        data.string("code", failure.code());
        data.string("message", &message);
        data.boolean("retryable", failure.is_retryable());
        if kind == "resource" {
            data.string("uri", name);
        }
    });
    error.into()
}

pub(super) fn scope<'a>(list: &'static str, envelope: &'a Envelope) -> Scope<'a> {
    Scope {
        list,
        principal: envelope.caller(),
    }
}

/// The text of a cursor; `null` is none.
pub(super) fn text_of(cursor: Option<&RawJson>) -> Result<Option<Cow<'_, str>>, Error> {
    match cursor.map(RawJson::node) {
        None => Ok(None),
        Some(node) if node.is_null() => Ok(None),
        Some(node) => match node.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(Error::invalid_params("cursor must be a string")),
        },
    }
}

pub(super) fn string_param(envelope: &Envelope, name: &str) -> Option<RawJson> {
    envelope
        .param(name)
        .filter(|value| value.node().kind() == Kind::String)
}

/// A member that is an object or not there; `null` is not there.
pub(super) fn object_param(envelope: &Envelope, name: &str) -> Result<Option<RawJson>, Error> {
    match envelope.param(name) {
        Some(value) if value.node().is_object() => Ok(Some(value)),
        Some(value) if !value.node().is_null() => Err(Error::invalid_params(format_args!(
            "{name} must be an object"
        ))),
        _ => Ok(None),
    }
}

/// Items on a page of a list.
const PAGE: usize = 1000;
