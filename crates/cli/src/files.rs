//! Rejects outputs that are also inputs or other outputs, or that cannot be written, before anything is read
//! or overwritten.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use noregret_stream::{Replacement, redis_stream};

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

/// The files of a plan, each with its option or argument.
#[derive(Default)]
pub(crate) struct Files {
    inputs: Vec<(&'static str, PathBuf)>,
    /// Read completely before the first output is opened.
    replaced: Vec<(&'static str, PathBuf)>,
    outputs: Vec<(&'static str, PathBuf)>,
    /// Outputs that are opened after the work.
    late: Vec<(&'static str, PathBuf)>,
}

impl Files {
    pub(crate) fn input(mut self, role: &'static str, path: impl Into<PathBuf>) -> Self {
        self.inputs.push((role, path.into()));
        self
    }

    /// An input that `--save` may replace.
    pub(crate) fn replaced(mut self, role: &'static str, path: Option<&Path>) -> Self {
        self.replaced.extend(path.map(|path| (role, path.to_owned())));
        self
    }

    /// An output that is opened before the work.
    pub(crate) fn output(mut self, role: &'static str, path: Option<&Path>) -> Self {
        self.outputs.extend(path.map(|path| (role, path.to_owned())));
        self
    }

    /// An output that is opened after the work: that it can be written is checked before.
    pub(crate) fn late_output(mut self, role: &'static str, path: Option<&Path>) -> Self {
        self.late.extend(path.map(|path| (role, path.to_owned())));
        self.output(role, path)
    }

    /// Checks all of them.
    pub(crate) fn check(self) -> Result<(), Failure> {
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
            if is_standard(&path) {
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
        self.late.iter().try_for_each(|(role, path)| check_target(role, path))
    }
}

/// Checks that the output can be written, before hours of learning.
fn check_target(option: &str, path: &Path) -> Result<(), Failure> {
    match std::fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(Failure::usage(format!(
            "{option} {}: is a directory; the name of a file was needed",
            path.display()
        ))),
        // A pipe is not opened, because its reader would notice.
        Ok(old) if !old.is_file() => Ok(()),
        _ => Replacement::check(path).map_err(|error| Failure::writing(option, path, &error)),
    }
}

/// Refuses a report that would be taken for something else by its name: it is HTML.
pub(crate) fn check_report(path: Option<&Path>) -> Result<(), Failure> {
    let is_html = |end: &OsStr| ["html", "htm"].iter().any(|html| end.eq_ignore_ascii_case(html));
    let path = path.filter(|path| path.extension().is_some_and(|end| !is_html(end)));
    path.map_or(Ok(()), |path| Err(Failure::usage(format!("--report {}: must end in .html", path.display()))))
}

/// The file of an option: opened at the start, and written at the end.
pub(crate) struct OutputFile {
    option: &'static str,
    path: PathBuf,
    file: Replacement,
}

impl OutputFile {
    pub(crate) fn open(option: &'static str, path: &Path) -> Result<Self, Failure> {
        let file = Replacement::open(path).map_err(|error| Failure::writing(option, path, &error))?;
        Ok(Self { option, path: path.to_owned(), file })
    }

    /// Completes the file.
    pub(crate) fn write(self, content: &[u8]) -> Result<(), Failure> {
        let Self { option, path, mut file } = self;
        let written = file.write_all(content).and_then(|()| file.finish());
        written.map_err(|error| Failure::writing(option, &path, &error))
    }
}

/// Unless results go to standard output, or to a Redis stream.
pub(crate) fn file(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| !is_standard(path) && !is_redis(path))
}

/// Whether it is standard input, or standard output for results.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether results go to a Redis stream.
pub(crate) fn is_redis(path: &Path) -> bool {
    path.to_str().and_then(redis_stream).is_some()
}

impl Named {
    fn input(role: &'static str, path: PathBuf) -> Self {
        let place = if is_standard(&path) { redirected(std::io::stdin()) } else { place(&path) };
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
