//! Serving one client over a pair of streams: one message per line.
//!
//! Calls run concurrently, one writer writes whole lines in the order the calls produce them, and
//! reading never stops because calls are full: further ones are parked, up to a bound, then refused.
//! What must not wait does not: a cancellation reaches its call while everything else is busy.
//!
//! The connection is one session, so a client may open with the handshake of the legacy era, speak
//! the modern one, or do both. While a handshake is under way other calls wait for it.
//!
//! A client that takes nothing for as long as the limits say is given up: until then what it does not
//! take waits, as much of it as there may be calls.
//!
//! When the client closes its side, calls under way get a few seconds to finish and to be read. What
//! does not let itself be ended by then is left alone.
//!
//! Each line is measured when it is complete and before any of it is written. One that is longer than
//! a response may be means that a layer let pass what it should not have: nothing of that line is
//! written, calls under way are cancelled, and the connection ends with an error.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufWriter};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, timeout_at};
use tower::ServiceExt as _;
use tracing::Instrument as _;

use crate::layers::Erased;
use crate::service::{CallLink, Inbound, Limits, Outbound, Payload, Session, count, millis};
use crate::wire::json::Node;
use crate::wire::{Budget, Error, Frame, FrameKind, Message, Method, Refusal, RequestId, Reserved};

use super::lines::{Line, Lines};
use super::stall::StallTimeout;

/// A stack served over a pair of streams; by default over the process's own.
///
/// Nothing but messages may be written to the output. Logs belong on stderr.
///
/// ```no_run
/// use portcullis::{Registry, Stack};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Stack::new(Registry::builder().build()?).build()?;
/// gate.stdio().run().await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "it serves nothing until it is run"]
pub struct Stdio<R = tokio::io::Stdin, W = tokio::io::Stdout> {
    stack: Erased,
    limits: Limits,
    budget: Budget,
    reader: R,
    writer: W,
}

impl Stdio {
    /// Serves a stack that was put together by hand. [`Gate::stdio`](crate::Gate::stdio) serves the
    /// standard one.
    pub fn new(stack: Erased, limits: Limits) -> Self {
        Self {
            stack,
            limits,
            budget: limits.budget(),
            reader: tokio::io::stdin(),
            writer: tokio::io::stdout(),
        }
    }
}

impl<R, W> Stdio<R, W> {
    /// Shares a budget with others.
    pub(crate) fn within(mut self, budget: &Budget) -> Self {
        self.budget = budget.clone();
        self
    }

    /// Reads from and writes to other streams: the ends of a pipe or of a unix socket.
    pub fn streams<R2, W2>(self, reader: R2, writer: W2) -> Stdio<R2, W2> {
        Stdio {
            stack: self.stack,
            limits: self.limits,
            budget: self.budget,
            reader,
            writer,
        }
    }
}

impl<R, W> Stdio<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// Serves until the client closes its side.
    ///
    /// # Errors
    ///
    /// What reading or writing reports, [`InvalidData`](io::ErrorKind::InvalidData) for a line that is
    /// longer than a response may be, and [`TimedOut`](io::ErrorKind::TimedOut) for a client that takes
    /// nothing for too long.
    pub async fn run(self) -> io::Result<()> {
        let (queue, messages) = mpsc::channel(OUTGOING);
        let (finish, finishing) = oneshot::channel();
        #[expect(clippy::disallowed_methods, reason = "awaited below, or aborted")]
        let mut writing = tokio::spawn(write(
            StallTimeout::new(self.writer, millis(self.limits.write_stall_ms)),
            count(self.limits.response_bytes),
            messages,
            finishing,
        ));
        let mut connection = Connection {
            stack: self.stack,
            session: Session::new(),
            limits: self.limits,
            queue,
            running: JoinSet::new(),
            calls: Arc::default(),
            parked: VecDeque::new(),
            parked_bytes: 0,
        };
        let mut lines = Lines::new(self.reader, &self.limits, &self.budget);
        let served = connection.serve(&mut lines).await;
        // Where nothing can be written any more, nobody waits for an answer either.
        let patience = if connection.queue.is_closed() {
            Duration::ZERO
        } else {
            millis(self.limits.eof_drain_ms)
        };
        let end = Instant::now() + patience;
        connection.drain(end).await;
        drop(connection);
        drop(finish);
        let end = end.max(Instant::now() + GRACE);
        let Ok(written) = timeout_at(end, &mut writing).await else {
            tracing::debug!(target: "portcullis::stdio", "the client reads no more");
            writing.abort();
            return served;
        };
        served.and(written.unwrap_or_else(|panic| Err(io::Error::other(panic))))
    }
}

/// What is known of one client.
struct Connection {
    stack: Erased,
    session: Session,
    limits: Limits,
    queue: mpsc::Sender<Payload>,
    running: JoinSet<()>,
    calls: Arc<Mutex<Calls>>,
    /// Requests that wait for others to end.
    parked: VecDeque<Frame>,
    parked_bytes: usize,
}

/// The calls under way.
#[derive(Default)]
struct Calls {
    by_id: HashMap<RequestId, CallLink>,
    /// The handshake others wait for.
    handshake: Option<RequestId>,
    /// Answers that found the queue full.
    unwritten: usize,
}

impl Connection {
    /// Takes messages until there are no more, or until no answer can be written any more.
    async fn serve<R>(&mut self, lines: &mut Lines<R>) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
    {
        loop {
            let line = tokio::select! {
                biased;
                Some(_) = self.running.join_next() => {
                    self.start_parked();
                    continue;
                }
                () = self.queue.closed() => return Ok(()),
                line = lines.next() => line?,
            };
            match line {
                Line::Message(bytes, held) => self.receive(bytes, held).await,
                Line::TooLong => {
                    let most = self.limits.message();
                    let error =
                        Error::invalid_request(format_args!("a message has at most {most} bytes"));
                    self.send(Outbound::error(None, &error, None)).await;
                }
                Line::NoRoom => {
                    let error = Error::refused(Refusal::Overloaded);
                    self.send(Outbound::error(None, &error, None)).await;
                }
                Line::End => return Ok(()),
            }
        }
    }

    async fn receive(&mut self, bytes: Vec<u8>, held: Reserved) {
        let frame = match Frame::parse_within(bytes, self.limits.depth(), held) {
            Ok(frame) => frame,
            Err(cause) => {
                return self
                    .send(Outbound::error(None, &Error::parse(cause), None))
                    .await;
            }
        };
        match frame.kind() {
            FrameKind::Request if frame.id().is_some() => self.receive_request(frame).await,
            FrameKind::Notification => self.receive_notification(frame),
            FrameKind::Response => {
                tracing::debug!(target: "portcullis::stdio", "a response nobody asked for");
            }
            // The stack says what is wrong with it.
            FrameKind::Request | FrameKind::Other => self.receive_malformed(frame).await,
        }
    }

    /// Starts a request, or parks it, or refuses it.
    async fn receive_request(&mut self, frame: Frame) {
        let id = frame.id();
        if id.as_ref().is_some_and(|id| self.is_taken(id)) {
            let error = Error::invalid_request("a request with this id is under way");
            return self.send(Outbound::error(id.as_ref(), &error, None)).await;
        }
        if !self.may_start() {
            self.make_room().await;
        }
        if self.may_start() {
            return self.start(frame, id);
        }
        let bytes = self.parked_bytes + frame.text().len();
        if self.parked.len() >= count(self.limits.parked_calls)
            || bytes > count(self.limits.parked_bytes)
        {
            let error = Error::refused(Refusal::Overloaded);
            return self.send(Outbound::error(id.as_ref(), &error, None)).await;
        }
        self.parked_bytes = bytes;
        self.parked.push_back(frame);
    }

    /// Quick calls that were read together get their turn before others have to wait. While the
    /// answers of many wait for the client to read, no more is read of it.
    async fn make_room(&mut self) {
        tokio::task::yield_now().await;
        while self.running.try_join_next().is_some() {}
        while self.is_unread() && self.running.join_next().await.is_some() {}
        self.start_parked();
    }

    /// Whether as many answers wait to be written as calls may be under way.
    fn is_unread(&self) -> bool {
        lock(&self.calls).unwritten >= count(self.limits.connection_calls)
    }

    /// What is no request has no place among the calls, so there is a bound for what is under way
    /// altogether.
    async fn receive_malformed(&mut self, frame: Frame) {
        if self.is_crowded() {
            let error = Error::refused(Refusal::Overloaded);
            return self
                .send(Outbound::error(frame.id().as_ref(), &error, None))
                .await;
        }
        self.start(frame, None);
    }

    /// Notifications are never answered. A cancellation does not wait for the stack; others go
    /// through it, unless there are so many of them that they only keep it busy.
    fn receive_notification(&mut self, frame: Frame) {
        let call = match frame.message() {
            Message::Notification(call) if frame.duplicate().is_none() => call,
            _ => return tracing::debug!(target: "portcullis::stdio", "a malformed notification"),
        };
        if call.method != Method::CANCELLED {
            if !self.is_crowded() {
                self.start(frame, None);
            }
            return;
        }
        let id = call.params.and_then(|params| params.get("requestId"));
        let id = id.and_then(|id| RequestId::from_value(id).ok());
        let Some(id) = id else { return };
        self.parked
            .retain(|parked| parked.id().as_ref() != Some(&id));
        self.parked_bytes = self.parked.iter().map(|parked| parked.text().len()).sum();
        let calls = lock(&self.calls);
        // A handshake cannot be taken back.
        if calls.handshake.as_ref() != Some(&id)
            && let Some(link) = calls.by_id.get(&id)
        {
            link.cancel();
        }
    }

    /// Whether a request with this id has not been answered yet.
    fn is_taken(&self, id: &RequestId) -> bool {
        lock(&self.calls).by_id.contains_key(id)
            || self
                .parked
                .iter()
                .any(|parked| parked.id().as_ref() == Some(id))
    }

    /// Whether so much is under way that only calls are taken on.
    fn is_crowded(&self) -> bool {
        self.running.len() >= count(self.limits.connection_calls + self.limits.parked_calls)
    }

    fn may_start(&self) -> bool {
        let calls = lock(&self.calls);
        let most = count(self.limits.connection_calls);
        calls.handshake.is_none()
            && self.parked.is_empty()
            && calls.by_id.len() < most
            && calls.unwritten < most
    }

    fn start_parked(&mut self) {
        let most = count(self.limits.connection_calls);
        while let Some(frame) = {
            let calls = lock(&self.calls);
            let free = calls.handshake.is_none() && calls.by_id.len() < most;
            if free { self.parked.pop_front() } else { None }
        } {
            self.parked_bytes -= frame.text().len();
            let id = frame.id();
            self.start(frame, id);
        }
    }

    /// Runs a call in a task of its own: one that blocks its thread harms itself alone.
    fn start(&mut self, frame: Frame, id: Option<RequestId>) {
        let link = CallLink::shared(self.queue.clone());
        if let Some(id) = &id {
            let mut calls = lock(&self.calls);
            calls.by_id.insert(id.clone(), link.clone());
            if is_handshake(&frame) {
                calls.handshake = Some(id.clone());
            }
        }
        let kind = frame.kind();
        let mut inbound = Inbound::linked(frame, link.clone());
        inbound.session = Some(self.session.clone());
        let call = Call {
            id,
            is_answered: kind != FrameKind::Notification,
            link,
            calls: Arc::clone(&self.calls),
            queue: self.queue.clone(),
        };
        let stack = self.stack.clone();
        self.running
            .spawn(async move { call.run(stack, inbound).await }.in_current_span());
    }

    async fn send(&self, outbound: Outbound) {
        if let Some(payload) = outbound.payload {
            let _ = self.queue.send(payload.on_one_line()).await;
        }
    }

    /// Lets calls under way finish, for a while.
    async fn drain(&mut self, end: Instant) {
        let finish = async {
            self.start_parked();
            while self.running.join_next().await.is_some() {
                self.start_parked();
            }
        };
        if timeout_at(end, finish).await.is_ok() {
            return;
        }
        lock(&self.calls).by_id.values().for_each(CallLink::cancel);
        self.running.abort_all();
        let ended = async { while self.running.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, ended).await.is_err() {
            tracing::warn!(target: "portcullis::stdio", "a call blocks its thread and is left behind");
        }
    }
}

/// One call under way.
struct Call {
    id: Option<RequestId>,
    /// A notification is not, whatever becomes of it: that is for a transport with a status.
    is_answered: bool,
    link: CallLink,
    calls: Arc<Mutex<Calls>>,
    queue: mpsc::Sender<Payload>,
}

impl Call {
    async fn run(self, stack: Erased, inbound: Inbound) {
        let answered = tokio::select! {
            biased;
            () = self.link.cancellation().cancelled() => None,
            answered = stack.oneshot(inbound) => answered.ok(),
        };
        self.link.end();
        // From here on the client may use the id again, which it does once it has the answer.
        self.forget();
        if let Some(payload) = answered.and_then(|outbound| outbound.payload)
            && self.is_answered
            && !self.link.cancellation().is_cancelled()
        {
            self.send(payload.on_one_line()).await;
        }
    }

    async fn send(&self, payload: Payload) {
        if let Err(TrySendError::Full(payload)) = self.queue.try_send(payload) {
            lock(&self.calls).unwritten += 1;
            let _ = self.queue.send(payload).await;
            lock(&self.calls).unwritten -= 1;
        }
    }

    fn forget(&self) {
        let Some(id) = &self.id else { return };
        let mut calls = lock(&self.calls);
        calls.by_id.remove(id);
        if calls.handshake.as_ref() == Some(id) {
            calls.handshake = None;
        }
    }
}

/// A handshake, unless the message is of the modern era, where there is none.
fn is_handshake(frame: &Frame) -> bool {
    let meta = frame.params().and_then(|params| params.get("_meta"));
    let modern = meta.is_some_and(|meta| meta.members().any(|(name, _)| name.starts_with(MODERN)));
    frame
        .method()
        .is_some_and(|method| method == Method::INITIALIZE.name())
        && !modern
        && frame.params().is_some_and(Node::is_object)
}

/// Writes messages, each on a line of its own, until all are written and it is told that no more
/// count: somebody who could send one may never let go of the queue.
async fn write<W: AsyncWrite + Unpin>(
    writer: W,
    longest: usize,
    mut messages: mpsc::Receiver<Payload>,
    mut finishing: oneshot::Receiver<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(WRITE_BUFFER, writer);
    loop {
        let message = tokio::select! {
            biased;
            message = messages.recv() => message,
            _ = &mut finishing, if !messages.is_closed() => {
                messages.close();
                continue;
            }
        };
        let Some(message) = message else { break };
        if message.len() > longest {
            // Lines before this one are whole, and stay so.
            writer.flush().await?;
            return Err(too_long(message.len(), longest));
        }
        for piece in message.pieces() {
            writer.write_all(piece).await?;
        }
        writer.write_all(b"\n").await?;
        if messages.is_empty() {
            writer.flush().await?;
        }
    }
    writer.shutdown().await
}

/// The layers above the transport failed to keep a line in its bounds.
fn too_long(length: usize, longest: usize) -> io::Error {
    tracing::error!(target: "portcullis::stdio", length, longest, "a line is too long to be written");
    let problem = format!("a line of {length} bytes was not written: at most {longest} may be");
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// No code that can panic runs while the lock is held.
fn lock(calls: &Mutex<Calls>) -> MutexGuard<'_, Calls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R, W> fmt::Debug for Stdio<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What calls that were aborted get to let go of what they hold.
const GRACE: Duration = Duration::from_millis(500);
/// Messages that wait for the writer.
const OUTGOING: usize = 64;
const WRITE_BUFFER: usize = 64 * 1024;
/// What the members of a modern request's `_meta` begin with.
const MODERN: &str = "io.modelcontextprotocol/protocolVersion";

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;
    use tokio::time::{Duration, timeout};
    use tower::{BoxError, Layer as _, service_fn};

    use crate::layers::EraseLayer;

    use super::*;

    /// A line that a layer made too long: those before it are whole, of itself there is nothing.
    ///
    /// Contract: S-101, S-102, S-159.
    #[tokio::test(start_paused = true)]
    async fn a_line_that_is_too_long_is_not_written_and_ends_the_connection() {
        const MOST: usize = 50_000;
        // A method is how long its answer is; others are not answered.
        let stack = EraseLayer::new().layer(service_fn(async |inbound: Inbound| {
            match inbound
                .frame
                .method()
                .and_then(|length| length.parse().ok())
            {
                Some(length) => Ok::<_, BoxError>(Outbound::new(vec![b'x'; length].into())),
                None => std::future::pending().await,
            }
        }));
        let (mut client, server) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(server);
        let limits = Limits::default().response_bytes(MOST as u64);
        let served = Stdio::new(stack, limits).streams(reader, writer);
        #[expect(clippy::disallowed_methods, reason = "awaited below")]
        let served = tokio::spawn(served.run());

        let methods = ["hang", "1", "49999", "50000", "50000", "50001", "7"];
        for (id, method) in methods.iter().enumerate() {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
            client
                .write_all(format!("{line}\n").as_bytes())
                .await
                .unwrap();
        }
        let mut written = String::new();
        let reading = client.read_to_string(&mut written);
        let read = timeout(Duration::from_secs(3600), reading).await;
        read.expect("the connection ends").unwrap();
        let lengths: Vec<_> = written.split_inclusive('\n').map(str::len).collect();
        assert_eq!(lengths, [2, MOST, MOST + 1, MOST + 1]);
        // The client has not closed its side, and the call that hangs holds nothing up.
        let ended = served.await.unwrap().unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::InvalidData, "{ended}");
    }

    /// Whatever a layer answers it with.
    ///
    /// Contract: P-10.
    #[tokio::test]
    async fn a_notification_is_not_answered() {
        let stack = EraseLayer::new().layer(service_fn(async |_: Inbound| {
            Ok::<_, BoxError>(Outbound::error(None, &Error::invalid_request("no"), None))
        }));
        let (mut client, server) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(server);
        let served = Stdio::new(stack, Limits::default()).streams(reader, writer);

        let notification = br#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
        client.write_all(notification).await.unwrap();
        client.write_all(b"\n{\"id\":null}\n").await.unwrap();
        client.shutdown().await.unwrap();
        served.run().await.unwrap();
        let mut written = String::new();
        client.read_to_string(&mut written).await.unwrap();
        assert_eq!(written.lines().count(), 1, "{written}");
    }

    /// A blocked thread holds on to its context like this.
    ///
    /// Contract: case S01.
    #[tokio::test(start_paused = true)]
    async fn ends_although_a_context_outlives_its_call() {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&kept);
        let stack = EraseLayer::new().layer(service_fn(move |inbound: Inbound| {
            keep.lock().unwrap().push(inbound.link.outlet());
            std::future::pending::<Result<Outbound, BoxError>>()
        }));
        let (mut client, server) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(server);
        let served = Stdio::new(stack, Limits::default()).streams(reader, writer);

        client.write_all(b"nonsense\n").await.unwrap();
        let request = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        client.write_all(request).await.unwrap();
        client.shutdown().await.unwrap();
        let ended = timeout(Duration::from_secs(3600), served.run()).await;
        assert!(ended.is_ok_and(|served| served.is_ok()));
        assert_eq!(kept.lock().unwrap().len(), 1, "the call ran");
        let mut written = String::new();
        client.read_to_string(&mut written).await.unwrap();
        assert!(written.contains("-32700"), "{written}");
        assert_eq!(written.lines().count(), 1, "what was sent is written");
    }
}
