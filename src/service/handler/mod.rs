//! Handlers: async functions over extractors, as they stand behind operations, resources, prompts
//! and completions.
//!
//! A handler takes up to eight arguments, each of which says what it needs of the call
//! ([`FromCall`]), and returns something that becomes an outcome ([`IntoOutcome`]).
//!
//! ```
//! use portcullis::service::handler::{Parsed, Text};
//! use portcullis::service::{CallContext, Failure, Operation};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Greet { name: String }
//!
//! async fn greet(Parsed(input): Parsed<Greet>, context: CallContext) -> Result<Text, Failure> {
//!     if context.is_cancelled() {
//!         return Err(Failure::new("cancelled", "nobody waits"));
//!     }
//!     Ok(Text(format!("Hello, {}!", input.name)))
//! }
//! let operation = Operation::new("greet")
//!     .input_schema(r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#)
//!     .handler(greet);
//! ```

mod call;
mod convert;
mod extract;
mod progress;

use std::any::TypeId;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::service::context::Failure;
use crate::wire::json::RawJson;

pub use self::call::CallContext;
pub(crate) use self::call::no_arguments;
pub(crate) use self::convert::Item;
#[cfg(feature = "schemars")]
pub use self::convert::Structured;
pub use self::convert::{Completions, Contents, IntoOutcome, Json, PromptOutput, Text};
#[cfg(feature = "schemars")]
pub use self::extract::Args;
pub use self::extract::{CompletionRequest, FromCall, Parsed, RawArgs, ResourceUri, State};
pub use self::progress::Progress;

/// An async function over extractors whose return value becomes an `O`.
///
/// `M` stands for the argument types, so that functions of every arity can implement this.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not a handler",
    note = "a handler is an async function that is `Clone + Send + Sync + 'static`, and whose future \
            is `Send`",
    note = "each argument is `Args<T>` with `T: Deserialize + JsonSchema`, `Parsed<T>` with \
            `T: Deserialize`, `RawArgs`, `CallContext`, `State<T>`, `Principal`, or another type \
            that implements `FromCall`",
    note = "the result is text, `Structured<T>` with `T: Serialize + JsonSchema`, `Json<T>`, content, \
            or another type that implements `IntoOutcome`; or a `Result` of one of these"
)]
pub trait Handler<M, O>: Clone + Send + Sync + 'static {
    /// Runs the handler.
    fn call(
        &self,
        context: CallContext,
    ) -> impl Future<Output = Result<O, Failure>> + Send + 'static;

    /// Says what the handler needs and gives.
    fn describe(signature: &mut Signature);
}

/// A plain function over extractors, for work that blocks its thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a blocking handler",
    note = "a blocking handler is a function, not an async one, with the arguments and results of \
            a handler"
)]
pub trait BlockingHandler<M, O>: Clone + Send + Sync + 'static {
    /// Runs the handler on the calling thread.
    ///
    /// # Errors
    ///
    /// What the function itself fails with, or what an extractor refuses.
    fn call(&self, context: &CallContext) -> Result<O, Failure>;

    /// Says what the handler needs and gives.
    fn describe(signature: &mut Signature);
}

/// What a handler needs and gives, collected from its arguments and its result.
#[derive(Debug, Default)]
pub struct Signature {
    pub(crate) input_schema: Option<RawJson>,
    pub(crate) output_schema: Option<RawJson>,
    /// Types of state it asks for.
    pub(crate) states: Vec<(TypeId, &'static str)>,
    /// It decodes its arguments by a schema somebody has to write.
    pub(crate) needs_schema: bool,
}

impl Signature {
    /// The schema of the arguments.
    pub fn input_schema(&mut self, schema: RawJson) {
        self.input_schema = Some(schema);
    }

    /// The schema of the structured result.
    pub fn output_schema(&mut self, schema: RawJson) {
        self.output_schema = Some(schema);
    }
}

/// What handlers may ask for in the registry they are registered in.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(crate) states: Vec<TypeId>,
    /// Names of operations need not be those the protocol asks for.
    pub(crate) any_name: bool,
}

impl Rules {
    /// Whether a handler finds the state it asks for.
    pub(crate) fn check(&self, signature: &Signature) -> Result<(), String> {
        match signature
            .states
            .iter()
            .find(|(id, _)| !self.states.contains(id))
        {
            Some((_, name)) => Err(format!(
                "it needs `State<{name}>`, which the registry was not given"
            )),
            None => Ok(()),
        }
    }
}

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A handler whose type is forgotten: the one allocation of a call that cannot be avoided.
pub(crate) type Erased<O> = Arc<dyn Fn(CallContext) -> BoxFuture<Result<O, Failure>> + Send + Sync>;

/// Forgets the type of a handler.
pub(crate) fn erase<H: Handler<M, O>, M, O: 'static>(handler: H) -> (Erased<O>, Signature) {
    let mut signature = Signature::default();
    H::describe(&mut signature);
    (
        Arc::new(move |context| Box::pin(handler.call(context))),
        signature,
    )
}

/// Forgets the type of a blocking handler, which runs on tokio's blocking pool.
pub(crate) fn erase_blocking<H, M, O>(handler: H) -> (Erased<O>, Signature)
where
    H: BlockingHandler<M, O>,
    O: Send + 'static,
{
    let mut signature = Signature::default();
    H::describe(&mut signature);
    let erased = move |context: CallContext| -> BoxFuture<Result<O, Failure>> {
        let handler = handler.clone();
        Box::pin(async move {
            let work = tokio::task::spawn_blocking(move || handler.call(&context));
            match work.await {
                Ok(outcome) => outcome,
                Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
                Err(ended) => Err(Failure::from(ended)),
            }
        })
    };
    (Arc::new(erased), signature)
}

macro_rules! handlers {
    ($($argument:ident)*) => {
        impl<F, Fut, R, O, $($argument,)*> Handler<($($argument,)*), O> for F
        where
            F: Fn($($argument,)*) -> Fut + Clone + Send + Sync + 'static,
            Fut: Future<Output = R> + Send + 'static,
            R: IntoOutcome<O>,
            $($argument: FromCall,)*
        {
            #[allow(non_snake_case, unused_variables, reason = "one name serves type and value")]
            fn call(
                &self,
                context: CallContext,
            ) -> impl Future<Output = Result<O, Failure>> + Send + 'static {
                let begin = || -> Result<Fut, Failure> {
                    $(let $argument = $argument::from_call(&context)?;)*
                    Ok(self($($argument,)*))
                };
                let begun = begin();
                // Whatever the arguments did not take of the message is let go here.
                drop(context);
                async move { begun?.await.into_outcome() }
            }

            fn describe(signature: &mut Signature) {
                $($argument::describe(signature);)*
                R::describe(signature);
            }
        }

        impl<F, R, O, $($argument,)*> BlockingHandler<($($argument,)*), O> for F
        where
            F: Fn($($argument,)*) -> R + Clone + Send + Sync + 'static,
            R: IntoOutcome<O>,
            $($argument: FromCall,)*
        {
            #[allow(non_snake_case, unused_variables, reason = "one name serves type and value")]
            fn call(&self, context: &CallContext) -> Result<O, Failure> {
                $(let $argument = $argument::from_call(context)?;)*
                self($($argument,)*).into_outcome()
            }

            fn describe(signature: &mut Signature) {
                $($argument::describe(signature);)*
                R::describe(signature);
            }
        }
    };
}

handlers! {}
handlers! { A }
handlers! { A B }
handlers! { A B C }
handlers! { A B C D }
handlers! { A B C D E }
handlers! { A B C D E G }
handlers! { A B C D E G H }
handlers! { A B C D E G H I }
