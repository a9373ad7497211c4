//! What requests and the thread that owns a model have in common: commands, and what is seen of the model
//! without one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use noregret::model::Archive;
use serde_json::Value;
use tokio::sync::oneshot;

use super::engine::{Answer, Engine, Keep};
use super::event::Event;
use super::reader::{Reader, Seen};
use super::spec::Spec;
use crate::locks::Unpoisoned;
use crate::refusal::Refusal;

/// A command to a model.
pub(super) enum Command {
    /// An event.
    Do(Box<Event>, Reply<Answer>),
    /// A read-only copy, which includes all answered events.
    Look(Reply<Arc<Reader>>),
    /// The description of the model, without a copy of it.
    Describe(Reply<Arc<Value>>),
    /// Write a snapshot; returns its event number.
    Save(Reply<u64>),
    /// Replace the state by a snapshot or another model.
    Restore(Box<Restored>, Reply<u64>),
    /// Start a new log.
    Forget(Reply<()>),
    /// The model file.
    Export(Reply<Archive>),
    /// A complete snapshot.
    Snapshot(Reply<Archive>),
    /// End after all earlier commands.
    Stop,
    /// Fail, as by a fault of the program.
    #[cfg(test)]
    Panic(Reply<()>),
}

impl Command {
    /// Whether it changes the model, or its files.
    pub(super) fn changes(&self) -> bool {
        matches!(self, Self::Do(..) | Self::Save(_) | Self::Restore(..) | Self::Forget(_))
    }
}

/// The replacement of a state.
pub(crate) struct Restored {
    pub(crate) engine: Engine,
    /// The parts of the present state that are kept.
    pub(crate) keep: Keep,
}

pub(super) type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

/// State shared by the thread and the requests.
pub(super) struct Shared {
    /// What was last seen of the model.
    pub(super) seen: RwLock<Arc<Seen>>,
    /// The newest copy, from the first forecast on until nobody has asked for one for a while: a copy takes
    /// as much memory as the model.
    pub(super) reader: RwLock<Option<Arc<Reader>>>,
    /// When somebody last asked for it, in microseconds since the start.
    looked: AtomicU64,
    /// The newest event that is durable.
    pub(super) committed: AtomicU64,
    /// By how much the numbers in new ids are larger than those of their events: smaller ones may have been
    /// given to decisions that the log does not have.
    pub(super) ahead: AtomicU64,
    /// Number of waiting commands.
    pub(super) waiting: AtomicU64,
    /// When the copy was made, and how long it took, in microseconds since the start.
    pub(super) copied: AtomicU64,
    pub(super) took: AtomicU64,
    pub(super) started: Instant,
    pub(super) spec: RwLock<Spec>,
    /// Why the model is suspended, if it is.
    pub(super) failed: RwLock<Option<String>>,
    /// Why writes are refused, if they are.
    unwritable: RwLock<Option<String>>,
    /// Number of refused events since the start.
    pub(super) refused: AtomicU64,
    pub(super) saving: AtomicBool,
    /// Whether its state is on the disk only.
    pub(super) rests: AtomicBool,
    /// Its versions, if somebody has asked for them since it rests: then they stay as they are.
    pub(super) versions: Mutex<Option<Arc<Vec<u64>>>>,
    /// For a shadow: the last event of its model that it has, durably.
    pub(super) followed: AtomicU64,
    /// Whether it is being stopped.
    pub(super) ending: AtomicBool,
}

impl Shared {
    /// The state of a model that has just been started, with the settings `spec`; `followed` and `ahead` are
    /// those of [`Shared`].
    pub(super) fn new(seen: Seen, spec: Spec, followed: u64, ahead: u64) -> Self {
        Self {
            reader: RwLock::new(None),
            looked: AtomicU64::new(0),
            committed: AtomicU64::new(seen.seq),
            seen: RwLock::new(Arc::new(seen)),
            ahead: AtomicU64::new(ahead),
            waiting: AtomicU64::new(0),
            copied: AtomicU64::new(0),
            took: AtomicU64::new(0),
            started: Instant::now(),
            spec: RwLock::new(spec),
            failed: RwLock::new(None),
            unwritable: RwLock::new(None),
            refused: AtomicU64::new(0),
            saving: AtomicBool::new(false),
            rests: AtomicBool::new(false),
            versions: Mutex::new(None),
            followed: AtomicU64::new(followed),
            ending: AtomicBool::new(false),
        }
    }

    /// Counts a refusal of the model `name`.
    pub(super) fn refuse(&self, name: &str) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        metrics::counter!("noregret_rounds_refused_total", "model" => name.to_owned()).increment(1);
    }

    /// The newest copy, if there is one.
    pub(super) fn look(&self) -> Option<Arc<Reader>> {
        self.looked.store(self.since_start(), Ordering::Relaxed);
        self.reader.read().unpoisoned().clone()
    }

    /// Drops the copy that nobody has asked for in the last `micros` microseconds.
    pub(super) fn drop_unused(&self, micros: u64) {
        if self.since_start().saturating_sub(self.looked.load(Ordering::Relaxed)) > micros {
            drop(self.reader.write().unpoisoned().take());
        }
    }

    pub(super) fn unwritable(&self) -> Option<String> {
        self.unwritable.read().unpoisoned().clone()
    }

    pub(super) fn set_unwritable(&self, what: Option<String>) {
        *self.unwritable.write().unpoisoned() = what;
    }

    /// Notes that its state is on the disk only, or no longer.
    pub(super) fn set_rests(&self, rests: bool) {
        self.rests.store(rests, Ordering::Relaxed);
        *self.versions.lock().unpoisoned() = None;
    }

    pub(super) fn since_start(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }
}

/// Held by the thread that writes a snapshot: when it ends, by a fault of the program too, or cannot be
/// started, the next one may be written.
pub(super) struct Saving(pub(super) Arc<Shared>);

impl Drop for Saving {
    fn drop(&mut self) {
        self.0.saving.store(false, Ordering::Release);
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::safety::limits::Limits;

    /// Otherwise the model would have no further snapshot, and would not rest.
    #[test]
    fn a_fault_while_a_snapshot_is_written_leaves_the_way_to_the_next() {
        let spec: Spec = serde_json::from_value(json!({"learner": "ogd"})).expect("a spec");
        let engine = Engine::new(spec, &Limits::default()).expect("a model");
        let shared = Arc::new(Shared::new(engine.seen(), engine.spec().clone(), 0, 0));
        shared.saving.store(true, Ordering::Release);
        let saving = Saving(Arc::clone(&shared));
        let writes = std::thread::spawn(move || {
            let _saving = saving;
            panic!("while a snapshot is written");
        });
        assert!(writes.join().is_err());
        assert!(!shared.saving.load(Ordering::Acquire));
    }
}
