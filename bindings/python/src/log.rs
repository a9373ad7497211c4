//! The decision log of a bandit.

use std::io;
use std::path::{Path, PathBuf};

use noregret::prediction::Decision;
use noregret_stream::decisions::file::LogFile;
use noregret_stream::decisions::log::{LogWriter, Start};
use noregret_stream::decisions::pending::Verdict;
use noregret_stream::encode::examples::Raw;
use noregret_stream::run::bandit::Journal as _;

use crate::error::{Done, Failure};

/// An open log. Lines are flushed one by one, so that they survive a crash of the program.
pub(crate) struct Log {
    writer: LogWriter<LogFile>,
    path: PathBuf,
    /// Whether a line is missing or incomplete, so that later lines could not be replayed.
    broken: bool,
}

impl Log {
    /// Opens a log.
    pub(crate) fn begin(path: PathBuf, start: &Start<'_>) -> Done<Self> {
        let file = LogFile::create(&path)?;
        let begun = LogWriter::new(file, start).and_then(|mut writer| {
            writer.get_mut().hand_over()?;
            Ok(writer)
        });
        match begun {
            Ok(writer) => Ok(Self { writer, path, broken: false }),
            Err(error) => Err(Failure::Os(error, path.display().to_string())),
        }
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
        if self.broken {
            let what = "an earlier line could not be written; close the log to go on without";
            return Err(Failure::Os(io::Error::other(what), self.path.display().to_string()));
        }
        let written = write(&mut self.writer).and_then(|()| self.writer.get_mut().hand_over());
        written.map_err(|error| {
            self.broken = true;
            Failure::Os(error, self.path.display().to_string())
        })
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Done<()> {
        let path = self.path.display().to_string();
        self.writer.into_inner().finish().map_err(|error| Failure::Os(error, path))
    }
}
