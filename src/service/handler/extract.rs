//! What a handler can ask for: its arguments, the caller, shared state.

use std::any::{TypeId, type_name};
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::service::context::{Failure, Principal};
use crate::wire::json::{ObjectWriter, RawJson};

use super::Signature;
use super::call::CallContext;

/// Something a handler takes as an argument.
///
/// Implement it for types of your own to check or look up something before the handler runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a handler",
    note = "arguments are `Args<T>` (with `T: Deserialize + JsonSchema`), `Parsed<T>`, `RawArgs`, \
            `CallContext`, `State<T>`, `Principal`, `Option<Principal>`, or a type of your own that \
            implements `FromCall`"
)]
pub trait FromCall: Sized {
    /// Takes it out of the call.
    ///
    /// # Errors
    ///
    /// The failure the caller gets instead of the handler's result.
    fn from_call(context: &CallContext) -> Result<Self, Failure>;

    /// Adds what it needs to the handler's signature.
    fn describe(signature: &mut Signature) {
        let _ = signature;
    }
}

/// The arguments, decoded into a type whose schema is derived and published.
#[cfg(feature = "schemars")]
#[derive(Clone, Copy, Debug)]
pub struct Args<T>(pub T);

/// The arguments, decoded into a type; the schema is written by hand.
#[derive(Clone, Copy, Debug)]
pub struct Parsed<T>(pub T);

/// The arguments exactly as they were sent: an object.
#[derive(Clone, Debug)]
pub struct RawArgs(pub RawJson);

/// State that was given to the registry.
#[derive(Clone, Copy, Debug)]
pub struct State<T>(pub T);

/// The URI that is read.
#[derive(Clone, Debug)]
pub struct ResourceUri(pub String);

/// What is to be completed.
#[derive(Clone, Debug, serde::Deserialize)]
#[non_exhaustive]
pub struct CompletionRequest {
    /// What was typed so far.
    pub value: String,
    /// The other arguments, as far as the client told them.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
}

#[cfg(feature = "schemars")]
impl<T: DeserializeOwned + schemars::JsonSchema> FromCall for Args<T> {
    fn from_call(context: &CallContext) -> Result<Self, Failure> {
        decode(context.arguments()).map(Self)
    }

    fn describe(signature: &mut Signature) {
        signature.input_schema(super::convert::derived_schema::<T>());
    }
}

impl<T: DeserializeOwned> FromCall for Parsed<T> {
    fn from_call(context: &CallContext) -> Result<Self, Failure> {
        decode(context.arguments()).map(Self)
    }

    fn describe(signature: &mut Signature) {
        signature.needs_schema = true;
    }
}

impl FromCall for RawArgs {
    fn from_call(context: &CallContext) -> Result<Self, Failure> {
        Ok(Self(context.arguments().clone()))
    }
}

impl FromCall for CallContext {
    fn from_call(context: &CallContext) -> Result<Self, Failure> {
        Ok(context.clone())
    }
}

impl<T: Clone + Send + Sync + 'static> FromCall for State<T> {
    fn from_call(context: &CallContext) -> Result<Self, Failure> {
        // Building the registry made sure that it is there.
        let state = context.state::<T>().cloned();
        state
            .map(Self)
            .ok_or_else(|| Failure::new("internal", "the operation failed"))
    }

    fn describe(signature: &mut Signature) {
        signature.states.push((TypeId::of::<T>(), type_name::<T>()));
    }
}

/// Callers that nobody vouches for are refused with `denied`.
impl FromCall for Principal {
    fn from_call(context: &CallContext) -> Result<Self, Failure> {
        let known = context.principal().cloned();
        known.ok_or_else(|| Failure::new("denied", "this needs an authenticated caller"))
    }
}

impl FromCall for Option<Principal> {
    fn from_call(context: &CallContext) -> Result<Self, Failure> {
        Ok(context.principal().cloned())
    }
}

impl FromCall for ResourceUri {
    fn from_call(context: &CallContext) -> Result<Self, Failure> {
        Ok(Self(context.subject().into_owned()))
    }
}

impl FromCall for CompletionRequest {
    fn from_call(context: &CallContext) -> Result<Self, Failure> {
        decode(context.arguments())
    }
}

/// The schema was obeyed, so what fails here is something it does not say.
fn decode<T: DeserializeOwned>(arguments: &RawJson) -> Result<T, Failure> {
    arguments
        .decode()
        .map_err(|error: crate::wire::json::DecodeError| {
            let mut out = Vec::new();
            let mut object = ObjectWriter::new(&mut out);
            object.array("errors", [&error], |out, error| {
                let mut object = ObjectWriter::new(out);
                object.string("path", error.path());
                object.string("keyword", "type");
                object.string("message", error.message());
                object.end();
            });
            object.end();
            let message = format!("the arguments cannot be used: {error}");
            match RawJson::parse(String::from_utf8_lossy(&out)) {
                Ok(diagnostics) => Failure::invalid_arguments(message, diagnostics),
                Err(_) => Failure::new("invalid_arguments", message),
            }
        })
}
