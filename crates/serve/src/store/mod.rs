//! Durable storage: for every model a folder with snapshots and a database of events, committed
//! before every answer.

mod files;
mod linked;
mod reading;
mod space;
mod states;

use std::path::{Path, PathBuf};

use noregret::model::Archive;
use noregret_stream::Fault;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use self::files::{MARKS, MOST_VERSIONS, SNAPSHOTS, VERSIONS, file_of, remove_old};
use self::linked::Link;
use crate::model::event::{Event, Outcome};
use crate::model::held::Held;
use crate::model::spec::Spec;
use crate::nodes::{Line, State};

pub(crate) use self::files::{read_version, sync_all, versions, write_snapshot};
pub(crate) use self::linked::{prepare, remove, set_aside};
pub(crate) use self::reading::{Span, Tail, back_up, decided, event_times, read_log, shadowed_by};
pub(crate) use self::states::{Stamps, last_snapshot, newest_snapshot, stamps};

/// The events of a model, and the folder of its snapshots.
pub(crate) struct Store {
    /// Open, it takes files and memory.
    db: Held<Connection>,
    folder: PathBuf,
    /// The database that is open, as the system knows it: at its path there may be another one by now.
    file: Option<FileId>,
    /// The log that several nodes have in common, if they do.
    link: Option<Link>,
}

/// By which a system knows a file, wherever it is moved.
type FileId = (u64, u64);

/// The file at `path`.
#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Unknown on other systems, which do not let open files be moved.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}

/// The end of a decision that is no longer pending.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Past {
    /// It has feedback.
    Answered(f64),
    /// It has its label.
    Labelled(serde_json::Value),
    /// Its waiting time is over.
    Over,
}

/// An event of the log with its outcome, or why it cannot be read.
pub(crate) type Logged = Result<(Event, Outcome), Fault>;

/// Start of a segment of the log, with its header.
pub(crate) struct Segment {
    pub(crate) seq: u64,
    pub(crate) header: String,
}

const FILE: &str = "events.sqlite";
/// Number of pages of 4 KiB after which the write-ahead log is checkpointed, which takes some
/// milliseconds.
const CHECKPOINT: i64 = 256;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, id TEXT, body TEXT NOT NULL, outcome TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS events_by_id ON events (id) WHERE id IS NOT NULL;
CREATE TABLE IF NOT EXISTS segments (seq INTEGER PRIMARY KEY, header TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS spec (one INTEGER PRIMARY KEY CHECK (one = 1), body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS marks (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, header TEXT NOT NULL) STRICT;
";

/// The last event, or where the log begins.
const TOP: &str = "SELECT max(coalesce((SELECT max(seq) FROM events), 0), (SELECT min(seq) FROM segments))";

/// Says that the model was made from a file.
const FROM_FILE: &str = "CREATE TABLE from_file (one INTEGER PRIMARY KEY) STRICT";
/// By this table a model is known whose missing numbers are means; in those of earlier programs they are 0.
const FILLS_MISSING: &str = "CREATE TABLE fills_missing (one INTEGER PRIMARY KEY) STRICT";

/// The version of the database: 0 in folders of 0.2.0, which lack the table of the spec.
const VERSION: i64 = 1;

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(db)
}

impl Store {
    /// Atomically makes the folder of a model with the settings `spec` whose state after event `seq` is
    /// `first`, and whose log begins there with `header`. A model that is not new has learnt what is not in
    /// its log.
    pub(crate) fn create(
        folder: &Path,
        is_new: bool,
        spec: &Spec,
        seq: u64,
        first: &Archive,
        header: &str,
    ) -> Result<Self, Fault> {
        let hidden = folder
            .with_file_name(format!(".{}.new", folder.file_name().unwrap_or_default().to_string_lossy()));
        let failed = |what: &dyn std::fmt::Display| {
            Fault::from(format!("{}: cannot be written: {what}", folder.display()))
        };
        if hidden.exists() {
            std::fs::remove_dir_all(&hidden).map_err(|error| failed(&error))?;
        }
        std::fs::create_dir_all(hidden.join(SNAPSHOTS)).map_err(|error| failed(&error))?;
        let make = || -> Result<(), Fault> {
            let mut store = Self::open(&hidden, true)?;
            store.write_snapshot(seq, first)?;
            store.begin()?;
            store.add_segment(seq, header)?;
            store.keep_spec(spec)?;
            store.db.execute_batch(FILLS_MISSING).map_err(|error| failed(&error))?;
            if !is_new {
                store.db.execute_batch(FROM_FILE).map_err(|error| failed(&error))?;
            }
            store.commit()?;
            store.close()
        };
        let made = make().and_then(|()| {
            std::fs::rename(&hidden, folder).map_err(|error| failed(&error))?;
            let parent = folder.parent().unwrap_or(Path::new("."));
            std::fs::File::open(parent).and_then(|dir| dir.sync_all()).map_err(|error| failed(&error))
        });
        if made.is_err() {
            let _ = std::fs::remove_dir_all(&hidden);
        }
        made.and_then(|()| Self::open(folder, false))
    }

    fn open(folder: &Path, new: bool) -> Result<Self, Fault> {
        let db = Held::new(Self::open_file(folder, new)?);
        Ok(Self { db, folder: folder.to_owned(), file: file_id(&folder.join(FILE)), link: None })
    }

    /// Closes the store of a hidden folder, and makes it durable.
    fn close(self) -> Result<(), Fault> {
        let Self { db, folder, .. } = self;
        let failed = |path: &Path, what: &dyn std::fmt::Display| {
            Fault::from(format!("{}: cannot be written: {what}", path.display()))
        };
        if let Some(db) = db.into_inner() {
            db.close().map_err(|(_, error)| failed(&folder, &error))?;
        }
        for path in [&folder.join(FILE), &folder] {
            let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
            synced.map_err(|error| failed(path, &error))?;
        }
        Ok(())
    }

    fn open_file(folder: &Path, new: bool) -> Result<Connection, Fault> {
        let path = folder.join(FILE);
        let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, new);
        let db = connect(&path, flags).map_err(failed)?;
        let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
        if version > VERSION {
            return Err(format!(
                "{}: has version {version}, and this program reads up to {VERSION}: use a newer one",
                path.display()
            )
            .into());
        }
        // A new one is in a hidden folder until it is closed, and waits for the disk once, then.
        db.pragma_update(None, "synchronous", if new { "OFF" } else { "FULL" }).map_err(failed)?;
        db.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT).map_err(failed)?;
        if version < VERSION {
            db.execute_batch(SCHEMA).map_err(failed)?;
            db.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        }
        Ok(db)
    }

    /// The path of the database.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Whether the open database is still the one at its path: what is written to one that was moved or
    /// replaced is lost.
    pub(crate) fn is_there(&self) -> bool {
        file_id(&self.path()) == self.file
    }

    fn failed(&self, error: &rusqlite::Error) -> Fault {
        format!("{}: {error}", self.path().display()).into()
    }

    /// Closes the database, until [`Store::wake`].
    pub(crate) fn rest(&mut self) {
        self.db.rest();
    }

    /// Opens the database again.
    pub(crate) fn wake(&mut self) -> Result<(), Fault> {
        self.db = Held::new(Self::open_file(&self.folder, false)?);
        self.file = file_id(&self.path());
        Ok(())
    }

    /// Starts a transaction.
    pub(crate) fn begin(&mut self) -> Result<(), Fault> {
        self.db.execute_batch("BEGIN IMMEDIATE").map_err(|error| self.failed(&error))
    }

    /// Commits the transaction durably; where nodes have a log in common, there first.
    pub(crate) fn commit(&mut self) -> Result<(), Fault> {
        if let Some(link) = &mut self.link {
            link.commit()?;
        }
        self.db.execute_batch("COMMIT").map_err(|error| self.failed(&error))
    }

    /// Rolls the transaction back.
    pub(crate) fn roll_back(&mut self) {
        if let Some(link) = &mut self.link {
            link.group = Default::default();
        }
        // Fails if SQLite has already rolled back, which is ignored.
        let _ = self.db.execute_batch("ROLLBACK");
    }

    /// Adds an event to the transaction.
    pub(crate) fn append(
        &mut self,
        seq: u64,
        at: i64,
        event: &Event,
        outcome: &Outcome,
    ) -> Result<(), Fault> {
        let body = serde_json::to_string(event).map_err(|error| error.to_string())?;
        let outcome = if *outcome == Outcome::default() {
            None
        } else {
            Some(serde_json::to_string(outcome).map_err(|error| error.to_string())?)
        };
        let line = Line { seq, at, body, outcome };
        self.put_line(&line, event.id())?;
        if let Some(link) = &mut self.link {
            link.group.lines.push(line);
        }
        Ok(())
    }

    /// Writes an event that is about the decision or row `id`.
    fn put_line(&self, Line { seq, at, body, outcome }: &Line, id: Option<&str>) -> Result<(), Fault> {
        let mut insert = self
            .db
            .prepare_cached("INSERT INTO events (seq, at, id, body, outcome) VALUES (?, ?, ?, ?, ?)")
            .map_err(|error| self.failed(&error))?;
        let done = insert.execute(params![*seq as i64, at, id, body, outcome]);
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// Keeps the settings of the model beside its log, so that it can be made again without a snapshot.
    pub(crate) fn keep_spec(&mut self, spec: &Spec) -> Result<(), Fault> {
        let body = serde_json::to_string(spec).map_err(|error| error.to_string())?;
        self.put_spec(&body)?;
        if let Some(link) = &mut self.link {
            link.group.spec = Some(body);
        }
        Ok(())
    }

    fn put_spec(&self, body: &str) -> Result<(), Fault> {
        let done = self.db.execute("INSERT OR REPLACE INTO spec (one, body) VALUES (1, ?)", [body]);
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// The settings of the model, if they are kept.
    pub(crate) fn spec(&self) -> Result<Option<Spec>, Fault> {
        let body: Option<String> = self
            .db
            .query_row("SELECT body FROM spec", [], |row| row.get(0))
            .optional()
            .map_err(|error| self.failed(&error))?;
        body.map(|body| serde_json::from_str(&body).map_err(|error| error.to_string().into())).transpose()
    }

    /// Whether the model was made from a file, which is not part of its log.
    pub(crate) fn is_from_file(&self) -> Result<bool, Fault> {
        self.has_table("from_file")
    }

    /// Whether the missing numbers of a model that is made again are means.
    pub(crate) fn fills_missing(&self) -> Result<bool, Fault> {
        self.has_table("fills_missing")
    }

    fn has_table(&self, name: &str) -> Result<bool, Fault> {
        let found = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?)";
        self.db.query_row(found, [name], |row| row.get(0)).map_err(|error| self.failed(&error))
    }

    /// Starts a segment of the log at `seq` with `header`.
    fn add_segment(&self, seq: u64, header: &str) -> Result<(), Fault> {
        let done = self.db.execute(
            "INSERT OR REPLACE INTO segments (seq, header) VALUES (?, ?)",
            params![seq as i64, header],
        );
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// Removes the events up to `seq`, where a snapshot and a segment start.
    pub(crate) fn forget(&mut self, seq: u64) -> Result<(), Fault> {
        if let Some(link) = &mut self.link {
            link.group.forgotten = Some(seq);
        }
        self.forget_until(seq)
    }

    fn forget_until(&self, seq: u64) -> Result<(), Fault> {
        let done = self
            .db
            .execute("DELETE FROM events WHERE seq <= ?", [seq as i64])
            .and_then(|_| self.db.execute("DELETE FROM segments WHERE seq < ?", [seq as i64]))
            .and_then(|_| self.db.execute("DELETE FROM marks", []));
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// The same where the log goes on from a model that was made again, in a transaction of its own.
    pub(crate) fn begin_again(&mut self, seq: u64, header: &str, archive: &Archive) -> Result<(), Fault> {
        self.write_snapshot(seq, archive)?;
        self.begin()?;
        let begun = self.begin_log(seq, header, archive).and_then(|()| self.commit());
        begun.inspect_err(|_| self.roll_back())
    }

    /// Starts a new log after event `seq` with `header`, and keeps the model's state there.
    pub(crate) fn begin_log(&mut self, seq: u64, header: &str, archive: &Archive) -> Result<(), Fault> {
        self.keep(MARKS, seq, archive)?;
        if let Some(link) = &mut self.link {
            let (header, file) = (Some(header.to_owned()), Some(archive.to_bytes()));
            link.group.states.push(State { seq, header, file });
        }
        self.add_segment(seq, header)
    }

    /// Removes the files of the state after event `seq`, which was not committed: the next event has this
    /// number, and would be recovered from them.
    pub(crate) fn forget_state(&self, seq: u64) {
        for kind in [SNAPSHOTS, MARKS] {
            let path = file_of(&self.folder, kind, seq);
            let removed = std::fs::remove_file(&path);
            if let Err(error) = removed.or_else(|error| if path.is_file() { Err(error) } else { Ok(()) }) {
                tracing::error!("{}: cannot be removed: {error}", path.display());
            }
        }
    }

    /// Saves the present state as a version; the oldest beyond the limit is removed.
    pub(crate) fn keep_version(&self, seq: u64, archive: &Archive) -> Result<(), Fault> {
        self.keep(VERSIONS, seq, archive)?;
        remove_old(&self.folder, VERSIONS, MOST_VERSIONS)
    }

    fn keep(&self, kind: &str, seq: u64, archive: &Archive) -> Result<(), Fault> {
        files::keep(&self.folder, kind, seq, archive)
    }

    /// Marks event `seq`, at which the log can start with `header`, and keeps the model's state
    /// there.
    pub(crate) fn mark(&self, seq: u64, at: i64, header: &str, archive: &Archive) -> Result<(), Fault> {
        self.keep(MARKS, seq, archive)?;
        let done = self.db.execute(
            "INSERT OR REPLACE INTO marks (seq, at, header) VALUES (?, ?, ?)",
            params![seq as i64, at, header],
        );
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// The marks, the oldest first, with their times.
    pub(crate) fn marks(&self) -> Result<Vec<(u64, i64)>, Fault> {
        let read = || -> rusqlite::Result<Vec<(u64, i64)>> {
            let mut of = self.db.prepare("SELECT seq, at FROM marks ORDER BY seq")?;
            of.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))?.collect()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// Truncates the log, which then starts at the mark `seq`.
    pub(crate) fn begin_at_mark(&mut self, seq: u64) -> Result<(), Fault> {
        self.begin_there(seq)?;
        let mut begin = || -> rusqlite::Result<()> {
            let group = self.db.transaction()?;
            group.execute(
                "INSERT OR REPLACE INTO segments (seq, header) SELECT seq, header FROM marks WHERE seq = ?",
                [seq as i64],
            )?;
            group.execute("DELETE FROM segments WHERE seq < ?", [seq as i64])?;
            group.execute("DELETE FROM marks WHERE seq <= ?", [seq as i64])?;
            group.commit()
        };
        begin().map_err(|error| self.failed(&error))?;
        self.remove_before(seq);
        Ok(())
    }

    /// See [`files::remove_before`]; requested versions stay.
    pub(crate) fn remove_before(&self, seq: u64) {
        files::remove_before(&self.folder, seq);
    }

    /// Removes a few thousand of the events before the start of the log, which takes little time.
    pub(crate) fn forget_some(&self) -> Result<(), Fault> {
        let done = self.db.execute(
            "DELETE FROM events WHERE seq <= (SELECT min(seq) FROM segments) AND seq < (SELECT min(seq) FROM events) + 5000",
            [],
        );
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// Whether there are events before the start of the log, which [`Store::forget_some`] removes.
    pub(crate) fn is_forgetting(&self) -> Result<bool, Fault> {
        let before = "SELECT EXISTS (SELECT 1 FROM events WHERE seq <= (SELECT min(seq) FROM segments))";
        self.db.query_row(before, [], |row| row.get(0)).map_err(|error| self.failed(&error))
    }

    /// Number of bytes of the events after `seq`.
    pub(crate) fn bytes_after(&self, seq: u64) -> Result<u64, Fault> {
        let sum =
            "SELECT total(octet_length(body) + coalesce(octet_length(outcome), 0)) FROM events WHERE seq > ?";
        let bytes = self.db.query_row(sum, [seq as i64], |row| row.get::<_, f64>(0));
        bytes.map(|bytes| bytes as u64).map_err(|error| self.failed(&error))
    }

    /// The end of the decision `id`, which is not pending; `None` if it does not exist.
    pub(crate) fn past(&self, id: &str) -> Result<Option<Past>, Fault> {
        let look = || -> rusqlite::Result<Option<Past>> {
            let mut of = self.db.prepare_cached("SELECT body FROM events WHERE id = ? ORDER BY seq DESC")?;
            let mut known = false;
            let mut rows = of.query([id])?;
            while let Some(row) = rows.next()? {
                let body: String = row.get(0)?;
                match serde_json::from_str::<Event>(&body) {
                    Ok(Event::Feedback { reward, .. }) => return Ok(Some(Past::Answered(reward))),
                    Ok(Event::Label { y, .. }) => return Ok(Some(Past::Labelled(y))),
                    _ => known = true,
                }
            }
            Ok(known.then_some(Past::Over))
        };
        let mine = look().map_err(|error| self.failed(&error))?;
        match (mine, id.rsplit_once('/')) {
            // Slots have no separate entries.
            (None, Some((event, slot))) => match self.decided(event)? {
                Some((Event::Decide(decide), _)) if decide.slots.iter().any(|one| one.id == slot) => {
                    Ok(Some(Past::Over))
                }
                _ => Ok(None),
            },
            (mine, _) => Ok(mine),
        }
    }

    /// The logged decision `id`.
    pub(crate) fn decided(&self, id: &str) -> Result<Option<(Event, Outcome)>, Fault> {
        let look = || -> rusqlite::Result<Option<Logged>> {
            let mut of = self.db.prepare_cached(
                "SELECT seq, at, body, outcome FROM events WHERE id = ? ORDER BY seq LIMIT 1",
            )?;
            of.query_row([id], |row| Ok(decoded(row))).optional()
        };
        look().map_err(|error| self.failed(&error))?.transpose()
    }

    /// The event numbers of the snapshots, the oldest first.
    pub(crate) fn snapshots(&self) -> Result<Vec<u64>, Fault> {
        files::snapshots(&self.folder)
    }

    /// Writes the snapshot of event `seq`, and removes old ones.
    pub(crate) fn write_snapshot(&self, seq: u64, archive: &Archive) -> Result<(), Fault> {
        write_snapshot(&self.folder, seq, archive)
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

fn decoded(row: &rusqlite::Row<'_>) -> Logged {
    let text = |column: usize| row.get::<_, Option<String>>(column).map_err(|error| error.to_string());
    let body = text(2)?.unwrap_or_default();
    let event: Event = serde_json::from_str(&body).map_err(|error| format!("is not an event: {error}"))?;
    let outcome = match text(3)? {
        None => Outcome::default(),
        Some(text) => serde_json::from_str(&text).map_err(|error| format!("has no outcome: {error}"))?,
    };
    Ok((event, outcome))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::engine::Engine;
    use crate::safety::limits::Limits;

    /// Only what is hidden is written without waiting for the disk.
    #[test]
    fn what_is_committed_is_durable() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path().join("m");
        let spec: Spec = serde_json::from_value(json!({"learner": "ogd"})).expect("a spec");
        let engine = Engine::new(spec, &Limits::default()).expect("a model");
        let store = Store::create(&folder, true, engine.spec(), 0, &engine.snapshot(), "");
        let mut store = store.expect("a store");
        for _ in 0..2 {
            let how = store.db.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0));
            assert_eq!(how.expect("a number"), 2, "FULL");
            store.rest();
            store.wake().expect("it opens again");
        }
        assert!(!temporary.path().join(".m.new").exists());
    }
}
