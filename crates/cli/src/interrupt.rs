//! SIGINT and SIGTERM: the first asks the work to end between two rows, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use noregret_stream::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// What the signals ask from now on. A system that takes no handlers ends the program as it would have.
pub(crate) fn listen() -> Stop {
    let stop = Stop::default();
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds nothing asked yet.
        let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked));
        let _ = flag::register(signal, Arc::clone(&asked));
        let _ = flag::register_usize(signal, stop.flag(), signal as usize);
    }
    stop
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
