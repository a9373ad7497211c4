//! Builds the files of a release in `target/packages`: an archive of the program, wheels, and a
//! source distribution that builds offline; each is checked as installed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files::{absolute, at, files, fresh};
use crate::musl::MUSL;
use crate::python::{self, MANIFEST, bare, first_result, program};
use crate::{OPTIONAL, cargo, musl, run};

const FOLDER: &str = "target/packages";
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Largest size of a wheel, in bytes.
const LARGEST_WHEEL: u64 = 12_000_000;
/// Crates of other platforms, which a source distribution for Unix never compiles. Cargo needs a
/// stub of each.
const FOREIGN: [&str; 8] =
    ["windows", "winapi", "wasm-bindgen", "web-sys", "js-sys", "wasi", "wit-", "core-foundation"];

/// Builds all packages and checks them.
pub(crate) fn build() -> Result<(), String> {
    fresh(Path::new(FOLDER))?;
    let python = python::find().ok_or("there is no Python 3.10 or newer (PYTHON names one)")?;
    let venv = python::environment(&python, "release")?
        .ok_or("the packages that build a wheel cannot be downloaded")?;
    // First, since this finds a wrong RUST_SRC before the long builds.
    let musl = musl::standard_library()?;
    archive()?;
    let wheels = wheels(&venv, musl)?;
    bare(&wheels[0], &["demo"])?;
    match (wheels.get(1), std::env::var("MUSL_PYTHON")) {
        (Some(wheel), Ok(python)) => first_result(&python, wheel, &["demo"])?,
        (Some(_), Err(_)) => {
            println!("skipped: the installation of the wheel for musl (MUSL_PYTHON names a Python)")
        }
        (None, _) => {}
    }
    source(&venv)?;
    for file in files(Path::new(FOLDER))? {
        let bytes = std::fs::metadata(&file).map_err(|error| at(&file, error))?.len();
        println!("{:>9.2} MB  {}", bytes as f64 / 1e6, file.display());
    }
    Ok(())
}

/// The program, its manual pages and completions, and the licences.
fn archive() -> Result<(), String> {
    cargo(
        &["build", "--profile", "dist", "--quiet", "--package", "noregret-cli", OPTIONAL, "--target", TARGET],
        &[],
    )?;
    let binary = PathBuf::from(format!("target/{TARGET}/dist/noregret"));
    let name = format!("noregret-{}-{TARGET}", version()?);
    let folder = Path::new(FOLDER).join(&name);
    let (manual, completions) = (folder.join("man/man1"), folder.join("completions"));
    for folder in [&manual, &completions] {
        std::fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    }
    run(Command::new(&binary).arg("manual").arg(&manual))?;
    for (shell, file) in [("bash", "noregret.bash"), ("zsh", "_noregret"), ("fish", "noregret.fish")] {
        let script = Command::new(&binary).args(["completions", shell]).output();
        let script = script.map_err(|error| at(&binary, error))?;
        let path = completions.join(file);
        std::fs::write(&path, script.stdout).map_err(|error| at(&path, error))?;
    }
    for file in [
        &binary,
        Path::new("README.md"),
        Path::new("CHANGELOG.md"),
        Path::new("LICENSE-MIT"),
        Path::new("LICENSE-APACHE"),
    ] {
        let to = folder.join(file.file_name().unwrap_or_default());
        std::fs::copy(file, &to).map_err(|error| at(file, error))?;
    }
    pack(&name)
}

/// Makes an archive of a folder in `target/packages`.
fn pack(name: &str) -> Result<(), String> {
    run(Command::new("tar").current_dir(FOLDER).arg("czf").arg(format!("{name}.tar.gz")).arg(name))?;
    let folder = Path::new(FOLDER).join(name);
    std::fs::remove_dir_all(&folder).map_err(|error| at(&folder, error))
}

/// Wheels for Linux with glibc, and with musl if there is a standard library for it, by the variables `musl`.
/// The first one is that for glibc. Zig's linker supports old versions of glibc, so that no old system is
/// needed.
fn wheels(venv: &Path, musl: Option<musl::Environment>) -> Result<Vec<PathBuf>, String> {
    let maturin = absolute(&program(venv, "maturin"))?;
    let python = absolute(&program(venv, "python"))?;
    // Maturin searches for `python-zig` and `ziglang` on the path.
    let path = path_of(&python)?;
    let build = |target: &str, platform: &str, variables: musl::Environment| {
        run(Command::new(&maturin)
            .args(["build", "--manifest-path", MANIFEST, "--target-dir", "target", "--quiet", "--zig"])
            .args(["--profile", "dist", "--target", target, "--compatibility", platform, "--out", FOLDER])
            .env("PATH", &path)
            .env("PYO3_PYTHON", &python)
            .envs(variables))
    };
    let made = |platform: &str| {
        let mut files = files(Path::new(FOLDER))?.into_iter();
        let wheel = files.find(|file| {
            file.extension() == Some(OsStr::new("whl")) && file.to_string_lossy().contains(platform)
        });
        wheel.ok_or_else(|| format!("maturin made no wheel for {platform}"))
    };
    build(TARGET, "manylinux2014", vec![])?;
    let mut wheels = vec![made("manylinux")?];
    match musl {
        Some(variables) => {
            build(MUSL, "musllinux_1_2", variables)?;
            wheels.push(made("musllinux")?);
            musl::name_of_libc(venv, &wheels[1])?;
        }
        None => println!("skipped: the wheel for musl; {}", musl::MISSING),
    }
    for wheel in &wheels {
        audit(venv, wheel)?;
        run(Command::new(program(venv, "twine")).args(["check", "--strict"]).arg(wheel))?;
        let bytes = std::fs::metadata(wheel).map_err(|error| at(wheel, error))?.len();
        if bytes >= LARGEST_WHEEL {
            return Err(format!("{}: {bytes} bytes; at most {LARGEST_WHEEL} are allowed", wheel.display()));
        }
    }
    Ok(wheels)
}

/// Fails if `auditwheel`, whose exit status is always 0, finds that a wheel does not fit its name.
fn audit(venv: &Path, wheel: &Path) -> Result<(), String> {
    let output = Command::new(program(venv, "auditwheel")).args(["show", "--json"]).arg(wheel).output();
    let output = output.map_err(|error| format!("auditwheel: {error}"))?;
    let found: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("auditwheel: {error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let name = wheel.file_stem().unwrap_or_default().to_string_lossy();
    let platforms = name.rsplit('-').next().unwrap_or_default();
    match found["overall_tag"].as_str() {
        Some(tag) if platforms.split('.').any(|platform| platform == tag) => {
            println!("{name}: auditwheel finds {tag}");
            Ok(())
        }
        _ => Err(format!("{name}: auditwheel finds another platform: {found}")),
    }
}

/// The path for programs, with those of the environment of `python` first.
fn path_of(python: &str) -> Result<OsString, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let bin = PathBuf::from(python).parent().map(Path::to_path_buf).unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)));
    path.map_err(|error| error.to_string())
}

/// The source distribution with every crate inside; it is built once without network access.
fn source(venv: &Path) -> Result<(), String> {
    let folder = Path::new(FOLDER).join("source");
    let maturin = absolute(&program(venv, "maturin"))?;
    run(Command::new(maturin).args(["sdist", "--manifest-path", MANIFEST, "--out"]).arg(&folder))?;
    let name = format!("noregret-{}", version()?);
    run(Command::new("tar").current_dir(FOLDER).arg("xzf").arg(format!("source/{name}.tar.gz")))?;
    std::fs::remove_dir_all(&folder).map_err(|error| at(&folder, error))?;
    let unpacked = Path::new(FOLDER).join(&name);
    let manifest = unpacked.join(MANIFEST);
    // Not `--locked`: what only the crates left out need leaves the lock file.
    let vendor = Command::new("cargo")
        .args(["vendor", "--quiet", "--offline", "--manifest-path"])
        .arg(&manifest)
        .arg(unpacked.join("vendor"))
        .output()
        .map_err(|error| format!("cargo vendor: {error}"))?;
    if !vendor.status.success() {
        return Err(format!("cargo vendor: {}", String::from_utf8_lossy(&vendor.stderr)));
    }
    let dependencies = unpacked.join("vendor");
    for package in files(&dependencies)? {
        let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if FOREIGN.iter().any(|foreign| name.starts_with(foreign)) {
            stub(&package)?;
        }
    }
    let settings = unpacked.join(".cargo");
    std::fs::create_dir_all(&settings).map_err(|error| at(&settings, error))?;
    let replaced =
        "[source.crates-io]\nreplace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n";
    let own = std::fs::read_to_string(".cargo/config.toml").map_err(|error| at(&settings, error))?;
    let config = format!("{own}\n{replaced}");
    std::fs::write(settings.join("config.toml"), config).map_err(|error| at(&settings, error))?;
    pack(&name)?;
    let packed = absolute(&Path::new(FOLDER).join(format!("{name}.tar.gz")))?;
    run(Command::new(program(venv, "twine")).args(["check", "--strict", &packed]))?;
    // The Cargo home is empty and there is no network access, so that files missing in the archive are
    // detected.
    let home = absolute(Path::new("target/python/empty-cargo-home"))?;
    fresh(Path::new(&home))?;
    let python = absolute(&program(venv, "python"))?;
    run(Command::new(&python)
        .args(["-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"])
        .args(["--wheel-dir", "target/python/from-source", &packed])
        .env("PATH", path_of(&python)?) // pip's build of the wheel calls `maturin`
        .env("CARGO_HOME", home)
        .env("CARGO_NET_OFFLINE", "true")
        .env("PYO3_PYTHON", &python)
        .env("MATURIN_PEP517_ARGS", "--profile dev"))
}

/// Reduces a vendored crate to what Cargo needs to resolve versions.
fn stub(package: &Path) -> Result<(), String> {
    for file in files(package)? {
        let removed = match file.file_name().and_then(OsStr::to_str) {
            Some("Cargo.toml" | ".cargo-checksum.json") => Ok(()),
            _ if file.is_dir() => std::fs::remove_dir_all(&file),
            _ => std::fs::remove_file(&file),
        };
        removed.map_err(|error| at(&file, error))?;
    }
    let library = package.join("src/lib.rs");
    std::fs::create_dir_all(package.join("src")).map_err(|error| at(&library, error))?;
    std::fs::write(&library, "").map_err(|error| at(&library, error))?;
    let sums = package.join(".cargo-checksum.json");
    let text = std::fs::read_to_string(&sums).map_err(|error| at(&sums, error))?;
    let mut value: serde_json::Value = serde_json::from_str(&text).map_err(|error| at(&sums, error))?;
    value["files"] = serde_json::json!({});
    std::fs::write(&sums, value.to_string()).map_err(|error| at(&sums, error))
}

/// The version of the workspace, with which all others must agree.
fn version() -> Result<String, String> {
    let manifest =
        std::fs::read_to_string("Cargo.toml").map_err(|error| at(Path::new("Cargo.toml"), error))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = "));
    Ok(line.ok_or("Cargo.toml has no version")?.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The version is the same everywhere; on failure this test names the places to change.
    #[test]
    fn one_version() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |file: &str| std::fs::read_to_string(root.join(file)).expect(file);
        let version = env!("CARGO_PKG_VERSION");
        let places = [
            ("Cargo.toml", format!("\nversion = \"{version}\"\n")),
            ("Cargo.toml", format!("noregret = {{ path = \"crates/core\", version = \"{version}\" }}")),
            (
                "Cargo.toml",
                format!("noregret-stream = {{ path = \"crates/stream\", version = \"{version}\" }}"),
            ),
            (
                "Cargo.toml",
                format!("noregret-serve = {{ path = \"crates/serve\", version = \"{version}\" }}"),
            ),
            (
                "Cargo.toml",
                format!("noregret-experiments = {{ path = \"experiments\", version = \"{version}\" }}"),
            ),
            ("CITATION.cff", format!("\nversion: {version}\n")),
            ("CHANGELOG.md", format!("\n## {version} (")),
        ];
        for (file, line) in places {
            assert!(read(file).contains(&line), "{file} has no line {line:?}");
        }
    }
    /// Both commands that the README has for a machine with Rust alone name things that exist: the program,
    /// its folder and the profile. What `demo` does is tested in `crates/cli/tests/binary/demo.rs`.
    #[test]
    fn commands_of_the_readme() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |file: &str| std::fs::read_to_string(root.join(file)).expect(file);
        let readme = read("README.md");
        let found = |start: &str| {
            readme.lines().find(|line| line.starts_with(start)).expect(start).split(' ').collect::<Vec<_>>()
        };
        let after = |words: &[&str], word: &str| {
            let at = words.iter().position(|other| *other == word).expect(word);
            words[at + 1].to_owned()
        };
        found("cargo demo");
        let config = read(".cargo/config.toml");
        let alias = config.lines().find_map(|line| line.strip_prefix("demo = \"run "));
        let demo: Vec<&str> = alias.expect("an alias").trim_end_matches('"').split(' ').collect();
        assert_eq!(demo[demo.len() - 2..], ["--", "demo"]);
        let install = found("cargo install ");
        let program = read(&format!("{}/Cargo.toml", after(&install, "--path")));
        assert!(program.contains(&format!("[[bin]]\nname = \"{}\"", after(&demo, "--bin"))), "{program}");
        let profile = format!("[profile.{}]", after(&install, "--profile"));
        assert!(read("Cargo.toml").contains(&profile), "{profile}");
    }
}
