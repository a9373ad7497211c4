//! What a store takes of its disk, and what it leaves free.

use std::path::Path;

use noregret_stream::Fault;

use super::Store;

/// Number of bytes of the disk that events leave free.
#[cfg(unix)]
const LEAST_FREE: u64 = 32 << 20;

/// Number of bytes that are left to a database from which events were removed: its next events take them.
const LEFT: i64 = 1 << 20;

/// See [`Store::check_room`].
#[cfg(unix)]
pub(super) fn room_in(folder: &Path) -> Result<(), Fault> {
    // A disk that does not tell is tried.
    let Ok(disk) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let (free, all) = (disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize);
    let least = LEAST_FREE.min(all / 16);
    if free >= least {
        return Ok(());
    }
    let (folder, free, least) = (folder.display(), free >> 10, least >> 10);
    let what =
        format!("the disk of {folder} is full: {free} KiB are free, and {least} KiB are kept for snapshots");
    Err(what.into())
}

/// Unknown on other systems: writing is tried.
#[cfg(not(unix))]
pub(super) fn room_in(_: &Path) -> Result<(), Fault> {
    Ok(())
}

impl Store {
    /// Whether there is room on the disk for a group of events and a snapshot: a full disk is noticed before
    /// events are applied, because what the learner has learnt cannot be undone.
    /// Fails if less is free than [`LEAST_FREE`], or a sixteenth of a small disk.
    pub(crate) fn check_room(&self) -> Result<(), Fault> {
        room_in(&self.folder)
    }

    /// Tries whether something can be written durably.
    pub(crate) fn try_write(&mut self) -> Result<(), Fault> {
        self.check_room()?;
        let done = self.db.execute_batch(
            "BEGIN IMMEDIATE;
             CREATE TABLE IF NOT EXISTS tried (bytes BLOB NOT NULL);
             INSERT INTO tried VALUES (zeroblob(262144));
             COMMIT;
             DROP TABLE tried;",
        );
        done.map_err(|error| self.failed(&error)).inspect_err(|_| self.roll_back())
    }

    /// Number of bytes of the database that are in use.
    pub(crate) fn size(&self) -> Result<u64, Fault> {
        let (used, _) = self.pages().map_err(|error| self.failed(&error))?;
        Ok(used.max(0) as u64)
    }

    /// The bytes of the database's pages that are in use, and those that are not.
    fn pages(&self) -> rusqlite::Result<(i64, i64)> {
        let of = |what| self.db.pragma_query_value(None, what, |row| row.get::<_, i64>(0));
        let (all, unused, size) = (of("page_count")?, of("freelist_count")?, of("page_size")?);
        Ok(((all - unused) * size, unused * size))
    }

    /// Gives the pages of removed events back to the disk, where they are most of the database: the rest,
    /// which is little, is written anew.
    /// Fails if there is no room for it; then the next events take these pages.
    pub(crate) fn give_back(&self) -> Result<(), Fault> {
        let give = || {
            let (used, unused) = self.pages()?;
            if unused < LEFT.max(3 * used) {
                return Ok(());
            }
            self.db.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        };
        give().map_err(|error| self.failed(&error))
    }
}
