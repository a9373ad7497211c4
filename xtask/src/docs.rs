//! The documentation site: generated references, then Sphinx, in a virtual environment under
//! `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files::absolute;
use crate::python::{find, program};
use crate::{cargo, run};

const SITE: &str = "docs";
const REQUIREMENTS: &str = "docs/requirements.txt";

/// Builds the site into `target/docs`. Warnings are failures, including dead links between pages. Skipped,
/// with a message, without Python or a package index.
pub(crate) fn build() -> Result<(), String> {
    let Some(python) = find() else {
        println!("skipped: the documentation site, for which there is no Python 3.10 or newer");
        return Ok(());
    };
    let Some(venv) = environment(&python)? else {
        println!("skipped: the documentation site, whose tools cannot be downloaded");
        return Ok(());
    };
    let python = absolute(&program(&venv, "python"))?;
    cargo(&["build", "--quiet", "--workspace", crate::OPTIONAL], &[])?;
    let binary =
        absolute(&Path::new("target/debug").join(format!("noregret{}", std::env::consts::EXE_SUFFIX)))?;
    run(Command::new(&python).args(["docs/reference.py", &binary]))?;
    let sphinx = ["-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--nitpicky"];
    run(Command::new(&python).args(sphinx).args([SITE, "target/docs"]))?;
    println!("target/docs/index.html");
    Ok(())
}

/// The virtual environment with the generator; it is created again when its requirements change.
fn environment(python: &str) -> Result<Option<PathBuf>, String> {
    let venv = PathBuf::from("target/python/docs");
    let stamp = venv.join("installed");
    let wanted = std::fs::read_to_string(REQUIREMENTS).map_err(|error| error.to_string())?;
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(Some(venv));
    }
    run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&venv))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "-r"];
    if run(Command::new(program(&venv, "python")).args(pip).arg(REQUIREMENTS)).is_err() {
        return Ok(None);
    }
    std::fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(Some(venv))
}
