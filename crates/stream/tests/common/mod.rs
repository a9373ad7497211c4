//! What the tests of the readers share.

use std::path::PathBuf;

/// A file of the shared data, or `None`, said on stderr, where they are absent.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("NOREGRET_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let path = root.join("data").join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is absent", path.display());
    None
}
