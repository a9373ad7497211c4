//! What outlives the process: for every model a folder with a database of events, which is written ahead of
//! every answer, and snapshots. A model is its newest snapshot that is whole, and the events behind it, done
//! again.

use std::path::{Path, PathBuf};

use noregret::model::Archive;
use noregret_stream::save::file as model_file;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use crate::model::engine::Engine;
use crate::model::event::{Event, Outcome};
use crate::safety::limits::Limits;

/// The events of a model, and where its snapshots are.
pub(crate) struct Store {
    db: Connection,
    folder: PathBuf,
}

/// What is known of a decision that waits no more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Past {
    /// It was answered.
    Answered(f64),
    /// Its label was told.
    Labelled(serde_json::Value),
    /// Its time is over.
    Over,
}

/// A log from here on is one piece, which begins with this header.
pub(crate) struct Segment {
    pub(crate) seq: u64,
    pub(crate) header: String,
}

const FILE: &str = "events.sqlite";
const SNAPSHOTS: &str = "snapshots";
/// Models as they stood where the log can begin.
const MARKS: &str = "marks";
/// Models as they stood when that was asked for, and before another state took their place.
const VERSIONS: &str = "versions";
/// After so many pages of 4 KiB what was written ahead goes into the database: whoever waits meanwhile waits
/// for some milliseconds.
const CHECKPOINT: i64 = 256;
/// How many snapshots are kept that were made on the way.
const KEPT: usize = 4;
/// How many versions are kept that were asked for.
const MOST_VERSIONS: usize = 100;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, id TEXT, body TEXT NOT NULL, outcome TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS events_by_id ON events (id) WHERE id IS NOT NULL;
CREATE TABLE IF NOT EXISTS segments (seq INTEGER PRIMARY KEY, header TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS marks (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, header TEXT NOT NULL) STRICT;
";

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(db)
}

impl Store {
    /// Makes the folder of a new model, with its first snapshot: all of it or nothing.
    pub(crate) fn create(folder: &Path, engine: &Engine) -> Result<Self, String> {
        let hidden = folder
            .with_file_name(format!(".{}.new", folder.file_name().unwrap_or_default().to_string_lossy()));
        let failed =
            |what: &dyn std::fmt::Display| format!("{}: cannot be written: {what}", folder.display());
        if hidden.exists() {
            std::fs::remove_dir_all(&hidden).map_err(|error| failed(&error))?;
        }
        std::fs::create_dir_all(hidden.join(SNAPSHOTS)).map_err(|error| failed(&error))?;
        let make = || -> Result<(), String> {
            let mut store = Self::open(&hidden, true)?;
            store.write_snapshot(engine.standing.seq, &engine.snapshot())?;
            store.begin()?;
            let header = crate::model::log::header(engine, None)?;
            store.add_segment(engine.standing.seq, &header)?;
            store.commit()?;
            let Self { db, .. } = store;
            db.close().map_err(|(_, error)| failed(&error))
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

    fn open(folder: &Path, new: bool) -> Result<Self, String> {
        let path = folder.join(FILE);
        let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, new);
        let db = connect(&path, flags).map_err(failed)?;
        db.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        db.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT).map_err(failed)?;
        db.execute_batch(SCHEMA).map_err(failed)?;
        Ok(Self { db, folder: folder.to_owned() })
    }

    /// Opens a model: its newest snapshot that is whole, and the events behind it. What was said to be
    /// damaged comes with it.
    ///
    /// # Errors
    /// A sentence, where the state before the stop cannot be had again to the bit.
    pub(crate) fn recover(folder: &Path, limits: &Limits) -> Result<(Self, Engine, Vec<String>), String> {
        let store = Self::open(folder, false)?;
        let failed = |error: rusqlite::Error| format!("{}: {error}", store.path().display());
        let check: String =
            store.db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
        if check != "ok" {
            return Err(format!("{}: the database is damaged: {check}", store.path().display()));
        }
        let last: Option<i64> =
            store.db.query_row("SELECT max(seq) FROM events", [], |row| row.get(0)).map_err(failed)?;
        let first: i64 = store
            .db
            .query_row("SELECT min(seq) FROM segments", [], |row| row.get::<_, Option<i64>>(0))
            .map_err(failed)?
            .ok_or_else(|| format!("{}: has no beginning", store.path().display()))?;
        let last = last.unwrap_or(first).max(first) as u64;
        let mut notes = Vec::new();
        let mut failure = format!("{}: has no snapshot", folder.display());
        // Of events that were never committed, as for snapshots below.
        for kind in [MARKS, VERSIONS] {
            for seq in seqs(&folder.join(kind))?.into_iter().filter(|seq| *seq > last) {
                let path = file_of(folder, kind, seq);
                std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        for seq in store.snapshots()?.into_iter().rev() {
            let path = store.snapshot_path(seq);
            if seq > last {
                // It was made of events that were never committed: the process died between the two.
                notes.push(format!("{}: is beyond the log, and was removed", path.display()));
                std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                continue;
            }
            let loaded = model_file::read(&path).map_err(|error| error.to_string()).and_then(|archive| {
                Engine::from_snapshot(&archive, limits)
                    .map_err(|error| format!("{}: {error}", path.display()))
            });
            match loaded {
                Ok(mut engine) if engine.standing.seq == seq => {
                    match store.redo(&mut engine, last) {
                        Ok(()) => return Ok((store, engine, notes)),
                        Err(what) => failure = what,
                    }
                    break;
                }
                Ok(_) => failure = format!("{}: is of another moment than its name says", path.display()),
                Err(what) => failure = what,
            }
            notes.push(format!("{failure}; the one before it was taken"));
        }
        notes.push(failure);
        Err(notes.join("; "))
    }

    /// Does the events behind the snapshot again, and compares what they come to.
    fn redo(&self, engine: &mut Engine, last: u64) -> Result<(), String> {
        let failed = |error: rusqlite::Error| format!("{}: {error}", self.path().display());
        let mut events = self
            .db
            .prepare("SELECT seq, at, body, outcome FROM events WHERE seq > ? ORDER BY seq")
            .map_err(failed)?;
        let mut rows = events.query([engine.standing.seq as i64]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (seq, at): (i64, i64) = row.get(0).and_then(|seq| Ok((seq, row.get(1)?))).map_err(failed)?;
            let wrong = |what: &str| format!("{}: event {seq}: {what}", self.path().display());
            if seq as u64 != engine.standing.seq + 1 {
                return Err(wrong("the event before it is missing"));
            }
            let (event, outcome) = decoded(row).map_err(|what| wrong(&what))?;
            let (_, again) = engine.apply(at, &event).map_err(|refusal| wrong(&refusal.to_string()))?;
            if again != outcome {
                return Err(wrong(
                    "it comes to something else than it did: the log or the snapshot was changed",
                ));
            }
        }
        if engine.standing.seq != last {
            return Err(format!(
                "{}: the log ends at {}, not at {last}",
                self.path().display(),
                engine.standing.seq
            ));
        }
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    fn failed(&self, error: &rusqlite::Error) -> String {
        format!("{}: {error}", self.path().display())
    }

    /// Begins a group of events.
    pub(crate) fn begin(&mut self) -> Result<(), String> {
        self.db.execute_batch("BEGIN IMMEDIATE").map_err(|error| self.failed(&error))
    }

    /// Makes the group durable: afterwards no crash can undo it.
    pub(crate) fn commit(&mut self) -> Result<(), String> {
        self.db.execute_batch("COMMIT").map_err(|error| self.failed(&error))
    }

    /// Gives up the group.
    pub(crate) fn roll_back(&mut self) {
        // Where SQLite has done it already, this fails, and that is fine.
        let _ = self.db.execute_batch("ROLLBACK");
    }

    /// Adds an event to the group.
    pub(crate) fn append(
        &mut self,
        seq: u64,
        at: i64,
        event: &Event,
        outcome: &Outcome,
    ) -> Result<(), String> {
        let body = serde_json::to_string(event).map_err(|error| error.to_string())?;
        let outcome = if *outcome == Outcome::default() {
            None
        } else {
            Some(serde_json::to_string(outcome).map_err(|error| error.to_string())?)
        };
        let mut insert = self
            .db
            .prepare_cached("INSERT INTO events (seq, at, id, body, outcome) VALUES (?, ?, ?, ?, ?)")
            .map_err(|error| self.failed(&error))?;
        let done = insert.execute(params![seq as i64, at, event.id(), body, outcome]);
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// The log from `seq` on begins with `header`.
    pub(crate) fn add_segment(&mut self, seq: u64, header: &str) -> Result<(), String> {
        let done = self.db.execute(
            "INSERT OR REPLACE INTO segments (seq, header) VALUES (?, ?)",
            params![seq as i64, header],
        );
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// Forgets the events up to `seq`, from which a snapshot and a segment go on.
    pub(crate) fn forget(&mut self, seq: u64) -> Result<(), String> {
        let done = self
            .db
            .execute("DELETE FROM events WHERE seq <= ?", [seq as i64])
            .and_then(|_| self.db.execute("DELETE FROM segments WHERE seq < ?", [seq as i64]))
            .and_then(|_| self.db.execute("DELETE FROM marks", []));
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// The log begins anew behind event `seq` with `header`; the model as it stood then is kept.
    pub(crate) fn begin_log(&mut self, seq: u64, header: &str, archive: &Archive) -> Result<(), String> {
        self.keep(MARKS, seq, archive)?;
        self.add_segment(seq, header)
    }

    /// Keeps the model as it stands, until so many others were kept that it is the oldest.
    pub(crate) fn keep_version(&self, seq: u64, archive: &Archive) -> Result<(), String> {
        self.keep(VERSIONS, seq, archive)?;
        remove_old(&self.folder, VERSIONS, MOST_VERSIONS)
    }

    fn keep(&self, kind: &str, seq: u64, archive: &Archive) -> Result<(), String> {
        let path = self.folder.join(kind);
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        model_file::write(archive, &file_of(&self.folder, kind, seq)).map_err(|error| error.to_string())
    }

    /// Marks event `seq`, at which the log can begin with `header`, and keeps the model as it stood then.
    pub(crate) fn mark(&self, seq: u64, at: i64, header: &str, archive: &Archive) -> Result<(), String> {
        self.keep(MARKS, seq, archive)?;
        let done = self.db.execute(
            "INSERT OR REPLACE INTO marks (seq, at, header) VALUES (?, ?, ?)",
            params![seq as i64, at, header],
        );
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// The marks, the oldest first, with their times.
    pub(crate) fn marks(&self) -> Result<Vec<(u64, i64)>, String> {
        let read = || -> rusqlite::Result<Vec<(u64, i64)>> {
            let mut of = self.db.prepare("SELECT seq, at FROM marks ORDER BY seq")?;
            of.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))?.collect()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// The log begins at the mark `seq`, and knows nothing of what was before.
    pub(crate) fn begin_at_mark(&mut self, seq: u64) -> Result<(), String> {
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
        for old in seqs(&self.folder.join(MARKS))?.into_iter().filter(|old| *old < seq) {
            // What cannot be removed is no harm.
            let _ = std::fs::remove_file(file_of(&self.folder, MARKS, old));
        }
        Ok(())
    }

    /// Removes some of the events before the log begins: a few thousand, so that nobody waits for long.
    pub(crate) fn forget_some(&self) -> Result<(), String> {
        let done = self.db.execute(
            "DELETE FROM events WHERE seq <= (SELECT min(seq) FROM segments) AND seq < (SELECT min(seq) FROM events) + 5000",
            [],
        );
        done.map(drop).map_err(|error| self.failed(&error))
    }

    /// What became of the decision `id`, which does not wait; `None` if there never was one.
    pub(crate) fn past(&self, id: &str) -> Result<Option<Past>, String> {
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
            // A slot has no line of its own.
            (None, Some((event, slot))) => match self.decided(event)? {
                Some((Event::Decide(decide), _)) if decide.slots.iter().any(|one| one.id == slot) => {
                    Ok(Some(Past::Over))
                }
                _ => Ok(None),
            },
            (mine, _) => Ok(mine),
        }
    }

    /// The decision `id` as it was taken.
    pub(crate) fn decided(&self, id: &str) -> Result<Option<(Event, Outcome)>, String> {
        let look = || -> rusqlite::Result<Option<Result<(Event, Outcome), String>>> {
            let mut of = self.db.prepare_cached(
                "SELECT seq, at, body, outcome FROM events WHERE id = ? ORDER BY seq LIMIT 1",
            )?;
            of.query_row([id], |row| Ok(decoded(row))).optional()
        };
        look().map_err(|error| self.failed(&error))?.transpose()
    }

    /// The moments of the snapshots that are there, the oldest first.
    pub(crate) fn snapshots(&self) -> Result<Vec<u64>, String> {
        snapshots(&self.folder)
    }

    fn snapshot_path(&self, seq: u64) -> PathBuf {
        snapshot_path(&self.folder, seq)
    }

    /// Writes the snapshot of moment `seq`, and removes old ones.
    pub(crate) fn write_snapshot(&self, seq: u64, archive: &Archive) -> Result<(), String> {
        write_snapshot(&self.folder, seq, archive)
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

fn decoded(row: &rusqlite::Row<'_>) -> Result<(Event, Outcome), String> {
    let text = |column: usize| row.get::<_, Option<String>>(column).map_err(|error| error.to_string());
    let body = text(2)?.unwrap_or_default();
    let event: Event = serde_json::from_str(&body).map_err(|error| format!("is no event: {error}"))?;
    let outcome = match text(3)? {
        None => Outcome::default(),
        Some(text) => serde_json::from_str(&text).map_err(|error| format!("has no outcome: {error}"))?,
    };
    Ok((event, outcome))
}

fn file_of(folder: &Path, kind: &str, seq: u64) -> PathBuf {
    folder.join(kind).join(format!("{seq:020}.safetensors"))
}

fn snapshot_path(folder: &Path, seq: u64) -> PathBuf {
    file_of(folder, SNAPSHOTS, seq)
}

/// Writes a snapshot, and removes those that are older than the last few.
pub(crate) fn write_snapshot(folder: &Path, seq: u64, archive: &Archive) -> Result<(), String> {
    model_file::write(archive, &snapshot_path(folder, seq)).map_err(|error| error.to_string())?;
    remove_old(folder, SNAPSHOTS, KEPT)
}

/// Removes all but the newest `most`.
fn remove_old(folder: &Path, kind: &str, most: usize) -> Result<(), String> {
    let all = seqs(&folder.join(kind))?;
    for old in &all[..all.len().saturating_sub(most)] {
        // What cannot be removed is no harm.
        let _ = std::fs::remove_file(file_of(folder, kind, *old));
    }
    Ok(())
}

/// Reads the version of moment `seq`.
pub(crate) fn read_version(folder: &Path, seq: u64) -> Result<Archive, String> {
    let path =
        [VERSIONS, SNAPSHOTS].map(|kind| file_of(folder, kind, seq)).into_iter().find(|path| path.exists());
    model_file::read(&path.unwrap_or_else(|| file_of(folder, MARKS, seq))).map_err(|error| error.to_string())
}

/// The moments that one can go back to, the oldest first: what was kept, snapshots, and where the log can
/// begin.
pub(crate) fn versions(folder: &Path) -> Result<Vec<u64>, String> {
    let mut all = snapshots(folder)?;
    all.extend(seqs(&folder.join(MARKS))?);
    all.extend(seqs(&folder.join(VERSIONS))?);
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// The moments of the snapshots in `folder`, the oldest first.
pub(crate) fn snapshots(folder: &Path) -> Result<Vec<u64>, String> {
    seqs(&folder.join(SNAPSHOTS))
}

fn seqs(folder: &Path) -> Result<Vec<u64>, String> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| format!("{}: cannot be read: {error}", folder.display()))?,
    };
    let seq = |entry: std::fs::DirEntry| {
        entry.file_name().to_str()?.strip_suffix(".safetensors")?.parse::<u64>().ok()
    };
    let mut found: Vec<u64> = entries.filter_map(|entry| seq(entry.ok()?)).collect();
    found.sort_unstable();
    Ok(found)
}

/// Reads events of the folder while its model goes on: the last segment's header, then every event behind it.
pub(crate) fn read_log(
    folder: &Path,
    begin: &mut dyn FnMut(&Segment) -> Result<(), String>,
    each: &mut dyn FnMut(i64, Event, Outcome) -> Result<bool, String>,
) -> Result<(), String> {
    let path = folder.join(FILE);
    let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let segment = db
        .query_row("SELECT seq, header FROM segments ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok(Segment { seq: row.get::<_, i64>(0)? as u64, header: row.get(1)? })
        })
        .map_err(failed)?;
    begin(&segment)?;
    let mut events =
        db.prepare("SELECT seq, at, body, outcome FROM events WHERE seq > ? ORDER BY seq").map_err(failed)?;
    let mut rows = events.query([segment.seq as i64]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let at: i64 = row.get(1).map_err(failed)?;
        let (event, outcome) = decoded(row).map_err(|what| format!("{}: {what}", path.display()))?;
        if !each(at, event, outcome)? {
            break;
        }
    }
    Ok(())
}

/// What happened to a model, read while it goes on.
pub(crate) struct Tail {
    db: Connection,
    path: PathBuf,
}

impl Tail {
    /// Of the model in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, String> {
        let path = folder.join(FILE);
        let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { db, path })
    }

    /// The first events behind `seq`, at most `most`.
    pub(crate) fn after(&self, seq: u64, most: u32) -> Result<Vec<(u64, Event, Outcome)>, String> {
        let failed = |error: rusqlite::Error| format!("{}: {error}", self.path.display());
        let mut of = self
            .db
            .prepare_cached("SELECT seq, at, body, outcome FROM events WHERE seq > ? ORDER BY seq LIMIT ?")
            .map_err(failed)?;
        let mut rows = of.query(params![seq as i64, most]).map_err(failed)?;
        let mut events = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let seq: i64 = row.get(0).map_err(failed)?;
            let (event, outcome) = decoded(row).map_err(|what| format!("{}: {what}", self.path.display()))?;
            events.push((seq as u64, event, outcome));
        }
        Ok(events)
    }
}

/// The decision `id` as it was taken, read while its model goes on.
pub(crate) fn decided(folder: &Path, id: &str) -> Result<Option<(Event, Outcome)>, String> {
    let path = folder.join(FILE);
    let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let mut of = db
        .prepare("SELECT seq, at, body, outcome FROM events WHERE id = ? ORDER BY seq LIMIT 1")
        .map_err(failed)?;
    of.query_row([id], |row| Ok(decoded(row))).optional().map_err(failed)?.transpose()
}

/// How many events there are in the last segment, when the first and the last of them happened, and the bytes
/// of the database.
pub(crate) fn log_properties(folder: &Path) -> Result<(u64, Option<i64>, Option<i64>, u64), String> {
    let path = folder.join(FILE);
    let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let (count, first, last): (i64, Option<i64>, Option<i64>) = db
        .query_row("SELECT count(*), min(at), max(at) FROM events", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .map_err(failed)?;
    let bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
    Ok((count as u64, first, last, bytes))
}

/// Writes a copy of the database and the newest snapshots to `target`, while the model goes on.
pub(crate) fn back_up(folder: &Path, target: &Path) -> Result<(), String> {
    let failed = |what: &dyn std::fmt::Display| format!("{}: cannot be written: {what}", target.display());
    // Snapshots first: the database that is copied afterwards has all events that they know.
    for kind in [SNAPSHOTS, MARKS, VERSIONS] {
        std::fs::create_dir_all(target.join(kind)).map_err(|error| failed(&error))?;
        for seq in seqs(&folder.join(kind))? {
            match std::fs::copy(file_of(folder, kind, seq), file_of(target, kind, seq)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(&error)),
                _ => {}
            }
        }
    }
    let db = connect(&folder.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| failed(&error))?;
    let mut copy = Connection::open(target.join(FILE)).map_err(|error| failed(&error))?;
    let backup = rusqlite::backup::Backup::new(&db, &mut copy).map_err(|error| failed(&error))?;
    backup.run_to_completion(256, std::time::Duration::ZERO, None).map_err(|error| failed(&error))
}
