//! The Python package: a wheel in a virtual environment under `target/`, and its tests.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::files::{absolute, files, fresh};
use crate::run;

const PACKAGE: &str = "bindings/python";
pub(crate) const MANIFEST: &str = "bindings/python/Cargo.toml";

/// Builds and tests the package. Skipped, with a message, without Python or a package index.
pub(crate) fn test() -> Result<(), String> {
    let Some(python) = find() else {
        println!(
            "skipped: the Python package, for which there is no Python 3.10 or newer (PYTHON names one)"
        );
        return Ok(());
    };
    let Some(venv) = environment(&python, "test")? else {
        println!("skipped: the Python package, whose tests need packages that cannot be downloaded");
        return Ok(());
    };
    // An absolute path, since some of the programs run in other folders.
    let python = absolute(&venv.join(BIN).join("python"))?;
    let wheel = wheel(&venv, &["--profile", "dev"])?;
    // A build for tests is slow, so that the demonstration is short.
    bare(&wheel, &["demo", "--rows", "2000"])?;
    let install = ["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"];
    run(Command::new(&python).args(install).arg(wheel))?;
    let binary =
        absolute(&Path::new("target/debug").join(format!("noregret{}", std::env::consts::EXE_SUFFIX)))?;
    // The tests of a file run in one process, since some share a cluster, a service or a large
    // table.
    let tests = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-n", "auto", "--dist", "loadfile"];
    run(Command::new(&python).args(tests).current_dir(PACKAGE).env("NOREGRET_BINARY", binary))?;
    let cache = ["--cache-dir", "../../target/python/mypy"];
    run(Command::new(&python).args(["-m", "mypy"]).args(cache).arg("python/noregret").current_dir(PACKAGE))?;
    let stubs = ["noregret._core", "noregret.learners", "noregret.bandits", "noregret.river._classifiers"];
    run(Command::new(&python).args(["-m", "mypy.stubtest"]).args(stubs).current_dir("target/python"))
}

/// Builds the wheel that users install.
pub(crate) fn release() -> Result<(), String> {
    let python = find().ok_or("there is no Python 3.10 or newer (PYTHON names one)")?;
    let venv = environment(&python, "test")?.ok_or("the packages that build a wheel cannot be downloaded")?;
    println!("{}", wheel(&venv, &["--profile", "dist"])?.display());
    Ok(())
}

const BIN: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// A program of a virtual environment.
pub(crate) fn program(venv: &Path, name: &str) -> PathBuf {
    venv.join(BIN).join(name)
}

/// A supported Python.
pub(crate) fn find() -> Option<String> {
    let named = std::env::var("PYTHON").ok();
    let enough = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";
    let works = |python: &String| {
        Command::new(python).args(["-c", enough]).output().is_ok_and(|output| output.status.success())
    };
    named.into_iter().chain(["python3".to_owned(), "python".to_owned()]).find(works)
}

/// Every supported version of Python, in ascending order: those on the path, and those of pyenv, which has
/// all versions on the path but lets only the chosen ones start.
pub(crate) fn all() -> Vec<String> {
    let works = |python: &String| {
        let enough = "import ensurepip, venv";
        Command::new(python).args(["-c", enough]).output().is_ok_and(|output| output.status.success())
    };
    let pyenv = std::env::var_os("PYENV_ROOT").map(|root| PathBuf::from(root).join("versions"));
    let installed = pyenv.and_then(|folder| files(&folder).ok()).unwrap_or_default();
    let versions = (10..20).filter_map(|minor| {
        let name = format!("python3.{minor}");
        let programs = installed.iter().map(|version| version.join("bin").join(&name));
        let programs = programs.filter_map(|program| program.into_os_string().into_string().ok());
        std::iter::once(name.clone()).chain(programs).find(works)
    });
    versions.collect()
}

/// The virtual environment with a group of `pyproject.toml`; it is created again when the group's content
/// changes. `None` if packages cannot be downloaded.
pub(crate) fn environment(python: &str, group: &str) -> Result<Option<PathBuf>, String> {
    let venv = PathBuf::from("target/python").join(group);
    let stamp = &venv.join("installed");
    let project = std::fs::read_to_string(Path::new(PACKAGE).join("pyproject.toml"));
    let wanted = format!("{python}\n{}", project.map_err(|error| error.to_string())?);
    if std::fs::read_to_string(stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(Some(venv));
    }
    if venv.exists() {
        std::fs::remove_dir_all(&venv).map_err(|error| format!("{}: {error}", venv.display()))?;
    }
    run(Command::new(python).args(["-m", "venv"]).arg(&venv))?;
    let pip = || {
        let mut command = Command::new(venv.join(BIN).join("python"));
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        command
    };
    // The first download shows whether a package index is available; later errors are failures. Groups need a
    // new pip.
    if run(pip().args(["--upgrade", "pip", "--retries", "1", "--timeout", "10"])).is_err() {
        return Ok(None);
    }
    run(pip().arg("--group").arg(format!("{PACKAGE}/pyproject.toml:{group}")))?;
    std::fs::write(stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(Some(venv))
}

/// Builds a wheel; dependencies that the workspace has built are reused.
fn wheel(venv: &Path, profile: &[&str]) -> Result<PathBuf, String> {
    let wheels = Path::new("target/python/wheels");
    if wheels.exists() {
        std::fs::remove_dir_all(wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    let python = absolute(&venv.join(BIN).join("python"))?;
    let maturin = venv.join(BIN).join("maturin");
    let build =
        ["build", "--manifest-path", MANIFEST, "--target-dir", "target", "--quiet", "--interpreter", &python];
    run(Command::new(maturin)
        .args(build)
        .args(profile)
        .arg("--out")
        .arg(wheels)
        .env("PYO3_PYTHON", &python))?;
    let files = std::fs::read_dir(wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let mut paths = files.filter_map(|file| Some(file.ok()?.path()));
    paths
        .find(|path| path.extension() == Some(OsStr::new("whl")))
        .ok_or_else(|| "maturin made no wheel".to_owned())
}

/// Installs a wheel into an empty environment of every supported Python version, and runs the first example
/// in it: the program with the arguments `demo`, and the package.
pub(crate) fn bare(wheel: &Path, demo: &[&str]) -> Result<(), String> {
    let pythons = all();
    for python in &pythons {
        first_result(python, wheel, demo)?;
    }
    if pythons.is_empty() { Err("there is no Python 3.10 or newer".to_owned()) } else { Ok(()) }
}

/// Installs a wheel into an empty environment of one Python, and runs the first example in it.
pub(crate) fn first_result(python: &str, wheel: &Path, demo: &[&str]) -> Result<(), String> {
    let wheel = absolute(wheel)?;
    let venv = Path::new("target/python/bare");
    fresh(venv)?;
    run(Command::new(python).args(["-m", "venv"]).arg(venv))?;
    let [interpreter, noregret] = ["python", "noregret"].map(|name| absolute(&program(venv, name)));
    let (interpreter, noregret) = (interpreter?, noregret?);
    let start = Instant::now();
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&interpreter).args(pip).arg(&wheel))?;
    run(Command::new(&noregret).args(demo).current_dir(venv))?;
    let first = start.elapsed();
    run(Command::new(&interpreter).args(["-c", FIRST_PROGRAM]).current_dir(venv))?;
    println!("{python}: {:.1} s from an empty environment to the first result", first.as_secs_f64());
    Ok(())
}

const FIRST_PROGRAM: &str = "\
import numpy, noregret
x = numpy.random.default_rng(0).normal(size=(200, 3))
y = (x[:, 0] > 0).astype(int)
learner = noregret.Learner('folklore', classes=2, features=3)
run = learner.run(x, y)
assert run.rates['error_rate'] < 0.2, run.rates
";
