//! Rejects outputs that are also inputs or other outputs, before anything is read or overwritten.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use crate::args::Command;
use crate::failure::Failure;

/// A file of the command line.
struct Named {
    /// Its option or argument.
    role: &'static str,
    path: PathBuf,
    /// The identity of the file, independent of its path; `None` for pipes and devices.
    place: Option<Place>,
}

/// The identity of a file.
#[derive(PartialEq)]
enum Place {
    /// Device and number.
    Inode(u64, u64),
    /// The path of a file that does not exist yet.
    Path(PathBuf),
}

/// Checks all files of the command line.
pub(crate) fn check(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => Files::default()
            .input("the data", &args.stream.data)
            .replaced("--load", &args.load)
            .output("--save", &args.save)
            .output("--batch-model", &args.batch_model)
            .output("--log", &args.log)
            .output("--predictions", &args.predictions.clone().filter(|path| path != Path::new("-")))
            .output("--report", &args.report)
            .output("--risk-plot", &args.risk_plot)
            .check(),
        Command::Compare(args) => Files::default()
            .input("the data", &args.stream.data)
            .output("--plot", &args.plot)
            .output("--report", &args.report)
            .check(),
        Command::Replay(args) => Files::default()
            .input("the log", &args.log)
            .replaced("--load", &args.load)
            .output("--save", &args.save)
            .check(),
        Command::Predict(args) => Files::default()
            .model("the model", &args.model)
            .input("the data", &args.data)
            .output("--output", &args.output.clone().filter(|path| path != Path::new("-")))
            .check(),
        Command::Merge(args) => {
            let files =
                args.models.iter().fold(Files::default(), |files, model| files.model("a model", model));
            files.output("--output", &Some(args.output.clone())).check()
        }
        _ => Ok(()),
    }
}

#[derive(Default)]
struct Files {
    inputs: Vec<(&'static str, PathBuf)>,
    /// Read completely before the first output is opened.
    replaced: Vec<(&'static str, PathBuf)>,
    outputs: Vec<(&'static str, PathBuf)>,
}

impl Files {
    fn input(mut self, role: &'static str, path: &str) -> Self {
        self.inputs.push((role, path.into()));
        self
    }

    fn model(mut self, role: &'static str, path: &Path) -> Self {
        self.inputs.push((role, path.to_owned()));
        self
    }

    /// An input that `--save` may replace.
    fn replaced(mut self, role: &'static str, path: &Option<PathBuf>) -> Self {
        self.replaced.extend(path.clone().map(|path| (role, path)));
        self
    }

    fn output(mut self, role: &'static str, path: &Option<PathBuf>) -> Self {
        self.outputs.extend(path.clone().map(|path| (role, path)));
        self
    }

    fn check(self) -> Result<(), Failure> {
        let read = |(role, path): &'_ (&'static str, PathBuf)| Named::input(role, path.clone());
        let inputs: Vec<Named> = self.inputs.iter().map(read).collect();
        let replaced: Vec<Named> = self.replaced.iter().map(read).collect();
        let mut written = Vec::new();
        if let Some(place) = redirected(std::io::stdout()) {
            let stdout = Named { role: "standard output", path: PathBuf::new(), place: Some(place) };
            if let Some(input) = inputs.iter().find(|input| input.is(&stdout)) {
                return Err(Failure::usage(format!(
                    "{}: is {}, and standard output is redirected to it; nothing was read",
                    input.path.display(),
                    input.role
                )));
            }
            written.push(stdout);
        }
        for (role, path) in self.outputs {
            if path == Path::new("-") {
                return Err(Failure::usage(format!(
                    "{role} -: must be a file: standard output has the results"
                )));
            }
            let output = Named { role, place: place(&path), path };
            let replaced = replaced.iter().filter(|_| role != "--save");
            if let Some(other) = inputs.iter().chain(replaced).chain(&written).find(|other| other.is(&output))
            {
                return Err(Failure::usage(format!(
                    "{role} {}: is the same file as {}; nothing was read or written",
                    output.path.display(),
                    other.called()
                )));
            }
            written.push(output);
        }
        Ok(())
    }
}

impl Named {
    fn input(role: &'static str, path: PathBuf) -> Self {
        let place = if path == Path::new("-") { redirected(std::io::stdin()) } else { place(&path) };
        Self { role, path, place }
    }

    fn called(&self) -> String {
        match self.path.to_str() {
            Some("") => self.role.to_owned(),
            Some("-") => format!("{} on standard input", self.role),
            _ => format!("{} {}", self.role, self.path.display()),
        }
    }

    fn is(&self, other: &Self) -> bool {
        self.place.is_some() && self.place == other.place
    }
}

/// The identity of the file at `path`; `None` for pipes and devices.
fn place(path: &Path) -> Option<Place> {
    match std::fs::metadata(path) {
        Ok(there) if there.is_file() => inode(&there).or_else(|| path.canonicalize().ok().map(Place::Path)),
        Ok(_) => None,
        Err(_) => {
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(Place::Path(folder.canonicalize().ok()?.join(path.file_name()?)))
        }
    }
}

/// Whether standard input is a regular file.
pub(crate) fn stdin_is_file() -> bool {
    redirected(std::io::stdin()).is_some()
}

/// The file that a standard stream is redirected from or to.
#[cfg(unix)]
fn redirected(stream: impl std::os::fd::AsFd) -> Option<Place> {
    let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    inode(&file.metadata().ok().filter(Metadata::is_file)?)
}

#[cfg(not(unix))]
fn redirected<T>(_: T) -> Option<Place> {
    None
}

#[cfg(unix)]
fn inode(file: &Metadata) -> Option<Place> {
    use std::os::unix::fs::MetadataExt as _;
    Some(Place::Inode(file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> Option<Place> {
    None
}
