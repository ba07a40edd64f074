//! Completion: suggestions for arguments of prompts and variables of templates.

use crate::service::context::{Envelope, Reply};
use crate::service::handler::{CallContext, Completions, Erased};
use crate::service::registry::Snapshot;
use crate::wire::Error;
use crate::wire::json::{Node, ObjectWriter, RawJson, push_str};

use super::lists::failed;
use super::{Answer, Core};

impl Core {
    pub(super) fn complete(&self, envelope: Envelope) -> Answer {
        let asked = match Asked::new(&envelope) {
            Ok(asked) => asked,
            Err(error) => return Answer::now(error),
        };
        let snapshot = self.registry.snapshot();
        let completer = match asked.find(&snapshot) {
            Ok(Some(completer)) => completer,
            Ok(None) => return Answer::now(Reply::result(encode(&Completions::default()))),
            Err(error) => return Answer::now(error),
        };
        let features = envelope.features();
        let name = asked
            .subject
            .node()
            .as_str()
            .unwrap_or_default()
            .into_owned();
        let context = CallContext::new(
            envelope,
            asked.subject,
            Some(asked.arguments),
            snapshot.state.clone(),
        );
        let run = completer(context);
        Answer::Later(Box::pin(async move {
            match run.await {
                Ok(completions) => Reply::result(encode(&completions)),
                Err(failure) => failed("completion", &name, &failure, features),
            }
        }))
    }
}

impl Snapshot {
    /// Whether anything can be completed.
    pub(super) fn completes(&self) -> bool {
        self.prompts
            .items()
            .iter()
            .any(|prompt| !prompt.completers.is_empty())
            || self
                .templates
                .items()
                .iter()
                .any(|template| !template.completers.is_empty())
    }
}

/// What is to be completed.
struct Asked {
    of_prompt: bool,
    /// The name of the prompt or the template of the resource.
    subject: RawJson,
    argument: String,
    /// What the handler gets.
    arguments: RawJson,
}

impl Asked {
    fn new(envelope: &Envelope) -> Result<Self, Error> {
        let reference = envelope.param("ref");
        let kind = reference
            .as_ref()
            .and_then(|reference| reference.node().get("type"));
        let (of_prompt, member) = match kind.and_then(Node::as_str).as_deref() {
            Some("ref/prompt") => (true, "name"),
            Some("ref/resource") => (false, "uri"),
            _ => {
                return Err(Error::invalid_params(
                    "ref must be a ref/prompt or a ref/resource",
                ));
            }
        };
        let is_text = |value: &RawJson| value.node().as_str().is_some();
        let subject = reference
            .and_then(|reference| reference.get(member))
            .filter(is_text);
        let subject = subject
            .ok_or_else(|| Error::invalid_params(format_args!("ref must have a {member}")))?;
        let argument = envelope.param("argument");
        let text = |name: &str| argument.as_ref()?.node().get(name)?.as_str();
        let (Some(name), Some(value)) = (text("name"), text("value")) else {
            return Err(Error::invalid_params(
                "argument must have a name and a value",
            ));
        };
        let others = envelope
            .param("context")
            .and_then(|context| context.get("arguments"));
        Ok(Self {
            of_prompt,
            subject,
            arguments: handler_arguments(&value, others.as_ref())?,
            argument: name.into_owned(),
        })
    }

    fn find(&self, snapshot: &Snapshot) -> Result<Option<Erased<Completions>>, Error> {
        let subject = self.subject.node().as_str().unwrap_or_default();
        let completers = if self.of_prompt {
            let prompt = snapshot.prompts.get(&subject);
            &prompt
                .ok_or_else(|| Error::invalid_params("unknown prompt"))?
                .completers
        } else {
            let templates = snapshot.templates.items();
            match snapshot.templates.get(&subject) {
                Some(template) => &template.completers,
                None if snapshot.resources.get(&subject).is_some() => return Ok(None),
                None => {
                    let matching = templates.iter().find(|it| it.matches(&subject).is_some());
                    &matching
                        .ok_or_else(|| Error::invalid_params("unknown resource"))?
                        .completers
                }
            }
        };
        Ok(completers.get(&self.argument).cloned())
    }
}

fn handler_arguments(value: &str, others: Option<&RawJson>) -> Result<RawJson, Error> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::new(&mut out);
    object.string("value", value);
    if let Some(others) = others.filter(|others| !others.node().is_null()) {
        let all_texts = |node: Node<'_>| node.members().all(|(_, value)| value.as_str().is_some());
        if !others.node().is_object() || !all_texts(others.node()) {
            return Err(Error::invalid_params(
                "context.arguments must be an object of strings",
            ));
        }
        object.raw("arguments", others.text());
    }
    object.end();
    let text = String::from_utf8(out).unwrap_or_default();
    RawJson::parse(text).map_err(|_| Error::invalid_params("argument cannot be used"))
}

fn encode(completions: &Completions) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = ObjectWriter::members(&mut out);
    object.object("completion", |completion| {
        let count = completions.values.len();
        completion.array(
            "values",
            completions.values.iter().take(MOST_VALUES),
            |out, value| {
                push_str(out, value);
            },
        );
        let cut = count > MOST_VALUES;
        let total = completions.total.or(cut.then_some(count as u64));
        if let Some(total) = total {
            completion.number("total", total);
        }
        completion.boolean("hasMore", completions.has_more || cut);
    });
    out
}

/// Suggestions in one answer.
const MOST_VALUES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: P-149, M-040.
    #[test]
    fn at_most_a_hundred_values_are_sent() {
        let encoded = |count: usize| {
            let values = (0..count).map(|n| n.to_string());
            String::from_utf8(encode(&Completions::new(values))).unwrap()
        };
        assert!(encoded(100).ends_with(r#""99"],"hasMore":false}"#));
        assert!(encoded(101).ends_with(r#""99"],"total":101,"hasMore":true}"#));
    }
}
