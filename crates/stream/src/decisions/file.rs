//! The file of a decision log: only ever appended to, compressed as its ending says.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

#[cfg(feature = "parquet")]
use crate::decisions::parquet::ParquetLines;

/// A log being written.
pub enum LogFile {
    /// Lines.
    Plain(BufWriter<File>),
    /// Lines in gzip.
    Gzip(GzEncoder<BufWriter<File>>),
    /// Lines in zstd.
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
    /// Columns.
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetLines<BufWriter<File>>>),
}

/// Why a log cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum LogFileError {
    /// There is a file already.
    #[error("{}: exists already; what was decided is never overwritten", .0.display())]
    Exists(PathBuf),
    /// This program cannot write columns.
    #[error("{}: Parquet is written by programs that were built with --features parquet", .0.display())]
    NoParquet(PathBuf),
    /// The file system says no.
    #[error("{}: cannot be written: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

impl LogFile {
    /// Creates the log, which must not exist: what was decided is never overwritten.
    ///
    /// # Errors
    /// If it exists or cannot be written.
    pub fn create(path: &Path) -> Result<Self, LogFileError> {
        let failure = |source: io::Error| match source.kind() {
            io::ErrorKind::AlreadyExists => LogFileError::Exists(path.to_owned()),
            _ => LogFileError::Io { path: path.to_owned(), source },
        };
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending == Some("parquet") && !cfg!(feature = "parquet") {
            return Err(LogFileError::NoParquet(path.to_owned()));
        }
        let file = BufWriter::new(File::create_new(path).map_err(failure)?);
        Ok(match ending {
            #[cfg(feature = "parquet")]
            Some("parquet") => Self::Parquet(Box::new(ParquetLines::new(file))),
            Some("gz") => Self::Gzip(GzEncoder::new(file, Compression::default())),
            Some("zst") => Self::Zstd(zstd::Encoder::new(file, 0).map_err(failure)?),
            _ => Self::Plain(file),
        })
    }

    /// Hands the lines so far to the operating system, so that they outlive the program. Compressed files and columns are
    /// nothing before they are complete, and stay as they are.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn hand_over(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            _ => Ok(()),
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn finish(self) -> io::Result<()> {
        let mut file = match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
            #[cfg(feature = "parquet")]
            Self::Parquet(lines) => lines.finish()?,
        };
        file.flush()
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Zstd(out) => out.write(bytes),
            #[cfg(feature = "parquet")]
            Self::Parquet(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
            Self::Zstd(out) => out.flush(),
            #[cfg(feature = "parquet")]
            Self::Parquet(out) => out.flush(),
        }
    }
}
