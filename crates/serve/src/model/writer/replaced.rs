//! Files of the model that somebody has moved or replaced, as by a backup that is put in their place.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Writer;
use crate::locks::Unpoisoned;
use crate::model::engine::Engine;
use crate::store::Store;

impl Writer {
    /// Recovers the state of a model that is awake where its files are others now: what is written to those
    /// that are open would be lost.
    pub(super) fn look_at_files(&mut self) {
        if self.engine.rests() || self.failure().is_some() || self.store.is_there() {
            return;
        }
        tracing::error!(model = %self.name, "its files were moved or replaced; those that are there now are read");
        if let Some(saves) = self.saves.take() {
            saves.join();
        }
        self.reload();
    }

    /// Goes on with what was recovered from files that may be others.
    pub(super) fn go_on_from(&mut self, store: Store, engine: &Engine) {
        let before = self.shared.committed.load(Ordering::Acquire);
        self.shared.ahead.fetch_add(before.saturating_sub(engine.standing.seq), Ordering::Relaxed);
        self.store = store;
        self.saved = self.store.snapshots().unwrap_or_default().last().copied().unwrap_or(0);
        self.marks = self.store.marks().unwrap_or_default();
        *self.shared.spec.write().unpoisoned() = engine.spec.clone();
        *self.shared.reader.write().unpoisoned() = None;
        *self.shared.seen.write().unpoisoned() = Arc::new(engine.seen());
        self.shared.committed.store(engine.standing.seq, Ordering::Release);
    }
}
