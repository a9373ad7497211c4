//! The file of a decision log: only ever appended to, compressed as its ending says.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write};
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
    /// Whole members or frames, and the next one not begun.
    Settled(BufWriter<File>, Compressed),
    /// Nothing more: it could not be settled.
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

/// A log that could not be settled takes no more lines.
fn closed() -> io::Error {
    io::Error::other("the log is closed")
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
    /// It is not the log that it was.
    #[error("{}: has {found} bytes; the model was saved when it had {needed}", path.display())]
    Short {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// What the model knows of.
        needed: u64,
    },
    /// Columns are nothing before the last of them.
    #[error("{}: Parquet cannot be gone on with; name a log of lines", .0.display())]
    NoGoingOn(PathBuf),
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

    /// Goes on with a log of which the first `bytes` are known to be whole: what is behind them is cut off.
    ///
    /// # Errors
    /// If it is not there, shorter, or cannot be written.
    pub fn go_on(path: &Path, bytes: u64) -> Result<Self, LogFileError> {
        let failure = |source: io::Error| LogFileError::Io { path: path.to_owned(), source };
        let mut file = File::options().write(true).open(path).map_err(failure)?;
        let found = file.metadata().map_err(failure)?.len();
        if found < bytes {
            return Err(LogFileError::Short { path: path.to_owned(), found, needed: bytes });
        }
        file.set_len(bytes).map_err(failure)?;
        file.seek(SeekFrom::End(0)).map_err(failure)?;
        let file = BufWriter::new(file);
        Ok(match path.extension().and_then(|ending| ending.to_str()) {
            Some("parquet") => return Err(LogFileError::NoGoingOn(path.to_owned())),
            Some("gz") => Self::Settled(file, Compressed::Gzip),
            Some("zst") => Self::Settled(file, Compressed::Zstd),
            _ => Self::Plain(file),
        })
    }

    /// Makes all lines so far a whole file, which outlives program and machine, and returns its length in
    /// bytes; `None` for columns, which are nothing before the last of them.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn settle(&mut self) -> io::Result<Option<u64>> {
        let whole = |mut file: BufWriter<File>| -> io::Result<_> {
            file.flush()?;
            file.get_ref().sync_data()?;
            let bytes = file.get_ref().metadata()?.len();
            Ok((file, bytes))
        };
        // Compressed lines to come make another member, or frame, of the file.
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

    /// Begins a member, or frame, if none is begun.
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

    /// Hands the lines so far to the operating system, so that they outlive the program. Compressed files and
    /// columns are nothing before they are complete, and stay as they are.
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
