//! What is asked of a model beside its events: copies and files of its state, another state, a new log.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use noregret_stream::Fault;

use super::Writer;
use crate::locks::Unpoisoned;
use crate::model::event::{Event, Outcome};
use crate::model::held::Held;
use crate::model::log;
use crate::model::reader::Reader;
use crate::model::shared::{Command, Restored};
use crate::refusal::Refusal;
use crate::turns;

impl Writer {
    /// Handles commands other than events. Returns whether to stop.
    pub(super) fn aside(&mut self, command: Command) -> bool {
        match command {
            Command::Do(..) => unreachable!("done before"),
            Command::Stop => return true,
            #[cfg(test)]
            Command::Panic(reply) => {
                drop(reply);
                panic!("as a test has asked")
            }
            Command::Look(reply) => {
                let _ = reply.send(Ok(self.publish()));
            }
            Command::Describe(reply) => {
                let _ = reply.send(Ok(Arc::clone(&self.show().about)));
            }
            Command::Save(reply) => {
                let seq = self.engine.standing.seq;
                let written = self.store.keep_version(seq, &self.engine.snapshot());
                let _ = reply.send(written.map_err(Refusal::failed).map(|()| seq));
            }
            Command::Export(reply) => {
                let _ = reply.send(Ok(self.engine.archive()));
            }
            Command::Snapshot(reply) => {
                let _ = reply.send(Ok(self.engine.snapshot()));
            }
            Command::Restore(restored, reply) => {
                let _ = reply.send(self.restore(*restored).map_err(Refusal::failed));
            }
            Command::Forget(reply) => {
                let _ = reply.send(self.forget().map_err(Refusal::failed));
            }
        }
        false
    }

    /// The newest copy, refreshed if there were events since.
    fn publish(&mut self) -> Arc<Reader> {
        let newest = self.shared.reader.read().unpoisoned().clone();
        if let Some(reader) = newest.filter(|reader| reader.seq == self.engine.standing.seq) {
            return reader;
        }
        let begun = self.shared.since_start();
        let reader = Arc::new(self.engine.reader());
        let ended = self.shared.since_start();
        self.shared.copied.store(ended, Ordering::Relaxed);
        self.shared.took.store(ended - begun, Ordering::Relaxed);
        *self.shared.reader.write().unpoisoned() = Some(Arc::clone(&reader));
        self.show();
        reader
    }

    /// Replaces the state: writes the snapshot first, then the event, so that a crash between them
    /// leaves the old state. The old state is kept as a version.
    fn restore(&mut self, restored: Restored) -> Result<u64, Fault> {
        let Restored { mut engine, keep } = restored;
        self.store.keep_version(self.engine.standing.seq, &self.engine.snapshot())?;
        let (seq, at) = (self.engine.standing.seq + 1, self.at());
        engine.go_on_behind(&self.engine, seq, at, keep);
        let snapshot = engine.snapshot();
        let event = Event::Restored { digest: snapshot.digest() };
        let header = log::header(&engine, Some(engine.archive().digest()))?;
        let mut write = || {
            self.store.write_snapshot(seq, &snapshot)?;
            self.store.begin()?;
            self.store.append(seq, at, &event, &Outcome::default())?;
            self.store.keep_spec(&engine.spec)?;
            self.store.begin_log(seq, &header, &snapshot)?;
            self.store.commit()
        };
        write().inspect_err(|_| {
            self.store.roll_back();
            self.store.forget_state(seq);
        })?;
        turns::here();
        *self.shared.spec.write().unpoisoned() = engine.spec.clone();
        self.engine = Held::new(engine);
        self.saved = seq;
        self.shared.committed.store(seq, Ordering::Release);
        self.show_another();
        Ok(seq)
    }

    /// Starts a new log from the present state.
    fn forget(&mut self) -> Result<(), Fault> {
        let seq = self.engine.standing.seq;
        let header = log::header(&self.engine, Some(self.engine.archive().digest()))?;
        let snapshot = self.engine.snapshot();
        self.store.write_snapshot(seq, &snapshot)?;
        self.saved = seq;
        self.store.begin()?;
        let done = self
            .store
            .begin_log(seq, &header, &snapshot)
            .and_then(|()| self.store.forget(seq))
            .and_then(|()| self.store.commit());
        done.inspect_err(|_| self.store.roll_back())?;
        self.store.remove_before(seq);
        self.marks.clear();
        if let Err(what) = self.store.give_back() {
            tracing::warn!(model = %self.name, "the disk has not got back what the old log took: {what}");
        }
        Ok(())
    }
}
