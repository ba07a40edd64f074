//! Bytes that messages may take up together.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// A number of bytes that all who share it can reserve from. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Budget(Arc<Shared>);

struct Shared {
    left: AtomicUsize,
    /// Set under the lock: whoever gives something back looks here first.
    awaited: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

/// Bytes of a budget, given back when this is dropped.
pub(crate) struct Reserved {
    budget: Budget,
    bytes: usize,
}

/// There is not so much left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Shared {
            left: AtomicUsize::new(bytes),
            awaited: AtomicBool::new(false),
            waiting: Mutex::default(),
        }))
    }

    /// Nothing yet.
    pub(crate) fn reserve_nothing(&self) -> Reserved {
        Reserved {
            budget: self.clone(),
            bytes: 0,
        }
    }

    fn take(&self, bytes: usize) -> Result<(), Exhausted> {
        let taken = self
            .0
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(bytes)
            });
        taken.map(|_| ()).map_err(|_| Exhausted)
    }

    fn give_back(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.0.left.fetch_add(bytes, Ordering::SeqCst);
        // Whoever waits has set this before looking at what is left, so one of the two sees the other.
        if self.0.awaited.load(Ordering::SeqCst) {
            let waiting = {
                let mut waiting = self
                    .0
                    .waiting
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                self.0.awaited.store(false, Ordering::SeqCst);
                std::mem::take(&mut *waiting)
            };
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    fn wait(&self, cx: &Context<'_>) {
        let mut waiting = self
            .0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        self.0.awaited.store(true, Ordering::SeqCst);
    }
}

impl Reserved {
    /// Holds at least so many bytes from now on.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Exhausted> {
        if bytes > self.bytes {
            self.budget.take(bytes - self.bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// The same, as soon as there is so much left.
    pub(crate) fn poll_grow(&mut self, bytes: usize, cx: &Context<'_>) -> Poll<()> {
        if self.grow(bytes).is_ok() {
            return Poll::Ready(());
        }
        self.budget.wait(cx);
        // What was given back in between wakes nobody.
        match self.grow(bytes) {
            Ok(()) => Poll::Ready(()),
            Err(Exhausted) => Poll::Pending,
        }
    }

    /// Holds no more than so many bytes from now on.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        if bytes < self.bytes {
            let held = std::mem::replace(&mut self.bytes, bytes);
            self.budget.give_back(held - bytes);
        }
    }

    /// Nothing yet of the same budget.
    pub(crate) fn reserve_nothing(&self) -> Self {
        self.budget.reserve_nothing()
    }

    /// Takes all of it away from here.
    pub(crate) fn split_off(&mut self) -> Self {
        let nothing = self.reserve_nothing();
        std::mem::replace(self, nothing)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("left", &self.0.left.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Reserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reserved").field(&self.bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn what_is_reserved_is_gone_until_it_is_dropped() {
        let budget = Budget::new(100);
        let (mut one, mut other) = (budget.reserve_nothing(), budget.reserve_nothing());
        assert_eq!(one.grow(60), Ok(()));
        assert_eq!(other.grow(41), Err(Exhausted));
        assert_eq!(other.grow(40), Ok(()));
        assert_eq!(other.grow(30), Ok(()), "it has more");
        one.shrink(70);
        assert_eq!(other.grow(41), Err(Exhausted), "it had less");
        one.shrink(59);
        assert_eq!(other.grow(41), Ok(()));
        let moved = other.split_off();
        drop(other);
        assert_eq!(one.grow(60), Err(Exhausted));
        drop(moved);
        assert_eq!(one.grow(100), Ok(()));
        drop(one);
        assert_eq!(budget.reserve_nothing().grow(100), Ok(()));
    }

    #[test]
    fn whoever_waits_is_woken_by_what_is_given_back() {
        let budget = Budget::new(100);
        let mut one = budget.reserve_nothing();
        one.grow(80).unwrap();
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let cx = Context::from_waker(&waker);
        let mut other = budget.reserve_nothing();
        assert!(other.poll_grow(50, &cx).is_pending());
        assert!(other.poll_grow(50, &cx).is_pending());
        one.shrink(60);
        assert_eq!(woken.0.load(Ordering::SeqCst), 1, "once for one that waits");
        assert!(other.poll_grow(50, &cx).is_pending());
        drop(one);
        assert_eq!(woken.0.load(Ordering::SeqCst), 2);
        assert!(other.poll_grow(50, &cx).is_ready());
        drop(other);
        assert_eq!(woken.0.load(Ordering::SeqCst), 2, "nobody waits any more");
    }
}
