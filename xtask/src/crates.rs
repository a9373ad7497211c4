//! The crates as a registry gets them.

/// The crates that users need, each after those that it depends on.
const CRATES: [&str; 4] = ["noregret", "noregret-stream", "noregret-experiments", "noregret-cli"];

/// Packs every crate, and builds each as it is packed: nothing of the workspace is within its reach.
pub(crate) fn check() -> Result<(), String> {
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    crate::cargo(&["package", "--allow-dirty"].into_iter().chain(packages).collect::<Vec<_>>(), &[])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::CRATES;

    /// Licences and a page for readers are inside; tests, which need the workspace, are not.
    #[test]
    fn packages_are_complete() {
        for name in CRATES {
            let list = Command::new(env!("CARGO"))
                .args(["package", "--list", "--allow-dirty", "--offline", "--package", name])
                .output()
                .expect("cargo is there");
            let text = String::from_utf8_lossy(&list.stdout);
            let files: Vec<&str> = text.lines().collect();
            for file in ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
                assert!(
                    files.contains(&file),
                    "{name} has no {file}: {}",
                    String::from_utf8_lossy(&list.stderr)
                );
            }
            assert!(files.iter().any(|file| file.starts_with("src/")), "{name}: {files:?}");
            assert!(!files.iter().any(|file| file.starts_with("tests/")), "{name}: {files:?}");
        }
    }
}
