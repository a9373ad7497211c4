//! The file of a decision log: append-only, compressed according to its extension.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

#[cfg(feature = "parquet")]
use crate::decisions::parquet::ParquetLines;
use crate::fault::{Fault, fault};

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
    /// Compressed lines, between two members or frames.
    Settled(BufWriter<File>, Compressed),
    /// Closed, because a flush has failed.
    Closed,
}

/// How lines are compressed.
#[derive(Clone, Copy, Debug)]
pub enum Compressed {
    /// By gzip.
    Gzip,
    /// By zstd.
    Zstd,
}

/// The error of a log that was closed because a flush has failed.
fn closed() -> io::Error {
    io::Error::other("the log is closed")
}

/// Why a log cannot be opened for writing.
#[derive(Debug, thiserror::Error)]
pub enum LogFileError {
    /// The file exists already.
    #[error("{}: exists already; logs are never overwritten", .0.display())]
    Exists(PathBuf),
    /// A log of this kind cannot be written, or not be continued.
    #[error(transparent)]
    Refused(Fault),
    /// The file cannot be opened.
    #[error("{}: cannot be written: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The refusal of the log at `path`.
fn refused(path: &Path, what: &str) -> LogFileError {
    LogFileError::Refused(fault!("{}: {what}", path.display()))
}

impl LogFile {
    /// Creates the log. The file must not exist: logs are never overwritten.
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
            let what = "writing Parquet needs the cargo feature parquet, which this build does not have";
            return Err(refused(path, what));
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

    /// Continues a log after its first `bytes` bytes; the rest is truncated.
    ///
    /// # Errors
    /// If it is missing, shorter, or cannot be written.
    pub fn go_on(path: &Path, bytes: u64) -> Result<Self, LogFileError> {
        let failure = |source: io::Error| LogFileError::Io { path: path.to_owned(), source };
        let mut file = File::options().write(true).open(path).map_err(failure)?;
        let found = file.metadata().map_err(failure)?.len();
        if found < bytes {
            let what = format!("has {found} bytes; the model was saved when it had {bytes}");
            return Err(refused(path, &what));
        }
        file.set_len(bytes).map_err(failure)?;
        file.seek(SeekFrom::End(0)).map_err(failure)?;
        let file = BufWriter::new(file);
        Ok(match path.extension().and_then(|ending| ending.to_str()) {
            Some("parquet") => return Err(refused(path, "a Parquet log cannot be continued; use NDJSON")),
            Some("gz") => Self::Settled(file, Compressed::Gzip),
            Some("zst") => Self::Settled(file, Compressed::Zstd),
            _ => Self::Plain(file),
        })
    }

    /// Completes the file up to the last line and syncs it to disk. Returns its length in bytes;
    /// `None` for Parquet, which is only readable when it is complete.
    ///
    /// # Errors
    /// If writing fails.
    pub fn settle(&mut self) -> io::Result<Option<u64>> {
        let whole = |mut file: BufWriter<File>| -> io::Result<_> {
            file.flush()?;
            file.get_ref().sync_data()?;
            let bytes = file.get_ref().metadata()?.len();
            Ok((file, bytes))
        };
        // Later lines are compressed into another member or frame.
        let (file, bytes, compression) = match std::mem::replace(self, Self::Closed) {
            Self::Plain(file) => {
                let (file, bytes) = whole(file)?;
                *self = Self::Plain(file);
                return Ok(Some(bytes));
            }
            Self::Gzip(encoder) => {
                let (file, bytes) = whole(encoder.finish()?)?;
                (file, bytes, Compressed::Gzip)
            }
            Self::Zstd(encoder) => {
                let (file, bytes) = whole(encoder.finish()?)?;
                (file, bytes, Compressed::Zstd)
            }
            Self::Settled(file, compression) => {
                let (file, bytes) = whole(file)?;
                (file, bytes, compression)
            }
            other => {
                *self = other;
                return Ok(None);
            }
        };
        *self = Self::Settled(file, compression);
        Ok(Some(bytes))
    }

    /// Begins a member or frame, unless one is open.
    fn begin(&mut self) -> io::Result<()> {
        if !matches!(self, Self::Settled(..)) {
            return Ok(());
        }
        if let Self::Settled(file, compression) = std::mem::replace(self, Self::Closed) {
            *self = match compression {
                Compressed::Gzip => Self::Gzip(GzEncoder::new(file, Compression::default())),
                Compressed::Zstd => Self::Zstd(zstd::Encoder::new(file, 0)?),
            };
        }
        Ok(())
    }

    /// Passes the lines so far to the operating system, so that they survive the end of the
    /// program. Has no effect on compressed files and Parquet.
    ///
    /// # Errors
    /// If writing fails.
    pub fn hand_over(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            _ => Ok(()),
        }
    }

    /// Writes the rest and closes the file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> io::Result<()> {
        let mut file = match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
            #[cfg(feature = "parquet")]
            Self::Parquet(lines) => lines.finish()?,
            Self::Settled(file, _) => file,
            Self::Closed => return Err(closed()),
        };
        file.flush()
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?;
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Zstd(out) => out.write(bytes),
            #[cfg(feature = "parquet")]
            Self::Parquet(out) => out.write(bytes),
            Self::Settled(..) | Self::Closed => Err(closed()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
            Self::Zstd(out) => out.flush(),
            #[cfg(feature = "parquet")]
            Self::Parquet(out) => out.flush(),
            Self::Settled(out, _) => out.flush(),
            Self::Closed => Err(closed()),
        }
    }
}
