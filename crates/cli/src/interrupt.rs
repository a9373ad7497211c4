//! SIGINT and SIGTERM: the first signal ends the work between two rows, the second ends the program
//! at once.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use noregret_stream::Stop;
use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::failure::Failure;

thread_local! {
    /// The handlers of this thread's command.
    static HANDLERS: RefCell<Vec<SigId>> = const { RefCell::new(Vec::new()) };
}

/// Number of commands with handlers, on all threads.
static LISTENING: AtomicUsize = AtomicUsize::new(0);

/// Registers handlers for this thread's command until [`stop_listening`], and returns the stop
/// request that they set. If handlers are not supported, signals end the program as usual.
pub(crate) fn listen() -> Stop {
    let stop = Stop::default();
    let asked = Arc::new(AtomicBool::new(false));
    let mut handlers = Vec::new();
    for signal in [SIGINT, SIGTERM] {
        // In this order, so that the first signal finds no request.
        handlers.extend(flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked)));
        handlers.extend(flag::register(signal, Arc::clone(&asked)));
        handlers.extend(flag::register_usize(signal, stop.flag(), signal as usize));
    }
    if HANDLERS.with(|mine| std::mem::replace(&mut *mine.borrow_mut(), handlers).is_empty()) {
        LISTENING.fetch_add(1, Ordering::Relaxed);
    }
    let _ = idle().map(|idle| idle.store(false, Ordering::Relaxed));
    stop
}

/// Removes the handlers, for processes that continue, such as Python.
pub(crate) fn stop_listening() {
    let handlers = HANDLERS.with(RefCell::take);
    if handlers.is_empty() {
        return;
    }
    if LISTENING.fetch_sub(1, Ordering::Relaxed) == 1 {
        let _ = idle().map(|idle| idle.store(true, Ordering::Relaxed));
    }
    for handler in handlers {
        low_level::unregister(handler);
    }
}

/// Whether no command has handlers. SIGTERM then ends the process, as usual; Python handles SIGINT
/// itself.
fn idle() -> Option<&'static AtomicBool> {
    static IDLE: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();
    let registered = IDLE.get_or_init(|| {
        let idle = Arc::new(AtomicBool::new(false));
        flag::register_conditional_default(SIGTERM, Arc::clone(&idle)).ok().map(|_| idle)
    });
    registered.as_deref()
}

/// The failure of interrupted work; `left` describes what was saved.
pub(crate) fn check(stop: &Stop, left: impl FnOnce() -> String) -> Result<(), Failure> {
    match stop.asked() {
        None => Ok(()),
        Some(signal) => Err(Failure::Interrupted { signal: signal as u8, left: left() }),
    }
}

/// The description for a run that was interrupted before its first row.
pub(crate) fn nothing_learnt() -> String {
    "before the first row was learnt".to_owned()
}
