//! Files and folders, with errors that name them.

use std::path::{Path, PathBuf};

/// An empty folder.
pub(crate) fn fresh(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| at(folder, error))?;
    }
    std::fs::create_dir_all(folder).map_err(|error| at(folder, error))
}

/// The entries of a folder, sorted.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| at(folder, error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

pub(crate) fn at(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// The absolute path, for programs that run in another folder. Links are not resolved, since a virtual
/// environment is located by them.
pub(crate) fn absolute(path: &Path) -> Result<String, String> {
    let path = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    path.into_os_string().into_string().map_err(|path| format!("{}: is not text", Path::new(&path).display()))
}
