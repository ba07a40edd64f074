//! Running one operation: arguments checked before, the result after.

use std::sync::Arc;
use std::task::{Context, Poll};

use crate::service::context::{Envelope, Failure, Invoked, Outcome, Output, Reply, Target};
use crate::service::handler::{BoxFuture, CallContext, no_arguments};
use crate::service::operation::Registered;
use crate::wire::{ClientCapability, Error, Features};

use super::{Answer, Core};

/// An operation that runs.
pub(super) struct Running {
    run: BoxFuture<Result<Output, Failure>>,
    operation: Arc<Registered>,
    /// What the encoded result may have, in bytes.
    ceiling: usize,
    features: Features,
}

impl Core {
    pub(super) fn invoke(&self, mut envelope: Envelope) -> Answer {
        let Some(Target::Operation {
            name,
            arguments,
            native,
        }) = envelope.details.target.take()
        else {
            return Answer::now(Error::method_not_found());
        };
        let snapshot = self.registry.snapshot();
        let Some(known_as) = name.node().as_str() else {
            return Answer::now(Error::invalid_params("name must be a string"));
        };
        let Some(operation) = snapshot.operations.get(&known_as).cloned() else {
            return Answer::now(Reply::new(Outcome::UnknownOperation));
        };
        drop(known_as);
        let arguments = match arguments {
            Some(arguments) if arguments.node().is_object() => arguments,
            Some(arguments) if !arguments.node().is_null() => {
                return Answer::now(Error::invalid_params("arguments must be an object"));
            }
            _ => no_arguments(),
        };
        if let (true, true, Some(declared)) = (
            native,
            envelope.features().is_modern(),
            &envelope.details.declared,
        ) && let Err(error) = operation.headers.verify(&**declared, arguments.node())
        {
            return Answer::now(error);
        }
        let missing = operation
            .needs
            .iter()
            .find(|need| !envelope.capabilities().has(**need));
        if let Some(need) = missing {
            return Answer::now(operation.lacking(*need, envelope.features()));
        }
        if let Err(mismatch) = operation.input.check(arguments.node()) {
            let text = mismatch.text("the arguments");
            return Answer::now(
                operation.failed(Failure::invalid_arguments(text, mismatch.diagnostics())),
            );
        }
        let link = &envelope.details.link;
        link.set_declares_output(operation.output.is_some());
        let (ceiling, features) = (envelope.details.ceiling, envelope.features());
        let context = CallContext::new(envelope, name, Some(arguments), snapshot.state.clone());
        Answer::Running(Running {
            run: (operation.run)(context),
            operation,
            ceiling,
            features,
        })
    }
}

impl Registered {
    /// The reply for a failure before the handler ran.
    fn failed(&self, failure: Failure) -> Reply {
        Invoked {
            outcome: Err(failure),
            declares_output: self.output.is_some(),
        }
        .into()
    }

    /// The reply to a client that cannot do what is needed. Older versions have no error for it.
    fn lacking(&self, need: ClientCapability, features: Features) -> Reply {
        if features.is_modern() {
            return Error::missing_capability(need.declaration()).into();
        }
        self.failed(Failure::new(
            "confirmation_required",
            "this needs something the client cannot do",
        ))
    }
}

impl Running {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Invoked> {
        self.run
            .as_mut()
            .poll(cx)
            .map(|outcome| self.finish(outcome))
    }

    fn finish(&self, outcome: Result<Output, Failure>) -> Invoked {
        let name = &self.operation.definition.name;
        let outcome = outcome.and_then(|output| self.checked(output));
        if let Err(failure) = &outcome {
            match failure.source() {
                Some(cause) => {
                    tracing::error!(target: "portcullis::core", operation = name, cause, "operation failed");
                }
                None => {
                    let code = failure.code();
                    tracing::debug!(target: "portcullis::core", operation = name, code, "operation failed");
                }
            }
        }
        Invoked {
            outcome,
            declares_output: self.operation.output.is_some(),
        }
    }

    /// A result that cannot be sent, or breaks the promise of the operation's own schema, is not.
    fn checked(&self, output: Output) -> Result<Output, Failure> {
        if output.exceeds(self.ceiling, self.features) {
            return Err(Failure::too_large());
        }
        let Some(schema) = &self.operation.output else {
            return Ok(output);
        };
        let problem = match output.value() {
            None => "the result has no structured value".to_owned(),
            Some(value) => match schema.check(value.node()) {
                Ok(()) => return Ok(output),
                Err(mismatch) => mismatch.text("the result"),
            },
        };
        Err(Failure::new(
            "invalid_result",
            "the operation gave a result that does not fit its schema",
        )
        .cause(problem))
    }
}
