//! SIGINT and SIGTERM: the first asks the work to end between two rows, the second ends the program at once.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use noregret_stream::Stop;
use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::failure::Failure;

thread_local! {
    /// What this thread's command has registered.
    static HANDLERS: RefCell<Vec<SigId>> = const { RefCell::new(Vec::new()) };
}

/// Commands that listen, on all threads.
static LISTENING: AtomicUsize = AtomicUsize::new(0);

/// What the signals ask of this thread's command from now on, until [`stop_listening`]. A system that takes
/// no handlers ends the program as it would have.
pub(crate) fn listen() -> Stop {
    let stop = Stop::default();
    let asked = Arc::new(AtomicBool::new(false));
    let mut handlers = Vec::new();
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds nothing asked yet.
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

/// The command is over: a process that goes on, as one of Python does, is left with the signals as they were.
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

/// Whether no command is waiting for signals. SIGTERM then ends the process, as it does before any command
/// has run; Python handles SIGINT itself.
fn idle() -> Option<&'static AtomicBool> {
    static IDLE: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();
    let registered = IDLE.get_or_init(|| {
        let idle = Arc::new(AtomicBool::new(false));
        flag::register_conditional_default(SIGTERM, Arc::clone(&idle)).ok().map(|_| idle)
    });
    registered.as_deref()
}

/// The failure of work that was asked to stop; `left` says what there is of it.
pub(crate) fn check(stop: &Stop, left: impl FnOnce() -> String) -> Result<(), Failure> {
    match stop.asked() {
        None => Ok(()),
        Some(signal) => Err(Failure::Interrupted { signal: signal as u8, left: left() }),
    }
}

/// What there is of a run that was asked to stop before it began.
pub(crate) fn nothing_learnt() -> String {
    "before the first row was learnt".to_owned()
}
