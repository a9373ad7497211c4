//! The model files beside the database: automatic snapshots, states at which the log can start, and
//! versions; each is named by the number of its event.

use std::path::{Path, PathBuf};

use noregret::model::Archive;
use noregret_stream::Fault;
use noregret_stream::remove_abandoned;
use noregret_stream::save::file as model_file;

/// The folder of automatic snapshots.
pub(super) const SNAPSHOTS: &str = "snapshots";
/// The folder of states at which the log can start.
pub(super) const MARKS: &str = "marks";
/// The folder of versions: states saved on request, and before replacements.
pub(super) const VERSIONS: &str = "versions";
/// The folder of states that are newer than the log.
const NEWER: &str = "newer";
/// Number of automatic snapshots that are kept.
const KEPT: usize = 4;
/// Number of events between two of them, beside the newest two and the oldest: a small model that rests often
/// has no more.
const APART: u64 = 1000;
/// Number of requested versions that are kept.
pub(super) const MOST_VERSIONS: usize = 100;

pub(super) fn file_of(folder: &Path, kind: &str, seq: u64) -> PathBuf {
    folder.join(kind).join(format!("{seq:020}.safetensors"))
}

pub(super) fn snapshot_path(folder: &Path, seq: u64) -> PathBuf {
    file_of(folder, SNAPSHOTS, seq)
}

/// Writes the state after event `seq` among the files of a kind. The folder of the model is not made: it may
/// have been deleted meanwhile.
pub(super) fn keep(folder: &Path, kind: &str, seq: u64, archive: &Archive) -> Result<(), Fault> {
    let path = folder.join(kind);
    match std::fs::create_dir(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(format!("{}: {error}", path.display()).into());
        }
        _ => {}
    }
    model_file::write(archive, &file_of(folder, kind, seq)).map_err(|error| error.to_string().into())
}

/// Writes a snapshot, and removes all but the last few.
pub(crate) fn write_snapshot(folder: &Path, seq: u64, archive: &Archive) -> Result<(), Fault> {
    keep(folder, SNAPSHOTS, seq, archive)?;
    remove(folder, SNAPSHOTS, superfluous)
}

/// The snapshots that need not be kept of `all`, the oldest first.
fn superfluous(all: &[u64]) -> Vec<u64> {
    let (mut kept, mut old): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    for seq in all.iter().rev() {
        let is_apart = kept.last().is_none_or(|next| next - seq >= APART);
        let is_oldest = all.first() == Some(seq);
        let stays = kept.len() < 2 || (kept.len() < KEPT && (is_apart || is_oldest));
        let list = if stays { &mut kept } else { &mut old };
        list.push(*seq);
    }
    old
}

/// Removes all but the newest `most`, and the hidden files of killed writers.
pub(super) fn remove_old(folder: &Path, kind: &str, most: usize) -> Result<(), Fault> {
    remove(folder, kind, |all| all[..all.len().saturating_sub(most)].to_vec())
}

/// Removes those that are `old` of all, the oldest first, and the hidden files of killed writers.
fn remove(folder: &Path, kind: &str, old: impl Fn(&[u64]) -> Vec<u64>) -> Result<(), Fault> {
    remove_abandoned(&folder.join(kind), |name| name.ends_with(".safetensors"));
    for seq in old(&seqs(&folder.join(kind))?) {
        // Files that cannot be removed are harmless.
        let _ = std::fs::remove_file(file_of(folder, kind, seq));
    }
    Ok(())
}

/// Removes the automatic states of before event `seq`, where the log begins from now on: they have rows that
/// waited then, and nothing can be recovered from them any more.
pub(super) fn remove_before(folder: &Path, seq: u64) {
    for kind in [SNAPSHOTS, MARKS] {
        for old in seqs(&folder.join(kind)).unwrap_or_default().into_iter().filter(|old| *old < seq) {
            // What cannot be removed now is removed with the next.
            let _ = std::fs::remove_file(file_of(folder, kind, old));
        }
    }
}

/// Moves the state after event `seq` to where nothing reads it; the new path.
pub(super) fn set_aside(folder: &Path, kind: &str, seq: u64) -> Result<PathBuf, Fault> {
    let (from, to) = (file_of(folder, kind, seq), file_of(folder, NEWER, seq));
    std::fs::create_dir_all(folder.join(NEWER))
        .and_then(|()| std::fs::rename(&from, &to))
        .map_err(|error| format!("{}: cannot be moved to {}: {error}", from.display(), to.display()))?;
    Ok(to)
}

/// The event of the newest state that was moved there, or 0.
pub(super) fn newest_aside(folder: &Path) -> u64 {
    seqs(&folder.join(NEWER)).ok().and_then(|mut all| all.pop()).unwrap_or(0)
}

/// Reads the version of event `seq`.
pub(crate) fn read_version(folder: &Path, seq: u64) -> Result<Archive, Fault> {
    let path =
        [VERSIONS, SNAPSHOTS].map(|kind| file_of(folder, kind, seq)).into_iter().find(|path| path.exists());
    model_file::read(&path.unwrap_or_else(|| file_of(folder, MARKS, seq)))
        .map_err(|error| error.to_string().into())
}

/// The event numbers of all versions, the oldest first: requested versions, snapshots, and marks.
pub(crate) fn versions(folder: &Path) -> Result<Vec<u64>, Fault> {
    let mut all = snapshots(folder)?;
    all.extend(seqs(&folder.join(MARKS))?);
    all.extend(seqs(&folder.join(VERSIONS))?);
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// The event numbers of the snapshots in `folder`, the oldest first.
pub(crate) fn snapshots(folder: &Path) -> Result<Vec<u64>, Fault> {
    seqs(&folder.join(SNAPSHOTS))
}

/// Waits until everything in `folder` is on the disk.
pub(crate) fn sync_all(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            std::fs::File::open(&path)?.sync_all()?;
        }
    }
    std::fs::File::open(folder)?.sync_all()
}

pub(super) fn seqs(folder: &Path) -> Result<Vec<u64>, Fault> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_snapshots_near_each_other_three_stay() {
        assert_eq!(superfluous(&[0, 6, 12, 18]), [6]);
        assert_eq!(superfluous(&[0, 20_000, 20_500, 40_000]), [20_000]);
        assert_eq!(superfluous(&[0, 20_000, 40_000, 60_000, 80_000]), [0]);
        assert!(superfluous(&[7]).is_empty());
    }

    #[test]
    fn what_killed_writers_left_goes_with_old_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let snapshots = folder.path().join(SNAPSHOTS);
        std::fs::create_dir(&snapshots).expect("writable");
        let left = ".00000000000000000007.safetensors.123456.tmp";
        for name in ["00000000000000000003.safetensors", "00000000000000000005.safetensors", left] {
            std::fs::write(snapshots.join(name), "").expect("writable");
        }
        remove_old(folder.path(), SNAPSHOTS, 1).expect("removable");
        assert_eq!(snapshots_and_others(&snapshots), ["00000000000000000005.safetensors"]);
    }

    /// Also what is in the folders of a folder; what cannot be opened is not passed over.
    #[cfg(unix)]
    #[test]
    fn everything_in_a_folder_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("models").join("m");
        std::fs::create_dir_all(&inner).expect("writable");
        std::fs::write(inner.join("events.sqlite"), "events").expect("writable");
        sync_all(folder.path()).expect("it is on the disk");
        std::os::unix::fs::symlink(inner.join("nothing"), inner.join("link")).expect("writable");
        assert!(sync_all(folder.path()).is_err());
    }

    fn snapshots_and_others(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("readable");
        entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect()
    }
}
