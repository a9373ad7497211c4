//! Models that nobody asks for rest: their state is on the disk only, until the next command reads it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Instant;

use super::Writer;
use crate::locks::Unpoisoned;
use crate::model::held::Held;
use crate::model::recovery::wake;
use crate::model::rested::Rested;
use crate::model::spec::Service;
use crate::process;

/// Held by a model that goes to rest, whose snapshot takes as much memory as its state: of many that would do
/// so at once, one does.
static RESTING: Mutex<()> = Mutex::new(());

impl Writer {
    /// Lets a model rest for which no command has come in a while, less where memory is short.
    pub(super) fn rest_sometimes(&mut self) {
        let since = self.asked.map_or(u64::MAX, |asked| asked.elapsed().as_secs());
        let rest = process::rest_after(self.limits.rest_seconds);
        if self.engine.rests() || since < rest || self.failure().is_some() || !self.may_rest() {
            return;
        }
        // Otherwise at the next tick.
        let alone = RESTING.try_lock();
        if matches!(alone, Err(TryLockError::WouldBlock)) {
            return;
        }
        let seq = self.engine.standing.seq;
        if seq > self.saved {
            if let Err(what) = self.store.write_snapshot(seq, &self.engine.snapshot()) {
                tracing::error!(model = %self.name, "a snapshot was not written; the log is complete: {what}");
                self.asked = Some(Instant::now());
                return;
            }
            self.saved = seq;
        }
        self.show_another();
        self.put_away();
        self.shared.set_rests(true);
    }

    /// Whether only a command changes the model, and not time itself: waiting times of decisions, the age of
    /// its log, or the model that it shadows.
    pub(super) fn may_rest(&self) -> bool {
        let Service { wait_seconds, retain_days, retain_mib, .. } = self.engine.spec.service;
        let waits = wait_seconds.is_some() && self.engine.waiting.len() + self.engine.asked.len() > 0;
        !waits
            && retain_days.is_none()
            && retain_mib.is_none()
            && self.engine.spec.shadow_of.is_none()
            && self.shared.unwritable().is_none()
            && !self.shared.saving.load(Ordering::Acquire)
    }

    /// Lets go of the state, which a snapshot has, and of the database, and says beside them what a start
    /// shows of the model.
    pub(super) fn put_away(&mut self) {
        let seen = Arc::clone(&self.shared.seen.read().unpoisoned());
        let seen = if seen.seq == self.engine.standing.seq { seen } else { self.show() };
        let is_alone = self.store.common().is_none() && self.store.is_there();
        let rested = (is_alone && self.engine.encoder.scales_when_learnt())
            .then(|| Rested::new(&self.engine, &seen, &self.limits));
        self.engine.rest();
        self.store.rest();
        // Without it, the next start reads the model.
        if let Some(Err(error)) = rested.map(|rested| rested.write(self.store.folder())) {
            tracing::warn!(model = %self.name, "what a start shows of it was not written: {error}");
        }
    }

    /// Reads the state of a model that rests; false if that fails.
    pub(super) fn wakes(&mut self) -> bool {
        let (folder, seq) = (self.store.folder().to_owned(), self.shared.committed.load(Ordering::Acquire));
        let put_away = wake(&folder, &self.limits).ok();
        let put_away = put_away.filter(|engine| engine.standing.seq == seq && !self.store.is_behind(seq));
        let opens = put_away.is_some() && self.store.wake().is_ok();
        let put_away = put_away.filter(|_| opens && self.store.top().is_ok_and(|top| top == seq));
        let woken = match put_away {
            Some(engine) => {
                // A start does not read them of a model that rests.
                self.marks = self.store.marks().unwrap_or_default();
                Ok(engine)
            }
            // Somebody has changed the files, or another node has learnt more.
            None => self.recovered().map(|(store, engine)| {
                self.go_on_from(store, &engine);
                engine
            }),
        };
        self.shared.set_rests(woken.is_err());
        match woken {
            Ok(engine) => {
                self.engine = Held::new(engine);
                true
            }
            Err(what) => {
                self.tried = Instant::now();
                tracing::error!(model = %self.name, "the model is suspended: {what}");
                *self.shared.failed.write().unpoisoned() = Some(what.into());
                false
            }
        }
    }
}
