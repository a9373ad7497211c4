//! The file of a decision log: only ever appended to, compressed as its ending says.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

#[cfg(feature = "parquet")]
use noregret_stream::decision_parquet::ParquetLines;

use crate::failure::Failure;

/// A log being written.
pub(crate) enum LogFile {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetLines<BufWriter<File>>>),
}

impl LogFile {
    /// Creates the log, which must not exist: what was decided is never overwritten.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let failure = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::usage(format!(
                "--log {}: exists already; what was decided is never overwritten",
                path.display()
            )),
            _ => Failure::data(format!("--log {}: cannot be written: {error}", path.display())),
        };
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending == Some("parquet") && !cfg!(feature = "parquet") {
            return Err(Failure::usage(format!(
                "--log {}: Parquet is written by programs that were built with --features parquet",
                path.display()
            )));
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

    /// Writes what is left.
    pub(crate) fn finish(self) -> io::Result<()> {
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
