//! What ties a call to its caller: where messages back go, and whether the caller still waits.
//!
//! One allocation serves both. The queue for messages and the token for waiting are made when they
//! are first needed, so a call that neither notifies nor watches for its cancellation pays for
//! neither.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use super::payload::Payload;

/// Messages of one call on their way to its caller.
pub(crate) type Messages = mpsc::Receiver<Payload>;

/// The transport's handle on a call.
#[derive(Clone)]
pub struct CallLink(Arc<Link>);

/// Where messages back to the caller go.
#[derive(Clone)]
pub struct Outlet(Arc<Link>);

/// Whether the caller has given up.
#[derive(Clone)]
pub struct Cancellation(Arc<Link>);

/// The caller cannot be reached: it went away, was answered, or cannot take messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the caller cannot be reached")]
pub struct Unreachable;

struct Link {
    sink: Sink,
    cancelled: AtomicBool,
    /// The operation that runs declares no output schema.
    undeclared: AtomicBool,
    /// Made when somebody waits for the cancellation.
    token: OnceLock<CancellationToken>,
    told: Mutex<Told>,
}

/// What the caller was told of the call's progress: shared by whoever makes the same call again.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// How far it was, and when.
    pub(crate) last: Option<(f64, Instant)>,
    /// Something could not be told and the log knows: once a call is enough.
    pub(crate) complained: bool,
}

enum Sink {
    /// Nobody listens.
    Nowhere,
    /// A stream of this call's own, opened by the first message.
    Stream {
        stream: Mutex<Stream>,
        /// How long a message may wait for a reader that is slow.
        patience: Duration,
    },
    /// A queue shared with other calls.
    Shared {
        queue: mpsc::Sender<Payload>,
        /// Nothing is sent for a call that has ended.
        ended: Mutex<bool>,
    },
}

#[derive(Default)]
struct Stream {
    sender: Option<mpsc::Sender<Payload>>,
    receiver: Option<Messages>,
    waiting: Option<Waker>,
    ended: bool,
}

impl CallLink {
    /// A call whose messages have nowhere to go.
    pub fn detached() -> Self {
        Self::new(Sink::Nowhere)
    }

    /// A call with a stream of its own. A reader that takes nothing for longer than this is given up.
    pub(crate) fn streaming(patience: Duration) -> Self {
        let stream = Mutex::default();
        Self::new(Sink::Stream { stream, patience })
    }

    /// A call whose messages go into a queue it shares with others.
    pub(crate) fn shared(queue: mpsc::Sender<Payload>) -> Self {
        let ended = Mutex::new(false);
        Self::new(Sink::Shared { queue, ended })
    }

    fn new(sink: Sink) -> Self {
        Self(Arc::new(Link {
            sink,
            cancelled: AtomicBool::new(false),
            undeclared: AtomicBool::new(false),
            token: OnceLock::new(),
            told: Mutex::default(),
        }))
    }

    /// The stream, once the call has sent its first message.
    pub(crate) fn poll_stream(&self, cx: &Context<'_>) -> Poll<Messages> {
        let Sink::Stream { stream, .. } = &self.0.sink else {
            return Poll::Pending;
        };
        let mut stream = lock(stream);
        match stream.receiver.take() {
            Some(receiver) => Poll::Ready(receiver),
            None => {
                match &mut stream.waiting {
                    Some(waker) => waker.clone_from(cx.waker()),
                    waiting => *waiting = Some(cx.waker().clone()),
                }
                Poll::Pending
            }
        }
    }

    /// The stream, if the call has sent a message.
    pub(crate) fn take_stream(&self) -> Option<Messages> {
        match &self.0.sink {
            Sink::Stream { stream, .. } => lock(stream).receiver.take(),
            _ => None,
        }
    }

    /// The call has its answer: nothing more is sent for it.
    pub(crate) fn end(&self) {
        self.0.end();
    }

    /// The caller has given up: nothing more is sent, and whoever waits for it is told.
    pub(crate) fn cancel(&self) {
        self.0.end();
        self.0.cancelled.store(true, Ordering::SeqCst);
        if let Some(token) = self.0.token.get() {
            token.cancel();
        }
    }

    /// Cancels the call when the guard is dropped, unless it was answered.
    pub(crate) fn cancel_on_drop(self) -> CancelOnDrop {
        CancelOnDrop(Some(self))
    }

    /// The operation that runs declares an output schema, or none: whoever fails it from outside
    /// needs to know.
    pub(crate) fn set_declares_output(&self, declares: bool) {
        self.0.undeclared.store(!declares, Ordering::Relaxed);
    }

    /// Whether the operation that runs declares an output schema. A failure that says nothing
    /// structured is right in either case, so this is so until it is known.
    pub(crate) fn declares_output(&self) -> bool {
        !self.0.undeclared.load(Ordering::Relaxed)
    }

    /// What the caller was told of the progress.
    pub(crate) fn told(&self) -> MutexGuard<'_, Told> {
        lock(&self.0.told)
    }

    /// Where messages back to the caller go.
    pub fn outlet(&self) -> Outlet {
        Outlet(Arc::clone(&self.0))
    }

    /// Whether the caller has given up.
    pub fn cancellation(&self) -> Cancellation {
        Cancellation(Arc::clone(&self.0))
    }
}

/// Tells a call that nobody waits for it any more.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(Option<CallLink>);

impl CancelOnDrop {
    /// The call has its answer: ends it instead.
    pub(crate) fn disarm(mut self) {
        if let Some(link) = self.0.take() {
            link.end();
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(link) = &self.0 {
            link.cancel();
        }
    }
}

impl Outlet {
    /// Sends an encoded message. Waits while the caller is slow to read, but not for ever: one that
    /// reads nothing must not keep the call from going on.
    ///
    /// # Errors
    ///
    /// [`Unreachable`] if it cannot arrive any more.
    pub(crate) async fn send(&self, message: Payload) -> Result<(), Unreachable> {
        match &self.0.sink {
            Sink::Nowhere => Err(Unreachable),
            Sink::Stream { stream, patience } => {
                let sender = open(&mut lock(stream))?;
                let sent = match sender.try_send(message) {
                    Err(TrySendError::Full(message)) => {
                        sender.send_timeout(message, *patience).await.is_ok()
                    }
                    sent => sent.is_ok(),
                };
                if !sent {
                    self.0.end();
                }
                sent.then_some(()).ok_or(Unreachable)
            }
            Sink::Shared { queue, ended } => {
                let place = queue.reserve().await.map_err(|_| Unreachable)?;
                let ended = lock(ended);
                if *ended {
                    return Err(Unreachable);
                }
                place.send(message);
                Ok(())
            }
        }
    }

    /// Whether a message may arrive: false once the call was answered or given up.
    pub fn is_open(&self) -> bool {
        match &self.0.sink {
            Sink::Nowhere => false,
            Sink::Stream { stream, .. } => !lock(stream).ended,
            Sink::Shared { ended, .. } => !*lock(ended),
        }
    }
}

impl Cancellation {
    /// Whether the caller has given up.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Waits until the caller gives up.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        let token = self.0.token.get_or_init(CancellationToken::new).clone();
        // The flag is set before the token is looked for: one of the two sees the other.
        if self.is_cancelled() {
            token.cancel();
        }
        token.cancelled_owned()
    }
}

impl Link {
    fn end(&self) {
        match &self.sink {
            Sink::Nowhere => {}
            Sink::Stream { stream, .. } => {
                let mut stream = lock(stream);
                stream.ended = true;
                stream.sender = None;
            }
            Sink::Shared { ended, .. } => *lock(ended) = true,
        }
    }
}

fn open(stream: &mut Stream) -> Result<mpsc::Sender<Payload>, Unreachable> {
    if stream.ended {
        return Err(Unreachable);
    }
    if let Some(sender) = &stream.sender {
        return Ok(sender.clone());
    }
    let (sender, receiver) = mpsc::channel(QUEUE);
    stream.sender = Some(sender.clone());
    stream.receiver = Some(receiver);
    if let Some(waker) = stream.waiting.take() {
        waker.wake();
    }
    Ok(sender)
}

/// No code that can panic runs while one of these locks is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for CallLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cancelled = self.0.cancelled.load(Ordering::SeqCst);
        f.debug_struct("CallLink")
            .field("cancelled", &cancelled)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet")
            .field("open", &self.is_open())
            .finish()
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation")
            .field(&self.is_cancelled())
            .finish()
    }
}

/// Messages of one call that wait for a slow reader before its sender has to.
const QUEUE: usize = 16;

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn message(text: &str) -> Payload {
        text.as_bytes().to_vec().into()
    }

    #[tokio::test]
    async fn the_first_message_opens_the_stream() {
        let link = CallLink::streaming(PATIENCE);
        assert!(link.take_stream().is_none());
        link.outlet().send(message("a")).await.unwrap();
        let mut stream = std::future::poll_fn(|cx| link.poll_stream(cx)).await;
        assert_eq!(stream.try_recv().unwrap().into_bytes(), "a");
        link.end();
        assert_eq!(link.outlet().send(message("b")).await, Err(Unreachable));
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_is_given_up_and_keeps_what_it_has() {
        let link = CallLink::streaming(PATIENCE);
        for _ in 0..QUEUE {
            link.outlet().send(message("a")).await.unwrap();
        }
        let started = tokio::time::Instant::now();
        assert_eq!(link.outlet().send(message("b")).await, Err(Unreachable));
        assert_eq!(started.elapsed(), PATIENCE);
        assert_eq!(link.outlet().send(message("c")).await, Err(Unreachable));
        assert_eq!(started.elapsed(), PATIENCE, "nobody waits again");
        let mut stream = link.take_stream().unwrap();
        for _ in 0..QUEUE {
            assert_eq!(stream.recv().await.unwrap().into_bytes(), "a");
        }
        assert!(stream.recv().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_is_slow_is_waited_for() {
        let link = CallLink::streaming(PATIENCE);
        for _ in 0..QUEUE {
            link.outlet().send(message("a")).await.unwrap();
        }
        let mut stream = link.take_stream().unwrap();
        let reading = async {
            for _ in 0..3 {
                tokio::time::sleep(PATIENCE.mul_f32(0.9)).await;
                stream.recv().await.unwrap();
            }
        };
        let writing = async {
            for _ in 0..3 {
                link.outlet().send(message("b")).await.unwrap();
            }
        };
        tokio::join!(reading, writing);
    }

    #[tokio::test]
    async fn nothing_is_sent_after_the_end() {
        let (queue, mut received) = mpsc::channel(1);
        let link = CallLink::shared(queue);
        let outlet = link.outlet();
        outlet.send(message("a")).await.unwrap();
        // This one waits for a place while the call ends.
        let mut late = pin!(outlet.send(message("b")));
        assert!(futures_pending(late.as_mut()));
        link.end();
        received.recv().await.unwrap();
        assert_eq!(late.await, Err(Unreachable));
        assert!(received.try_recv().is_err());
    }

    #[tokio::test]
    async fn cancelling_wakes_whoever_waits_before_or_after() {
        let link = CallLink::detached();
        let early = link.cancellation().cancelled();
        link.cancel();
        early.await;
        link.cancellation().cancelled().await;
        assert!(link.cancellation().is_cancelled());
        assert!(!link.outlet().is_open());
    }

    fn futures_pending(future: std::pin::Pin<&mut impl Future>) -> bool {
        future
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    }
}
