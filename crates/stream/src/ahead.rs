//! Work done ahead of its use, on a separate thread, with reused buffers.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle, available_parallelism};

/// Used and new items, on the side of the thread that makes them.
pub(crate) struct Maker<T> {
    free: Receiver<T>,
    filled: SyncSender<T>,
}

/// The same on the side of the one who uses them.
pub(crate) struct Supply<T> {
    made: Receiver<T>,
    used: SyncSender<T>,
}

/// Both sides, for up to `count` items made ahead.
pub(crate) fn exchange<T: Default>(count: usize) -> (Maker<T>, Supply<T>) {
    let (filled, made) = sync_channel::<T>(count);
    // One more is held by the caller.
    let (used, free) = sync_channel::<T>(count + 1);
    for _ in 0..count {
        used.try_send(T::default()).expect("the channel has room for all items");
    }
    (Maker { free, filled }, Supply { made, used })
}

impl<T> Maker<T> {
    /// Makes items while they are wanted. `fill` overwrites an item, new or used, and returns whether more
    /// items follow.
    pub(crate) fn work(self, mut fill: impl FnMut(&mut T) -> bool) {
        while let Ok(mut item) = self.free.recv() {
            let more = fill(&mut item);
            if self.filled.send(item).is_err() || !more {
                return;
            }
        }
    }
}

impl<T> Supply<T> {
    /// Exchanges the used `item` for the next one. Returns false, without an exchange, after the last one.
    pub(crate) fn next(&self, item: &mut T) -> bool {
        let Ok(next) = self.made.recv() else { return false };
        let done = std::mem::replace(item, next);
        // After its last item the thread accepts none back.
        let _ = self.used.try_send(done);
        true
    }
}

/// Items that a thread makes while earlier ones are used. When this is dropped, the thread ends.
pub(crate) struct WorkAhead<T> {
    /// `None` only while being dropped.
    supply: Option<Supply<T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Default + Send + 'static> WorkAhead<T> {
    /// Starts a thread called `name` that fills up to `count` items ahead, as [`Maker::work`] says.
    /// Fails if the system cannot start a thread.
    pub(crate) fn start(
        name: &str,
        count: usize,
        fill: impl FnMut(&mut T) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (maker, supply) = exchange(count);
        let thread = Builder::new().name(name.to_owned()).spawn(move || maker.work(fill))?;
        Ok(Self { supply: Some(supply), thread: Some(thread) })
    }

    /// Exchanges the used `item` for the next one. Returns false, without an exchange, after the
    /// last one.
    ///
    /// # Panics
    /// If the thread has panicked: the panic is propagated.
    pub(crate) fn next(&mut self, item: &mut T) -> bool {
        if self.supply.as_ref().expect("not being dropped").next(item) {
            return true;
        }
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            resume_unwind(panic);
        }
        false
    }
}

impl<T> Drop for WorkAhead<T> {
    fn drop(&mut self) {
        // Without its channels the thread has nothing to wait for.
        self.supply = None;
        if let Some(thread) = self.thread.take() {
            // The items are no longer used, so a panic of the thread is ignored.
            let _ = thread.join();
        }
    }
}

/// The number of processors; 1 if it is not known.
pub fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Whether there is more than one core, so that threads can run at the same time.
pub(crate) fn several_cores() -> bool {
    processors() > 1
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use super::*;

    #[test]
    fn items_come_in_order_and_their_buffers_go_round() {
        let mut count = 0;
        let mut ahead = WorkAhead::start("test", 2, move |item: &mut Vec<u32>| {
            item.clear();
            item.push(count);
            count += 1;
            count < 100
        })
        .unwrap();
        let (mut item, mut seen, mut places) = (Vec::new(), vec![], std::collections::HashSet::new());
        while ahead.next(&mut item) {
            seen.extend_from_slice(&item);
            places.insert(item.as_ptr());
        }
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
        assert!(places.len() <= 3, "{} buffers", places.len());
        assert!(!ahead.next(&mut item), "the end stays the end");
    }

    #[test]
    fn a_dropped_user_ends_the_thread() {
        let alive = Arc::new(());
        let guard = Arc::clone(&alive);
        let mut ahead =
            WorkAhead::start("test", 2, move |_: &mut u32| Arc::strong_count(&guard) > 0).unwrap();
        assert!(ahead.next(&mut 0));
        drop(ahead);
        assert_eq!(Arc::strong_count(&alive), 1, "the thread and what it owned are gone");
    }

    #[test]
    fn a_panic_goes_on_where_it_is_waited_for() {
        let mut left = 3;
        let mut ahead = WorkAhead::start("test", 2, move |_: &mut u32| {
            left -= 1;
            assert!(left > 0, "out of items");
            true
        })
        .unwrap();
        assert!(ahead.next(&mut 0) && ahead.next(&mut 0));
        let panic = catch_unwind(AssertUnwindSafe(|| ahead.next(&mut 0))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"out of items"));
        assert!(!ahead.next(&mut 0));
    }
}
