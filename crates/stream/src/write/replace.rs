//! Atomic replacement of files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file being written. A file at its path is unchanged until [`Replacement::finish`].
///
/// The bytes go to a hidden file in the same folder, which is synced and renamed at the end, and
/// locked until then: [`remove_abandoned`] removes those of killed writers, which nobody holds a
/// lock on. Symbolic links are followed, permissions are kept. Other files than regular ones, such
/// as pipes or `/dev/stdout`, are written directly.
pub struct Replacement(Target);

/// Number of random characters in the name of a hidden file.
const RANDOM: usize = 6;

enum Target {
    Hidden(BufWriter<NamedTempFile>, PathBuf),
    Direct(BufWriter<File>),
}

impl Replacement {
    /// Begins to write the file at `path`.
    ///
    /// # Errors
    /// If `path` is a directory, or its folder cannot be written to.
    pub fn open(path: &Path) -> io::Result<Self> {
        let old = match fs::metadata(path) {
            Ok(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(old) if !old.is_file() => {
                let file = OpenOptions::new().write(true).open(path)?;
                return Ok(Self(Target::Direct(BufWriter::new(file))));
            }
            Ok(old) => Some(old),
            Err(_) => None,
        };
        let path = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
        if !folder(&path).is_dir() {
            let what = format!("there is no folder {}", folder(&path).display());
            return Err(io::Error::new(io::ErrorKind::NotFound, what));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let prefix = format!(".{name}.");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).rand_bytes(RANDOM).suffix(".tmp");
        // Temporary files are private; this one becomes an ordinary file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = loop {
            let file = builder.tempfile_in(folder(&path))?;
            // Where there are no locks, nobody removes it; else somebody may have before it was locked.
            if file.as_file().lock().is_err() || file.path().exists() {
                break file;
            }
        };
        if let Some(old) = old {
            file.as_file().set_permissions(old.permissions())?;
        }
        Ok(Self(Target::Hidden(BufWriter::new(file), path)))
    }

    /// Checks that the file at `path` can be written, and removes the hidden files of writers that
    /// were killed.
    ///
    /// # Errors
    /// Those of [`Replacement::open`].
    pub fn check(path: &Path) -> io::Result<()> {
        let new = Self::open(path)?;
        if let Target::Hidden(_, path) = &new.0 {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            remove_abandoned(folder(path), |of| of == name);
        }
        Ok(())
    }

    /// Replaces the old file by the written bytes.
    ///
    /// # Errors
    /// If writing fails; the old file is then unchanged.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Target::Direct(mut file) => file.flush(),
            Target::Hidden(file, path) => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.as_file().sync_all()?;
                file.persist(&path).map_err(|error| error.error)?;
                // Syncing the folder makes the rename durable.
                #[cfg(unix)]
                File::open(folder(&path))?.sync_all()?;
                Ok(())
            }
        }
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Target::Hidden(file, _) => file.write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Target::Hidden(file, _) => file.flush(),
            Target::Direct(file) => file.flush(),
        }
    }
}

/// Removes the hidden files of killed writers in `folder` whose file, by its name, `is_ours`. Files that
/// cannot be removed are harmless.
pub fn remove_abandoned(folder: &Path, is_ours: impl Fn(&str) -> bool) {
    let is_hidden = |name: &str| {
        let middle = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp"));
        let parts = middle.and_then(|middle| middle.rsplit_once('.'));
        parts.is_some_and(|(file, random)| random.len() == RANDOM && is_ours(file))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_hidden(&entry.file_name().to_string_lossy())
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("readable");
        entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_old_file_stays_until_the_end() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        fs::write(&path, "old").expect("writable");
        let mut new = Replacement::open(&path).expect("opens");
        new.write_all(b"new").expect("writes");
        new.flush().expect("writes");
        assert_eq!(fs::read(&path).expect("readable"), b"old");
        drop(new);
        assert_eq!(
            (names(folder.path()), fs::read(&path).expect("readable")),
            (vec!["a".into()], b"old".into())
        );
        let mut new = Replacement::open(&path).expect("opens");
        new.write_all(b"new").expect("writes");
        new.finish().expect("finishes");
        assert_eq!(
            (names(folder.path()), fs::read(&path).expect("readable")),
            (vec!["a".into()], b"new".into())
        );
        assert!(Replacement::open(folder.path()).is_err(), "a directory");
    }

    #[test]
    fn files_of_killed_writers_are_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        let others = [".a.123456.tmp", ".a.tmp", ".b.123456.tmp", ".a.1234567.tmp"];
        others.iter().for_each(|name| fs::write(folder.path().join(name), "").expect("writable"));
        // One that is at work keeps its file.
        let mut new = Replacement::open(&path).expect("opens");
        new.write_all(b"new").expect("writes");
        Replacement::check(&path).expect("writable");
        assert_eq!(names(folder.path()).len(), others.len());
        assert!(!folder.path().join(others[0]).exists());
        new.finish().expect("finishes");
        assert_eq!(fs::read(&path).expect("readable"), b"new");
        assert!(Replacement::check(folder.path()).is_err(), "a directory");
    }

    #[cfg(unix)]
    #[test]
    fn links_devices_and_permissions_are_respected() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let replace = |name: &str| {
            let mut new = Replacement::open(&at(name)).expect("opens");
            new.write_all(b"new").expect("writes");
            new.finish().expect("finishes");
        };
        fs::write(at("file"), "old").expect("writable");
        fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).expect("owned");
        symlink(at("file"), at("link")).expect("writable");
        replace("link");
        assert!(at("link").is_symlink());
        assert_eq!(fs::read(at("file")).expect("readable"), b"new");
        assert_eq!(fs::metadata(at("file")).expect("readable").permissions().mode() & 0o777, 0o640);
        symlink("/dev/null", at("null")).expect("writable");
        replace("null");
        assert!(at("null").is_symlink());
        replace("fresh");
        fs::write(at("ordinary"), "").expect("writable");
        let mode = |name: &str| fs::metadata(at(name)).expect("readable").permissions().mode();
        assert_eq!(mode("fresh"), mode("ordinary"));
    }
}
