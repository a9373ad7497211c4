//! Packages the crates for a registry.

/// The published crates, each after its dependencies.
const CRATES: [&str; 5] =
    ["noregret", "noregret-stream", "noregret-serve", "noregret-experiments", "noregret-cli"];

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

    /// A published crate that is missing in the list cannot be found by those which need it.
    #[test]
    fn every_published_crate_is_packaged() {
        let metadata = Command::new(env!("CARGO"))
            .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
            .output()
            .expect("cargo is there");
        let value: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
        let packages = value["packages"].as_array().expect("packages");
        // `publish` is null where nothing is said.
        let published = packages.iter().filter(|package| package["publish"].is_null());
        let mut names: Vec<&str> = published.filter_map(|package| package["name"].as_str()).collect();
        let mut listed = CRATES.to_vec();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed);
    }
}
