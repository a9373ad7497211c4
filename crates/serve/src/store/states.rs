//! What a model is recovered from: the states in files, and the events after them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use noregret_stream::Fault;
use rusqlite::OptionalExtension as _;
use serde::{Deserialize, Serialize};

use super::files::{self, MARKS, SNAPSHOTS, VERSIONS, file_of, seqs, snapshot_path};
use super::space::room_in;
use super::{FILE, Logged, Store, decoded, file_id};
use crate::model::event::Outcome;
use crate::model::held::Held;
use crate::nodes::Node;

impl Store {
    /// The store in `folder` of a model that rests, until [`Store::wake`].
    pub(crate) fn resting(folder: &Path) -> Self {
        Self { db: Held::none(), folder: folder.to_owned(), file: file_id(&folder.join(FILE)), link: None }
    }

    /// Opens the store in `folder`, and reads what other nodes have written if `node` has a log in common
    /// with them. With the number of the last event.
    /// Fails if its database is damaged, or the common log cannot be reached.
    pub(crate) fn reopen(folder: &Path, node: Option<&Arc<Node>>) -> Result<(Self, u64), Fault> {
        let mut store = Self::open(folder, false).map_err(|what| match room_in(folder) {
            Ok(()) => what,
            Err(full) => format!("{what}; {full}").into(),
        })?;
        let check = store.db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
        let check: String = check.map_err(|error| store.failed(&error))?;
        if check != "ok" {
            return Err(format!("{}: the database is damaged: {check}", store.path().display()).into());
        }
        store.link(node)?;
        store.catch_up()?;
        let failed = |error: rusqlite::Error| store.failed(&error);
        let last: Option<i64> =
            store.db.query_row("SELECT max(seq) FROM events", [], |row| row.get(0)).map_err(failed)?;
        let first: i64 = store
            .db
            .query_row("SELECT min(seq) FROM segments", [], |row| row.get::<_, Option<i64>>(0))
            .map_err(failed)?
            .ok_or_else(|| format!("{}: has no start", store.path().display()))?;
        Ok((store, last.unwrap_or(first).max(first) as u64))
    }

    /// Moves the states of events behind the `last` one of the log out of the way, with a sentence on each.
    /// The process may have died before the event was committed; or the log is an older copy, and then nobody
    /// else has what these states have learnt.
    ///
    /// # Errors
    /// If one cannot be moved.
    pub(crate) fn set_newer_aside(&self, last: u64) -> Result<Vec<String>, Fault> {
        let mut notes = Vec::new();
        for kind in [SNAPSHOTS, MARKS, VERSIONS] {
            for seq in seqs(&self.folder.join(kind))?.into_iter().filter(|seq| *seq > last) {
                let to = files::set_aside(&self.folder, kind, seq)?;
                notes.push(format!(
                    "{}: is newer than the log, which ends at event {last}, and was moved to {}: the log is an older copy, or the service ended while an event was written",
                    file_of(&self.folder, kind, seq).display(),
                    to.display()
                ));
            }
        }
        Ok(notes)
    }

    /// The event of the newest state that was moved out of the way, or 0.
    pub(crate) fn newest_aside(&self) -> u64 {
        files::newest_aside(&self.folder)
    }

    /// The states from which the events up to `last` may be applied again, the best first: the snapshots from
    /// the newest one on, and then the states at which the log starts or may start. It may be so short that
    /// it starts behind all snapshots.
    pub(crate) fn states(&self, last: u64) -> Result<Vec<(u64, PathBuf)>, Fault> {
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

    /// Calls `each` with the events after `seq`: the number and the time of each, and what it is.
    /// Fails if reading fails, or `each` does.
    pub(crate) fn each_after(
        &self,
        seq: u64,
        each: &mut dyn FnMut(u64, i64, Logged) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut events = self
            .db
            .prepare("SELECT seq, at, body, outcome FROM events WHERE seq > ? ORDER BY seq")
            .map_err(failed)?;
        let mut rows = events.query([seq as i64]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (seq, at): (i64, i64) = row.get(0).and_then(|seq| Ok((seq, row.get(1)?))).map_err(failed)?;
            each(seq as u64, at, decoded(row))?;
        }
        Ok(())
    }

    /// The number of labels at the beginning of the log, if it has a change of labels.
    pub(crate) fn labels_at_first(&self) -> Result<Option<u32>, Fault> {
        const FIRST: &str =
            "SELECT outcome FROM events WHERE body LIKE '{\"event\":\"labels\"%' ORDER BY seq LIMIT 1";
        let outcome: Option<Option<String>> =
            self.db.query_row(FIRST, [], |row| row.get(0)).optional().map_err(|error| self.failed(&error))?;
        let outcome = outcome.flatten().and_then(|text| serde_json::from_str::<Outcome>(&text).ok());
        Ok(outcome.and_then(|outcome| outcome.known))
    }
}

/// The event and the time of the newest snapshot in `folder`.
pub(crate) fn last_snapshot(folder: &Path) -> Option<(u64, SystemTime)> {
    let seq = files::snapshots(folder).ok()?.pop()?;
    Some((seq, std::fs::metadata(snapshot_path(folder, seq)).ok()?.modified().ok()?))
}

/// By what is known whether the files of a model are as they were when it was put away: of its database and
/// its newest snapshot, the size in bytes and the time of the last change, in nanoseconds since 1970.
#[derive(PartialEq, Serialize, Deserialize)]
pub(crate) struct Stamps([(u64, u64); 2]);

/// Those of the model in `folder`, which was put away after event `seq`; none where its newest snapshot is
/// another one, or its database has a write-ahead log: it is open, or was when its service was killed.
pub(crate) fn stamps(folder: &Path, seq: u64) -> Option<Stamps> {
    let database = folder.join(FILE);
    let is_open = std::fs::metadata(database.with_extension("sqlite-wal")).is_ok_and(|file| file.len() > 0);
    if is_open || files::snapshots(folder).ok()?.last() != Some(&seq) {
        return None;
    }
    let stamp = |path: &Path| {
        let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let changed = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some((file.len(), changed.as_nanos() as u64))
    };
    Some(Stamps([stamp(&database)?, stamp(&snapshot_path(folder, seq))?]))
}

/// The newest snapshot in `folder`.
/// Fails if there is none.
pub(crate) fn newest_snapshot(folder: &Path) -> Result<PathBuf, Fault> {
    let seq = files::snapshots(folder)?.pop();
    Ok(snapshot_path(folder, seq.ok_or_else(|| format!("{}: has no snapshot", folder.display()))?))
}
