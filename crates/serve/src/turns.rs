//! Where a thread of the service starts another one, waits for one, or waits for a message. In the program
//! these are the standard library's. In the tests of `hub`, threads take turns (`stage`): one of them goes on
//! at a time, and where its turn ends, a seed says whose turn is next, so that an order of events that went
//! wrong can be had again.

#[cfg(test)]
pub(crate) mod stage;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

#[cfg(test)]
use self::stage::Part;
#[cfg(test)]
pub(crate) use self::stage::here;

/// In the program nobody takes turns.
#[cfg(not(test))]
struct Part;

#[cfg(not(test))]
impl Part {
    fn beside() -> Self {
        Self
    }

    fn play(&self, work: impl FnOnce()) {
        work();
    }

    fn enter(&self, _: &std::thread::Thread) {}

    fn has_ended(&self) -> bool {
        true
    }
}

/// Where the turn of a thread may end, though it does not wait; whether it takes turns. No lock may be held.
#[cfg(not(test))]
pub(crate) fn here() -> bool {
    false
}

/// A thread of the service.
pub(crate) struct Thread {
    thread: JoinHandle<()>,
    part: Arc<Part>,
}

impl Thread {
    /// Waits for its end.
    pub(crate) fn join(self) {
        while !self.part.has_ended() {
            here();
        }
        let _ = self.thread.join();
    }
}

/// Starts a thread.
/// Fails if there can be no more threads.
pub(crate) fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    let part = Arc::new(Part::beside());
    let its = Arc::clone(&part);
    let thread = std::thread::Builder::new().name(name).spawn(move || its.play(work))?;
    part.enter(thread.thread());
    Ok(Thread { thread, part })
}

/// The next message, if one comes in the time `most`.
pub(crate) fn receive<T>(from: &Receiver<T>, most: Duration) -> Result<T, RecvTimeoutError> {
    from.recv_timeout(if here() { Duration::ZERO } else { most })
}

/// The answer, or `None` if there will be none. Must not be called on request threads.
pub(crate) fn answer<T>(mut from: oneshot::Receiver<T>) -> Option<T> {
    while here() {
        match from.try_recv() {
            Ok(answer) => return Some(answer),
            Err(oneshot::error::TryRecvError::Closed) => return None,
            Err(oneshot::error::TryRecvError::Empty) => {}
        }
    }
    from.blocking_recv().ok()
}

/// Waits.
pub(crate) fn pause(time: Duration) {
    if !here() {
        std::thread::sleep(time);
    }
}

/// Waits, on a request thread.
pub(crate) async fn sleep(time: Duration) {
    if !here() {
        tokio::time::sleep(time).await;
    }
}
