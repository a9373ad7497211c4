//! Recovery: the newest intact snapshot, and the later events applied to it again; or, where no snapshot can
//! be read, the log learnt again.

use std::path::{Path, PathBuf};

use noregret_stream::Fault;
use noregret_stream::save::file as model_file;
use rusqlite::OptionalExtension as _;

use super::files::{self, MARKS, VERSIONS, file_of, seqs, snapshot_path};
use super::{Store, decoded};
use crate::model::engine::Engine;
use crate::model::event::{Event, Outcome};
use crate::model::log;
use crate::model::spec::Spec;
use crate::model::standing::Rebuilt;
use crate::safety::limits::Limits;

/// Number of events behind the newest snapshot from which on a recovered model gets another one.
const MANY: u64 = 1000;

/// A recovered model.
pub(crate) struct Recovered {
    store: Store,
    engine: Engine,
    /// Sentences on damaged files.
    notes: Vec<String>,
    /// Whether it was made again from its log, which then has to begin again with it.
    again: bool,
}

impl Recovered {
    /// The model called `name`, ready to go on; what was damaged is logged.
    ///
    /// # Errors
    /// If the log of a model that was made again cannot be begun.
    pub(crate) fn ready(self, name: &str) -> Result<(Store, Engine), Fault> {
        let Self { mut store, engine, notes, again } = self;
        notes.iter().for_each(|note| tracing::warn!(model = %name, "{note}"));
        if again {
            let header = log::header(&engine, Some(engine.archive().digest()))?;
            store.begin_again(engine.standing.seq, &header, &engine.snapshot())?;
            return Ok((store, engine));
        }
        // What was done again is not done once more after the next kill.
        let (seq, saved) = (engine.standing.seq, store.snapshots()?.last().copied().unwrap_or(0));
        if seq.saturating_sub(saved) >= MANY
            && store.check_room().is_ok()
            && let Err(what) = store.write_snapshot(seq, &engine.snapshot())
        {
            tracing::warn!(model = %name, "a snapshot was not written; the log is complete: {what}");
        }
        Ok((store, engine))
    }
}

impl Store {
    /// Opens a model: loads its newest intact snapshot, and applies the later events.
    ///
    /// # Errors
    /// If the state cannot be recovered bit for bit.
    pub(crate) fn recover(folder: &Path, limits: &Limits) -> Result<Recovered, Fault> {
        let store = Self::open(folder, false)?;
        let failed = |error: rusqlite::Error| format!("{}: {error}", store.path().display());
        let check: String =
            store.db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
        if check != "ok" {
            return Err(format!("{}: the database is damaged: {check}", store.path().display()).into());
        }
        let last: Option<i64> =
            store.db.query_row("SELECT max(seq) FROM events", [], |row| row.get(0)).map_err(failed)?;
        let first: i64 = store
            .db
            .query_row("SELECT min(seq) FROM segments", [], |row| row.get::<_, Option<i64>>(0))
            .map_err(failed)?
            .ok_or_else(|| format!("{}: has no start", store.path().display()))?;
        let last = last.unwrap_or(first).max(first) as u64;
        let mut notes = Vec::new();
        let mut failure = format!("{}: has no snapshot", folder.display());
        let mut readable = false;
        // Versions beyond the last committed event, as for snapshots below.
        for kind in [MARKS, VERSIONS] {
            for seq in seqs(&folder.join(kind))?.into_iter().filter(|seq| *seq > last) {
                let path = file_of(folder, kind, seq);
                std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        for (seq, path) in store.states(last)? {
            if seq > last {
                // It includes events that were never committed, because the process died.
                notes.push(format!("{}: is newer than the log, and was removed", path.display()));
                std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                continue;
            }
            let read = |limits: &Limits| {
                model_file::read(&path).map_err(|error| error.to_string()).and_then(|archive| {
                    Engine::from_snapshot(&archive, limits)
                        .map_err(|error| format!("{}: {error}", path.display()))
                })
            };
            match read(limits) {
                Ok(mut engine) if engine.standing.seq == seq => {
                    readable = true;
                    if store.spec()?.is_none() {
                        store.keep_spec(engine.spec())?;
                    }
                    let redone = store.redo(&mut engine, last).or_else(|what| -> Result<(), Fault> {
                        // The limits may have been wider when its events were accepted.
                        engine = read(&limits.wide())?;
                        store.redo(&mut engine, last).map_err(|_| what)?;
                        engine.set_limits(limits);
                        Ok(())
                    });
                    match redone {
                        Ok(()) => return Ok(Recovered { store, engine, notes, again: false }),
                        Err(what) => failure = what.into(),
                    }
                    break;
                }
                Ok(_) => failure = format!("{}: has another event number than its name", path.display()),
                Err(what) => failure = what,
            }
            notes.push(format!("{failure}; the previous one was used"));
        }
        notes.push(failure);
        // Without a readable snapshot there is nothing to compare with; otherwise it is asked for.
        if readable && !limits.rebuild {
            return Err(notes.join("; ").into());
        }
        match store.rebuild(limits, last) {
            Ok((engine, note)) => {
                notes.push(note);
                Ok(Recovered { store, engine, notes, again: true })
            }
            Err(what) => {
                notes.push(format!("and it cannot be rebuilt from its log: {what}"));
                Err(notes.join("; ").into())
            }
        }
    }

    /// The states from which the events up to `last` may be applied again, the best first: the snapshots from
    /// the newest one on, and then the states at which the log starts or may start. It may be so short that
    /// it starts behind all snapshots.
    fn states(&self, last: u64) -> Result<Vec<(u64, PathBuf)>, Fault> {
        let read = || -> rusqlite::Result<(Option<i64>, Vec<u64>)> {
            let first: Option<i64> =
                self.db.query_row("SELECT min(seq) FROM events", [], |row| row.get(0))?;
            let mut of = self.db.prepare("SELECT seq FROM segments UNION SELECT seq FROM marks")?;
            let marks: rusqlite::Result<Vec<u64>> =
                of.query_map([], |row| Ok(row.get::<_, i64>(0)? as u64))?.collect();
            Ok((first, marks?))
        };
        let (first, committed) = read().map_err(|error| self.failed(&error))?;
        let first = first.map_or(last + 1, |first| first as u64);
        let snapshots =
            self.snapshots()?.into_iter().rev().map(|seq| (seq, snapshot_path(&self.folder, seq)));
        // The file of an event that was not written may be there all the same.
        let marks = seqs(&self.folder.join(MARKS))?.into_iter().rev().filter(|seq| committed.contains(seq));
        let marks = marks.map(|seq| (seq, file_of(&self.folder, MARKS, seq)));
        let mut all: Vec<(u64, PathBuf)> = snapshots.chain(marks).collect();
        // From the others some of the events are missing.
        all.sort_by_key(|(seq, _)| seq + 1 < first);
        Ok(all)
    }

    /// The state of the model in `folder`, which was put away with a snapshot after its last event.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn wake(folder: &Path, limits: &Limits) -> Result<Engine, Fault> {
        let seq = files::snapshots(folder)?
            .pop()
            .ok_or_else(|| format!("{}: has no snapshot", folder.display()))?;
        let path = snapshot_path(folder, seq);
        let archive = model_file::read(&path).map_err(|error| error.to_string())?;
        Engine::from_snapshot(&archive, limits).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// Makes the model again and lets it learn its log, with the labels that were played then and their
    /// probabilities.
    fn rebuild(&self, limits: &Limits, last: u64) -> Result<(Engine, String), Fault> {
        let spec = self.spec()?.ok_or("its settings are only in its snapshots")?;
        let failed = |error: rusqlite::Error| format!("{}: {error}", self.path().display());
        // Labels that are added in the log come with it.
        let mut first = Spec { retired: Vec::new(), ..spec.clone() };
        let known = self.labels_at_first().map_err(failed)?;
        if let (Some(labels), Some(known)) = (&mut first.labels, known) {
            labels.truncate(known as usize);
        }
        let mut engine = Engine::new(first, limits).map_err(|refusal| refusal.to_string())?;
        let (mut learnt, mut skipped, mut replaced) = (0_u64, 0_u64, self.is_from_file()?);
        {
            let mut events =
                self.db.prepare("SELECT seq, at, body, outcome FROM events ORDER BY seq").map_err(failed)?;
            let mut rows = events.query([]).map_err(failed)?;
            while let Some(row) = rows.next().map_err(failed)? {
                let (seq, at): (i64, i64) =
                    row.get(0).and_then(|seq| Ok((seq, row.get(1)?))).map_err(failed)?;
                let (event, outcome) = decoded(row)?;
                replaced |= matches!(event, Event::Restored { .. });
                match engine.relearn(at, seq as u64, event, outcome) {
                    true => learnt += 1,
                    false => skipped += 1,
                }
            }
        }
        engine.standing.seq = last;
        engine.retire(&spec.retired);
        let deleted = last.saturating_sub(learnt + skipped);
        let rebuilt = Rebuilt { at: last, learnt, deleted, skipped, replaced };
        let said = rebuilt.lost().unwrap_or_else(|| rebuilt.to_string());
        engine.standing.rebuilt = Some(rebuilt);
        Ok((engine, format!("{}: {said}", self.folder().display())))
    }

    /// The number of labels at the beginning of the log, if it has a change of labels.
    fn labels_at_first(&self) -> rusqlite::Result<Option<u32>> {
        const FIRST: &str =
            "SELECT outcome FROM events WHERE body LIKE '{\"event\":\"labels\"%' ORDER BY seq LIMIT 1";
        let outcome: Option<Option<String>> = self.db.query_row(FIRST, [], |row| row.get(0)).optional()?;
        let outcome = outcome.flatten().and_then(|text| serde_json::from_str::<Outcome>(&text).ok());
        Ok(outcome.and_then(|outcome| outcome.known))
    }

    /// Applies the events after the snapshot, and compares their outcomes.
    fn redo(&self, engine: &mut Engine, last: u64) -> Result<(), Fault> {
        let failed = |error: rusqlite::Error| format!("{}: {error}", self.path().display());
        let mut events = self
            .db
            .prepare("SELECT seq, at, body, outcome FROM events WHERE seq > ? ORDER BY seq")
            .map_err(failed)?;
        let mut rows = events.query([engine.standing.seq as i64]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (seq, at): (i64, i64) = row.get(0).and_then(|seq| Ok((seq, row.get(1)?))).map_err(failed)?;
            let wrong = |what: &dyn std::fmt::Display| {
                Fault::from(format!("{}: event {seq}: {what}", self.path().display()))
            };
            if seq as u64 != engine.standing.seq + 1 {
                return Err(wrong(&"the event before it is missing"));
            }
            let (event, outcome) = decoded(row).map_err(|what| wrong(&what))?;
            let (_, again) = engine.apply(at, &event).map_err(|refusal| wrong(&refusal))?;
            if again != outcome {
                return Err(wrong(
                    &"its outcome differs from the logged one: the log or the snapshot was changed",
                ));
            }
        }
        if engine.standing.seq != last {
            return Err(format!(
                "{}: the log ends at {}, not at {last}",
                self.path().display(),
                engine.standing.seq
            )
            .into());
        }
        Ok(())
    }
}
