//! The thread of a model. It ends where the model rests, so that of thousands of models only those that
//! somebody asks have one, and the next command starts another.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard};

use super::shared::Command;
use super::writer::Writer;
use crate::locks::Unpoisoned;
use crate::turns;

/// See the [module](self).
pub(super) struct Worker(Arc<Mutex<State>>);

struct State {
    /// What a thread takes when it begins, and puts back where the model rests.
    left: Option<(Writer, Receiver<Command>)>,
    /// Whether a thread has been started that has not taken it yet.
    starts: bool,
    /// The last thread.
    thread: Option<turns::Thread>,
}

impl Worker {
    /// Starts the thread of a model.
    /// Fails if there can be no more threads.
    pub(super) fn start(writer: Writer, commands: Receiver<Command>) -> io::Result<Self> {
        let worker = Self::resting(writer, commands);
        worker.wake()?;
        Ok(worker)
    }

    /// That of a model that rests.
    pub(super) fn resting(writer: Writer, commands: Receiver<Command>) -> Self {
        let state = State { left: Some((writer, commands)), starts: false, thread: None };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Starts a thread for a command that was sent, where there is none because the model rests.
    /// Fails if there can be no more threads; then the command is dropped.
    pub(super) fn wake(&self) -> io::Result<()> {
        let mut state = locked(&self.0);
        let left = if state.starts { None } else { state.left.as_ref() };
        let Some((writer, commands)) = left else { return Ok(()) };
        let its = Arc::clone(&self.0);
        match turns::spawn(format!("model {}", writer.name), move || work(&its)) {
            Ok(thread) => {
                (state.starts, state.thread) = (true, Some(thread));
                Ok(())
            }
            Err(error) => {
                while commands.try_recv().is_ok() {
                    writer.shared.waiting.fetch_sub(1, Ordering::Relaxed);
                }
                Err(error)
            }
        }
    }

    /// Waits for the end of the thread, which was told to stop; without one there is nothing to be saved.
    pub(super) fn stop(&self) {
        let (left, thread) = {
            let mut state = locked(&self.0);
            // A thread that has not begun applies what was sent before.
            let left = if state.starts { None } else { state.left.take() };
            (left, state.thread.take())
        };
        if let Some((writer, _)) = left {
            writer.end();
        }
        if let Some(thread) = thread {
            thread.join();
        }
    }
}

/// Serves the model until it is stopped, or rests while no command waits; also after a panic, which is about
/// one command, and not about the model.
fn work(of: &Mutex<State>) {
    let begun = {
        let mut state = locked(of);
        state.starts = false;
        state.left.take()
    };
    let Some((mut writer, commands)) = begun else { return };
    loop {
        match catch_unwind(AssertUnwindSafe(|| writer.run(&commands))) {
            Ok(true) => {
                let mut state = locked(of);
                // Commands are counted before they are sent: who sends one later finds the model here.
                if writer.shared.waiting.load(Ordering::Relaxed) == 0 {
                    state.left = Some((writer, commands));
                    return;
                }
            }
            Ok(false) => break,
            Err(_) => {
                // A play that has gone on for too long ends here.
                turns::here();
                writer.suspend();
            }
        }
    }
    writer.end();
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unpoisoned()
}
