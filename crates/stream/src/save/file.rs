//! Model files on disk, replaced atomically.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use noregret::model::{Archive, ModelError};

use crate::read::open::begins_a_model;
use crate::write::replace::Replacement;

/// Why a model file could not be read or written, in one sentence that starts with its path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// Reading or writing failed.
    #[error("{}: {}", path.display(), told(action, source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not a model, or the model cannot be written.
    #[error("{}: {source}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: ModelError,
    },
}

const UNREADABLE: &str = "cannot be read";

/// Reads the model file at `path`.
pub fn read(path: &Path) -> Result<Archive, ModelFileError> {
    let bytes = std::fs::read(path).map_err(io_error(path, UNREADABLE))?;
    Archive::from_bytes(&bytes).map_err(|source| ModelFileError::Model { path: path.to_owned(), source })
}

/// Whether the file at `path`, which is no pipe, begins as a model file does.
pub fn is_like_one(path: &Path) -> bool {
    let mut head = [0; 64];
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let mut begin = || std::io::Read::read_exact(&mut std::fs::File::open(path)?, &mut head);
    is_file && begin().is_ok() && begins_a_model(&head)
}

/// Writes `archive` to `path`.
///
/// # Errors
/// If writing fails, or a number is not finite, since such a file could not be read.
pub fn write(archive: &Archive, path: &Path) -> Result<(), ModelFileError> {
    archive.check().map_err(|source| ModelFileError::Model { path: path.to_owned(), source })?;
    let write = || {
        let mut file = Replacement::open(path)?;
        archive.in_pieces(|piece| file.write_all(piece))?;
        file.finish()
    };
    write().map_err(io_error(path, "cannot be written"))
}

/// What is wrong, as the readers of data say it.
fn told(action: &str, source: &std::io::Error) -> String {
    match source.kind() {
        std::io::ErrorKind::NotFound if action == UNREADABLE => "no such file".to_owned(),
        _ => format!("{action}: {source}"),
    }
}

fn io_error(path: &Path, action: &'static str) -> impl Fn(std::io::Error) -> ModelFileError {
    let path = path.to_owned();
    move |source| ModelFileError::Io { path: path.clone(), action, source }
}

#[cfg(test)]
mod tests {
    use noregret::problem::Problem;
    use noregret::registry::find;

    use super::*;

    #[test]
    fn a_file_that_begins_as_a_model() {
        let folder = tempfile::tempdir().expect("a folder");
        let [model, data] = ["model", "data"].map(|name| folder.path().join(name));
        write(&archive("ogd"), &model).expect("written");
        std::fs::write(&data, "1,2,x\n".repeat(99)).expect("written");
        assert_eq!(
            [&model, &data, &folder.path().join("none")].map(|path| is_like_one(path)),
            [true, false, false]
        );
    }

    fn archive(learner: &str) -> Archive {
        let problem = Problem::new(3, 2).with_radius(1.0);
        let mut model =
            find(learner).expect("registered").make(&Default::default(), problem, 0).expect("default");
        Archive::of(&mut *model)
    }

    #[test]
    fn the_old_file_stays_until_the_new_one_is_complete() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("model");
        write(&archive("ogd"), &path).expect("a new file");
        write(&archive("folklore"), &path).expect("replaces it");
        assert_eq!(read(&path).expect("whole"), archive("folklore"));
        let names = |folder: &Path| std::fs::read_dir(folder).expect("listed").count();
        assert_eq!(names(folder.path()), 1, "no temporary file is left");

        // A folder that does not exist, a file in place of the folder, a folder in place of the file.
        let missing = folder.path().join("no/model");
        let beneath = path.join("model");
        let occupied = folder.path().join("occupied");
        std::fs::create_dir_all(occupied.join("by this")).expect("a folder");
        for wrong in [&missing, &beneath, &occupied] {
            let error = write(&archive("ogd"), wrong).expect_err("cannot be written").to_string();
            let sentence = format!("{}: cannot be ", wrong.display());
            assert!(error.starts_with(&sentence) && !error.contains('\n'), "{error}");
        }
        assert_eq!(read(&path).expect("still whole"), archive("folklore"));
        assert_eq!(names(folder.path()), 2, "no temporary file is left");
        let error = read(&missing).expect_err("not there").to_string();
        assert_eq!(error, format!("{}: no such file", missing.display()));
    }

    #[cfg(unix)]
    #[test]
    fn an_open_old_file_can_be_read_to_its_end() {
        use std::io::Read as _;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("model");
        write(&archive("ogd"), &path).expect("a new file");
        let mut reader = std::fs::File::open(&path).expect("just written");
        write(&archive("folklore"), &path).expect("replaces it");
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).expect("open");
        assert_eq!(Archive::from_bytes(&bytes).expect("whole"), archive("ogd"));
    }

    #[cfg(unix)]
    #[test]
    fn models_are_as_readable_as_other_files() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [model, plain] = ["model", "plain"].map(|name| folder.path().join(name));
        write(&archive("ogd"), &model).expect("a new file");
        std::fs::write(&plain, "").expect("a new file");
        let mode = |path| std::fs::metadata(path).expect("just written").permissions().mode();
        assert_eq!(mode(&model), mode(&plain));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_read_only_keeps_its_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("model");
        write(&archive("ogd"), &path).expect("a new file");
        let allow = |mode| std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode));
        allow(0o555).expect("own folder");
        let may_write_anyway = std::fs::write(folder.path().join("probe"), "").is_ok();
        let written = write(&archive("folklore"), &path);
        allow(0o755).expect("own folder");
        if may_write_anyway {
            eprintln!("skipped: this user may write to a folder that is read-only");
            return;
        }
        let error = written.expect_err("read-only").to_string();
        assert!(error.starts_with(&format!("{}: cannot be written: ", path.display())), "{error}");
        assert_eq!(read(&path).expect("still whole"), archive("ogd"));
    }
}
