//! Packages the crates for a registry.

/// The published crates, each after its dependencies.
const CRATES: [&str; 4] = ["noregret", "noregret-stream", "noregret-experiments", "noregret-cli"];

/// Packages every crate, and builds each package outside the workspace.
pub(crate) fn check() -> Result<(), String> {
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    crate::cargo(&["package", "--allow-dirty"].into_iter().chain(packages).collect::<Vec<_>>(), &[])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::CRATES;

    /// The packages include the licences and a readme, but not the tests, which need the workspace.
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
