//! The decision log of a bandit.

use std::path::{Path, PathBuf};
use std::{io, mem, process};

use noregret::prediction::Decision;
use noregret_stream::decisions::file::LogFile;
use noregret_stream::decisions::log::{LogWriter, Start};
use noregret_stream::decisions::pending::Verdict;
use noregret_stream::encode::examples::Raw;
use noregret_stream::run::bandit::Journal as _;

use crate::error::{Done, Failure};

/// An open log. Lines are flushed one by one, so that they survive a crash of the program.
pub(crate) struct Log {
    /// The file as long as it has no header.
    empty: Option<LogFile>,
    /// The lines behind the header.
    writer: Option<LogWriter<LogFile>>,
    path: PathBuf,
    /// Whether a line is missing or incomplete, so that later lines could not be replayed.
    broken: bool,
    /// The process that opened it.
    process: u32,
}

impl Log {
    /// Creates a log, whose header follows.
    pub(crate) fn create(path: PathBuf) -> Done<Self> {
        let empty = Some(LogFile::create(&path)?);
        Ok(Self { empty, writer: None, path, broken: false, process: process::id() })
    }

    /// Whether another process opened it, which has divided itself since. Both have the file, and their lines
    /// would stand among each other.
    pub(crate) fn is_of_another(&self) -> bool {
        self.process != process::id()
    }

    fn check_process(&self) -> Done<()> {
        if !self.is_of_another() {
            return Ok(());
        }
        let what = "is written by the process that opened it; close the log here, and open another one";
        Err(Failure::Os(io::Error::other(what), self.path.display().to_string()))
    }

    /// Whether it has no header.
    pub(crate) fn is_empty(&self) -> bool {
        self.empty.is_some()
    }

    /// Writes the header, if there is none.
    pub(crate) fn begin(&mut self, start: &Start<'_>) -> Done<()> {
        self.check_process()?;
        let Some(file) = self.empty.take() else { return Ok(()) };
        let begun = LogWriter::new(file, start).and_then(|mut writer| {
            writer.get_mut().hand_over()?;
            Ok(writer)
        });
        let writer = begun.map_err(|error| Failure::Os(error, self.path.display().to_string()))?;
        self.writer = Some(writer);
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn decided(&mut self, id: u64, raw: Raw<'_>, taken: &Decision) -> Done<()> {
        self.write(|writer| writer.decided(id, raw, taken, None))
    }

    pub(crate) fn heard(&mut self, id: &str, verdict: Verdict) -> Done<()> {
        self.write(|writer| writer.heard_of(id, verdict))
    }

    fn write(&mut self, write: impl FnOnce(&mut LogWriter<LogFile>) -> io::Result<()>) -> Done<()> {
        self.check_process()?;
        let Some(writer) = self.writer.as_mut().filter(|_| !self.broken) else {
            let what = "an earlier line could not be written; close the log to go on without";
            return Err(Failure::Os(io::Error::other(what), self.path.display().to_string()));
        };
        let written = write(writer).and_then(|()| writer.get_mut().hand_over());
        written.map_err(|error| {
            self.broken = true;
            Failure::Os(error, self.path.display().to_string())
        })
    }

    /// Completes the file, unless it is of another process.
    pub(crate) fn finish(mut self) -> Done<()> {
        if self.is_of_another() {
            return Ok(());
        }
        let Some(writer) = self.writer.take() else { return Ok(()) };
        writer.into_inner().finish().map_err(|error| Failure::Os(error, self.path.display().to_string()))
    }
}

impl Drop for Log {
    /// What another process has not written yet is written by it alone, such as the end of a compressed file.
    fn drop(&mut self) {
        if self.is_of_another() {
            mem::forget((self.empty.take(), self.writer.take()));
        }
    }
}
