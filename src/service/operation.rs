//! Operations: what an application registers and what the model calls a tool.

use std::fmt;
use std::sync::Arc;

use tower::{BoxError, Layer, Service, ServiceExt as _};

use crate::wire::json::RawJson;
use crate::wire::{ClientCapability, Icon, ToolDefinition, ToolHints};

use super::catalog::Named;
use super::config::ConfigError;
use super::context::{Failure, Output};
use super::handler::{
    BlockingHandler, BoxFuture, CallContext, Erased, Handler, Rules, Signature, erase,
    erase_blocking,
};
use super::param_headers::ParamHeaders;
use super::schema::Schema;

/// Something the application can do: a name, a description, schemas and a handler.
///
/// ```
/// use portcullis::service::handler::Text;
/// use portcullis::service::{Operation, Registry};
///
/// let registry = Registry::builder()
///     .operation(
///         Operation::new("now")
///             .describe("Tell the time")
///             .read_only(true)
///             .handler(|| async { Text("noon".into()) }),
///     )
///     .build()?;
/// # Ok::<(), portcullis::service::ConfigError>(())
/// ```
#[must_use = "an operation does nothing until it is registered"]
pub struct Operation {
    name: String,
    title: Option<String>,
    description: String,
    input_schema: Option<Result<RawJson, String>>,
    output_schema: Option<Result<RawJson, String>>,
    hints: ToolHints,
    icons: Vec<Icon>,
    meta: Option<RawJson>,
    needs: Vec<ClientCapability>,
    handler: Option<(Erased<Output>, Signature)>,
    layers: Vec<PendingLayer>,
}

/// A layer of the operation that waits for the handler it goes around.
type PendingLayer = Box<dyn FnOnce(Erased<Output>) -> Erased<Output> + Send>;

/// The handler of an operation as a service, for the layers of that operation.
#[derive(Clone)]
pub struct OperationService {
    run: Erased<Output>,
}

/// A failure on its way through the layers of an operation.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OperationError(Failure);

/// An operation ready to be run.
pub(crate) struct Registered {
    pub(crate) definition: Arc<ToolDefinition>,
    pub(crate) input: Schema,
    pub(crate) output: Option<Schema>,
    pub(crate) headers: ParamHeaders,
    pub(crate) needs: Vec<ClientCapability>,
    pub(crate) run: Erased<Output>,
}

impl Operation {
    /// An operation without a handler yet. Names have 1 to 128 letters, digits, `_`, `-` and `.`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: None,
            output_schema: None,
            hints: ToolHints::default(),
            icons: Vec::new(),
            meta: None,
            needs: Vec::new(),
            handler: None,
            layers: Vec::new(),
        }
    }

    /// A name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it does, for the model.
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The schema of the arguments, published as it is given here. It takes the place of a derived
    /// one.
    ///
    /// It is one of JSON Schema 2020-12, or of the draft that its `$schema` names: 4, 6, 7 or
    /// 2019-09. Registration refuses other dialects, references that lead nowhere or out of the
    /// schema (nothing is ever fetched), nesting beyond 64, more than 4096 objects and more than
    /// 1 MiB, each with its JSON Pointer. A schema with references is for values of up to 256 levels.
    ///
    /// Numbers are compared exactly, however long they are. Patterns are those of ECMAScript; one that
    /// looks around or back is matched against texts of up to 8 KiB and names of up to 1 KiB, in a
    /// bounded number of steps, and what that does not decide is refused. A `format` refuses nothing,
    /// and a `default` fills nothing in.
    pub fn input_schema(mut self, json: impl Into<String>) -> Self {
        self.input_schema = Some(parse(json));
        self
    }

    /// The schema of the structured result, published as it is given here. It takes the place of a
    /// derived one.
    pub fn output_schema(mut self, json: impl Into<String>) -> Self {
        self.output_schema = Some(parse(json));
        self
    }

    /// Says that it changes nothing, or that it does.
    pub fn read_only(mut self, hint: bool) -> Self {
        self.hints.read_only = Some(hint);
        self
    }

    /// Says that it may destroy something, or that it only adds.
    pub fn destructive(mut self, hint: bool) -> Self {
        self.hints.destructive = Some(hint);
        self
    }

    /// Says that calling it twice has the effect of calling it once, or not.
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.hints.idempotent = Some(hint);
        self
    }

    /// Says that it reaches things outside, or stays inside.
    pub fn open_world(mut self, hint: bool) -> Self {
        self.hints.open_world = Some(hint);
        self
    }

    /// Adds an icon.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// The member `_meta` of the definition: an object.
    pub fn meta(mut self, meta: RawJson) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Adds something the client must be able to do. A caller that did not declare it is refused
    /// before the handler runs.
    pub fn needs(mut self, capability: ClientCapability) -> Self {
        self.needs.push(capability);
        self
    }

    /// Sets the handler: an async function over extractors.
    pub fn handler<M, H: Handler<M, Output>>(mut self, handler: H) -> Self {
        self.handler = Some(erase(handler));
        self
    }

    /// Sets a handler that blocks its thread: a plain function over extractors, run on tokio's
    /// blocking pool. It cannot be interrupted; whether its caller has given up it can ask its
    /// [`CallContext`].
    pub fn blocking<M, H: BlockingHandler<M, Output>>(mut self, handler: H) -> Self {
        self.handler = Some(erase_blocking(handler));
        self
    }

    /// Adds a layer around the handler of this operation only. The layer added first is outermost.
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<OperationService> + Send + 'static,
        L::Service: Service<CallContext, Response = Output, Error: Into<BoxError>, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        self.layers.push(Box::new(move |run| {
            let service = layer.layer(OperationService { run });
            Arc::new(move |context| -> BoxFuture<Result<Output, Failure>> {
                let call = service.clone().oneshot(context);
                Box::pin(async move { call.await.map_err(|error| failure_of(error.into())) })
            })
        }));
        self
    }

    /// Puts a prefix before the name.
    pub(crate) fn prefixed(mut self, prefix: &str) -> Self {
        self.name.insert_str(0, prefix);
        self
    }

    /// Checks everything once.
    pub(crate) fn register(self, rules: &Rules) -> Result<Registered, ConfigError> {
        let error =
            |problem: String| ConfigError::new(format!("operation `{}`", self.name), problem);
        if !rules.any_name && !is_tool_name(&self.name) {
            return Err(error(
                "a name has 1 to 128 letters, digits, `_`, `-` and `.`".to_owned(),
            ));
        }
        let Some((run, signature)) = self.handler else {
            return Err(error("it has no handler".to_owned()));
        };
        rules.check(&signature).map_err(&error)?;
        if signature.needs_schema && self.input_schema.is_none() {
            return Err(error(
                "`Parsed` arguments need an `input_schema`".to_owned(),
            ));
        }
        let input = match self
            .input_schema
            .transpose()
            .map_err(&error)?
            .or(signature.input_schema)
        {
            Some(schema) => schema,
            None => parse(ANY_OBJECT).map_err(&error)?,
        };
        let input = Schema::compile_object(input)
            .map_err(|problem| error(format!("its input schema is refused: {problem}")))?;
        let headers = ParamHeaders::collect(input.raw()).map_err(&error)?;
        let output = self
            .output_schema
            .transpose()
            .map_err(&error)?
            .or(signature.output_schema);
        let output = output
            .map(Schema::compile)
            .transpose()
            .map_err(|problem| error(format!("its output schema is refused: {problem}")))?;
        let run = self
            .layers
            .into_iter()
            .rev()
            .fold(run, |run, layer| layer(run));
        let definition = Arc::new(ToolDefinition {
            name: self.name,
            title: self.title,
            description: self.description,
            input_schema: input.raw().clone(),
            output_schema: output.as_ref().map(|schema| schema.raw().clone()),
            hints: self.hints,
            icons: self.icons,
            meta: self.meta,
        });
        Ok(Registered {
            definition,
            input,
            output,
            headers,
            needs: self.needs,
            run,
        })
    }
}

impl Service<CallContext> for OperationService {
    type Response = Output;
    type Error = OperationError;
    type Future = OperationFuture;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, context: CallContext) -> OperationFuture {
        OperationFuture((self.run)(context))
    }
}

/// The future of an [`OperationService`].
pub struct OperationFuture(BoxFuture<Result<Output, Failure>>);

impl std::future::Future for OperationFuture {
    type Output = Result<Output, OperationError>;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        self.0.as_mut().poll(cx).map_err(OperationError)
    }
}

impl OperationError {
    /// The failure.
    pub fn failure(&self) -> &Failure {
        &self.0
    }
}

/// A failure passes unchanged; what else a layer reports is classified.
fn failure_of(error: BoxError) -> Failure {
    match error.downcast::<OperationError>() {
        Ok(error) => error.0,
        Err(error) => Failure::refused(super::refusal::classify(&*error)).cause(error),
    }
}

fn parse(json: impl Into<String>) -> Result<RawJson, String> {
    RawJson::parse(json).map_err(|error| format!("its schema is not JSON: {error}"))
}

/// The names the protocol asks for, which every client accepts.
fn is_tool_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    (1..=128).contains(&name.len()) && name.bytes().all(allowed)
}

impl Named for Registered {
    const KIND: &'static str = "operation";

    fn name(&self) -> &str {
        &self.definition.name
    }
}

impl Named for ToolDefinition {
    const KIND: &'static str = "operation";

    fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OperationService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperationService")
    }
}

impl fmt::Debug for OperationFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperationFuture")
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered")
            .field("name", &self.definition.name)
            .finish_non_exhaustive()
    }
}

const ANY_OBJECT: &str = r#"{"type":"object"}"#;
