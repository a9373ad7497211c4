//! Reading the events of a model while it runs, on connections of their own.

use std::path::{Path, PathBuf};

use noregret_stream::Fault;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use super::files::{MARKS, SNAPSHOTS, VERSIONS, file_of, seqs};
use super::{FILE, FileId, Logged, Segment, TOP, connect, decoded, file_id};
use crate::model::event::{Event, Outcome};
use crate::model::spec::Spec;

/// Which events of a log are read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Span {
    /// Those of the last segment.
    LastSegment,
    /// All that are kept, in all segments.
    Kept,
}

/// Reads a log while its model runs: every event of the `span`, and before those of a segment its header.
/// That of the first one comes also if it has no events.
pub(crate) fn read_log(
    folder: &Path,
    span: Span,
    begin: &mut dyn FnMut(&Segment) -> Result<(), Fault>,
    each: &mut dyn FnMut(i64, Event, Outcome) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let path = folder.join(FILE);
    let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let mut segments = segments(&db, span).map_err(failed)?.into_iter().peekable();
    let first = segments.next().ok_or_else(|| format!("{}: the log has no beginning", path.display()))?;
    begin(&first)?;
    in_pieces(&db, &path, first.seq as i64, &mut |seq, at, logged| {
        while let Some(next) = segments.next_if(|next| next.seq < seq as u64) {
            begin(&next)?;
        }
        let (event, outcome) = logged.map_err(|what| format!("{}: {what}", path.display()))?;
        each(at, event, outcome)
    })
}

/// Calls `each` with the number, the time and the rest of every event after `seq`, up to the one that is the
/// last now, until it returns false. Nothing is held while it is called: for one that takes its time, the
/// write-ahead log would keep all that is written meanwhile.
fn in_pieces(
    db: &Connection,
    path: &Path,
    seq: i64,
    each: &mut dyn FnMut(i64, i64, Logged) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    const PIECE: i64 = 1 << 20;
    const EVENTS: &str = "SELECT seq, at, body, outcome, octet_length(body) FROM events
        WHERE seq > ? AND seq <= ? ORDER BY seq";
    let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let last = db.query_row("SELECT coalesce(max(seq), 0) FROM events", [], |row| row.get::<_, i64>(0));
    let (mut before, last) = (seq, last.map_err(failed)?);
    let mut events = db.prepare(EVENTS).map_err(failed)?;
    while before < last {
        let (mut piece, mut bytes) = (Vec::new(), 0);
        let mut rows = events.query([before, last]).map_err(failed)?;
        while bytes < PIECE
            && let Some(row) = rows.next().map_err(failed)?
        {
            let number = |column: usize| row.get::<_, i64>(column).map_err(failed);
            bytes += number(4)?;
            piece.push((number(0)?, number(1)?, decoded(row)));
        }
        drop(rows);
        let begins = piece.first().map(|(next, ..)| *next);
        if begins.is_none_or(|next| before > seq && next != before + 1) {
            return Err(format!("{}: was shortened while it was read", path.display()).into());
        }
        for (number, at, logged) in piece {
            if !each(number, at, logged)? {
                return Ok(());
            }
            before = number;
        }
    }
    Ok(())
}

/// The segments of a span, the oldest first.
fn segments(db: &Connection, span: Span) -> rusqlite::Result<Vec<Segment>> {
    let of = match span {
        Span::LastSegment => "seq = (SELECT max(seq) FROM segments)",
        Span::Kept => "true",
    };
    let mut found = db.prepare(&format!("SELECT seq, header FROM segments WHERE {of} ORDER BY seq"))?;
    let segment =
        |row: &rusqlite::Row<'_>| Ok(Segment { seq: row.get::<_, i64>(0)? as u64, header: row.get(1)? });
    found.query_map([], segment)?.collect()
}

/// Reads the events of a running model.
pub(crate) struct Tail {
    db: Connection,
    path: PathBuf,
    /// The file that is open, see [`Store`](super::Store).
    file: Option<FileId>,
}

impl Tail {
    /// For the model in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, Fault> {
        let path = folder.join(FILE);
        let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let file = file_id(&path);
        Ok(Self { db, path, file })
    }

    /// The last event, or where the log begins.
    pub(crate) fn last(&self) -> Result<u64, Fault> {
        let last = self.db.query_row(TOP, [], |row| row.get::<_, i64>(0));
        last.map(|last| last as u64).map_err(|error| format!("{}: {error}", self.path.display()).into())
    }

    /// The first events after `seq`, at most `most`.
    pub(crate) fn after(&self, seq: u64, most: u32) -> Result<Vec<(u64, Event, Outcome)>, Fault> {
        let failed = |error: rusqlite::Error| format!("{}: {error}", self.path.display());
        if file_id(&self.path) != self.file {
            return Err(format!("{}: was moved or replaced", self.path.display()).into());
        }
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

/// The model that the one in `folder` is a shadow of, whether that is served or not; none where its settings
/// cannot be read.
pub(crate) fn shadowed_by(folder: &Path) -> Option<String> {
    let db = connect(&folder.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    let spec: String = db.query_row("SELECT body FROM spec", [], |row| row.get(0)).ok()?;
    serde_json::from_str::<Spec>(&spec).ok()?.shadow_of
}

/// The logged decision `id`, read while its model goes on.
pub(crate) fn decided(folder: &Path, id: &str) -> Result<Option<(Event, Outcome)>, Fault> {
    let path = folder.join(FILE);
    let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let mut of = db
        .prepare("SELECT seq, at, body, outcome FROM events WHERE id = ? ORDER BY seq LIMIT 1")
        .map_err(failed)?;
    of.query_row([id], |row| Ok(decoded(row))).optional().map_err(failed)?.transpose()
}

/// The times of the first and the last event of the log, if it has any.
pub(crate) fn event_times(folder: &Path) -> Result<[Option<i64>; 2], Fault> {
    let path = folder.join(FILE);
    let failed = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let db = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let times = db.query_row("SELECT min(at), max(at) FROM events", [], |row| Ok([row.get(0)?, row.get(1)?]));
    Ok(times.map_err(failed)?)
}

fn paths_in(folder: &Path) -> std::io::Result<impl Iterator<Item = PathBuf>> {
    Ok(std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()))
}

/// Copies the files of JSON in folders beside the states, which are reports of a protocol.
fn copy_reports(folder: &Path, target: &Path) -> std::io::Result<()> {
    for kind in paths_in(folder)?.filter(|path| path.is_dir()) {
        for file in paths_in(&kind)?.filter(|file| file.extension().is_some_and(|ending| ending == "json")) {
            let to = target.join(file.strip_prefix(folder).unwrap_or(&file));
            std::fs::create_dir_all(to.parent().unwrap_or(target))?;
            match std::fs::copy(&file, &to) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Copies the database, the newest snapshots and the reports to `target`, while the model runs.
pub(crate) fn back_up(folder: &Path, target: &Path) -> Result<(), Fault> {
    let failed = |what: &dyn std::fmt::Display| {
        Fault::from(format!("{}: cannot be written: {what}", target.display()))
    };
    // Snapshots first, so that the database copied afterwards has all their events.
    for kind in [SNAPSHOTS, MARKS, VERSIONS] {
        std::fs::create_dir_all(target.join(kind)).map_err(|error| failed(&error))?;
        for seq in seqs(&folder.join(kind))? {
            match std::fs::copy(file_of(folder, kind, seq), file_of(target, kind, seq)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(&error)),
                _ => {}
            }
        }
    }
    copy_reports(folder, target).map_err(|error| failed(&error))?;
    let db = connect(&folder.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|error| failed(&error))?;
    let mut copy = Connection::open(target.join(FILE)).map_err(|error| failed(&error))?;
    let backup = rusqlite::backup::Backup::new(&db, &mut copy).map_err(|error| failed(&error))?;
    // In one step, which reads one state of the database while its model writes on: between two steps, SQLite
    // begins again whenever there was a write.
    backup.run_to_completion(i32::MAX, std::time::Duration::ZERO, None).map_err(|error| failed(&error))?;
    drop(backup);
    // A log of its own, whatever nodes have the other in common.
    copy.execute_batch("DROP TABLE IF EXISTS common").map_err(|error| failed(&error))
}
